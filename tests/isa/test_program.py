import pytest

from isa.program import Program
from isa.text.assembler import assemble


def test_a_thread_needs_registers_up_to_the_highest_index():
    """A thread needs the registers up to the last word of the highest operand; without operands it needs none."""
    assert assemble("MOV R3, 1\nDADD R8, R4, R6").registers == 10
    assert Program(()).registers == 0


@pytest.mark.parametrize("sizes", [{"shared_bytes": 6}, {"local_bytes": 6}])
def test_memory_is_made_of_whole_words(sizes):
    """A size that is no multiple of 4 bytes is refused, since interpreter and engines would round it differently."""
    with pytest.raises(ValueError, match="6 bytes are no whole 32-bit words; take 8"):
        Program((), **sizes)
