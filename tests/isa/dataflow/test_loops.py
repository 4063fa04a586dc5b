"""Loops: which instructions each has, and how deep they are nested."""

from isa.dataflow.loops import loops
from isa.text.assembler import assemble


def depths(program):
    """Return by pc the number of loops around it."""
    return [sum(pc in body for body in loops(program)) for pc in range(len(program))]


def test_a_straight_line_has_no_loop():
    """A program without a branch back has no loop, and neither has one without instructions."""
    assert loops(assemble("MOV R1, 1\n@P0 BRA end\nMOV R1, 2\nend:\nEXIT")) == []
    assert loops(assemble("")) == []


def test_a_loop_reaches_from_its_head_to_the_branch_back():
    """Head and branch are inside; the instructions before and after them are not."""
    assert loops(assemble("MOV R1, 1\ntop:\nMOV R2, 2\n@P0 BRA top\nEXIT")) == [frozenset({1, 2})]


def test_loops_are_nested():
    """Instructions of the inner loop have depth 2; two branches back to one head make one loop."""
    text = "out:\nMOV R1, 1\nin:\nMOV R2, 2\n@P0 BRA in\n@P1 BRA in\n@P2 BRA out\nEXIT"
    assert depths(assemble(text)) == [1, 2, 2, 2, 1, 0]


def test_a_way_out_of_a_loop_is_outside_it():
    """An EXIT that no further round follows is outside, though it is between head and branch in the text."""
    text = "top:\nMOV R1, 1\n@P0 BRA on\nEXIT\non:\nBRA top"
    assert depths(assemble(text)) == [1, 1, 0, 1]
