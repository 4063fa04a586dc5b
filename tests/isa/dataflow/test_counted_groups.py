"""Barriers that count groups of copies, by the control codes of what closes these."""

from dataclasses import replace

import pytest

from isa.dataflow.waits.counted_groups import awaits_all, counting
from isa.nvidia.control import Control
from isa.text.assembler import assemble

LINES = "LDGSTS [R1], [R3]", "LDGDEPBAR", "LDS R2, [R1]", "EXIT"
CASES = [(0, 1, True), (0, 2, False), (None, 1, False), (3, 9, True)]


def program(closes, waits):
    """Return the program whose LDGDEPBAR holds a barrier, and whose load waits for those of a mask."""
    made = assemble(".shared 128\n" + "\n".join(LINES))
    codes = Control(1), Control(1, write_barrier=closes), Control(1, waits=waits), Control(1)
    code = (replace(i, control=control) for i, control in zip(made.instructions, codes, strict=True))
    return replace(made, instructions=tuple(code))


@pytest.mark.parametrize(("closes", "waits", "all_groups"), CASES)
def test_who_waits_for_the_barrier_of_ldgdepbar_waits_for_all_groups(closes, waits, all_groups):
    """The barrier is the one that LDGDEPBAR holds; a program without codes has none."""
    made = program(closes, waits)
    assert counting(made) == ({closes} if closes is not None else set())
    assert [awaits_all(made, i) for i in made.instructions] == [False, False, all_groups, False]
    assert counting(assemble("\n".join(LINES))) == frozenset()
