import pytest

from isa.nvidia.control import Control
from isa.nvidia.file.encoding import control, reuse

# Upper words that nvdisasm printed, and their fields worked out by hand.
CASES = [
    (0x000FE20000000800, Control(1), 0),
    (0x000E2E0000002100, Control(7, write_barrier=0), 0),
    (0x001FE200000000FF, Control(1, waits=0b000001), 0),
    (0x0105620008001400, Control(1, read_barrier=2, write_barrier=5, waits=0b010000), 0),
    (0x048FE4000F8E10FF, Control(2, waits=0b001000), 0b0001),
    (0x000FC40000000F00, Control(2, yields=True), 0),
]
NOTHING = 1 << 45 | 7 << 46 | 7 << 49  # no yield, no barrier


@pytest.mark.parametrize(("word", "code", "kept"), CASES)
def test_fields_of_the_upper_word(word, code, kept):
    """Stall count, yield, barriers, mask and reuse flags are the bits that the published descriptions name."""
    assert (control(word), reuse(word)) == (code, kept)


def test_each_field_changes_itself_alone():
    """A field of all ones changes one part of the code; the bits below 105 change none."""
    assert control(NOTHING) == control(NOTHING | (1 << 41) - 1) == Control(0)
    assert control(NOTHING | 15 << 41) == Control(15)
    assert control(NOTHING & ~(1 << 45)) == Control(0, yields=True)
    assert control(NOTHING & ~(7 << 46) | 5 << 46) == Control(0, write_barrier=5)
    assert control(NOTHING & ~(7 << 49) | 4 << 49) == Control(0, read_barrier=4)
    assert control(NOTHING | 63 << 52) == Control(0, waits=63)
    assert control(NOTHING | 15 << 58) == Control(0)
    assert [reuse(NOTHING | bit << 58) for bit in (1, 2, 4, 8)] == [1, 2, 4, 8]
