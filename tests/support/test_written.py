"""What kernels have printed is written without a character that a terminal obeys."""

import pytest

from gpusim.commands.frame.document import write_printed
from gpusim.support.written import write_text, written_at_faults
from isa.errors import ExecutionError

GIVEN, SHOWN = "\x1b]0;title\x07\tred\r\n", "\\x1b]0;title\\x07\tred\\x0d\n"


@pytest.mark.parametrize("write", [write_printed, write_text])
def test_control_characters_of_a_kernel_are_shown(write, capsys):
    """But for tab and line feed, in commands and in Python."""
    write(GIVEN)
    assert capsys.readouterr().out == SHOWN


def test_so_are_those_before_a_fault_and_of_assertions(capsys):
    """What was printed goes to stdout, the assertion to stderr, and the fault goes on."""
    fault = ExecutionError("a fault")
    fault.printed, fault.asserted = GIVEN, f"k.cu:1: {GIVEN}"
    with pytest.raises(ExecutionError), written_at_faults():
        raise fault
    assert capsys.readouterr() == (SHOWN, f"k.cu:1: {SHOWN}")
