"""Loops: which instructions turn how often, as one in another."""

from isa.dataflow.loops import depths, loops
from isa.text.assembler import assemble


def test_a_straight_line_has_no_loop():
    """Without an edge back nothing turns; a program without instructions has no loops either."""
    assert loops(assemble("MOV R1, 1\n@P0 BRA end\nMOV R1, 2\nend:\nEXIT")) == []
    assert loops(assemble("")) == []


def test_a_loop_reaches_from_its_head_to_the_branch_back():
    """Head and branch are inside, what comes before and behind is not."""
    assert loops(assemble("MOV R1, 1\ntop:\nMOV R2, 2\n@P0 BRA top\nEXIT")) == [frozenset({1, 2})]


def test_loops_lie_inside_one_another():
    """The inner body counts twice; two branches back to one head are one loop."""
    text = "out:\nMOV R1, 1\nin:\nMOV R2, 2\n@P0 BRA in\n@P1 BRA in\n@P2 BRA out\nEXIT"
    assert depths(assemble(text)) == [1, 2, 2, 2, 1, 0]


def test_a_way_out_of_a_loop_is_not_of_it():
    """What is reached only by leaving does not turn, though it lies between head and branch in the text."""
    text = "top:\nMOV R1, 1\n@P0 BRA on\nEXIT\non:\nBRA top"
    assert depths(assemble(text)) == [1, 1, 0, 1]
