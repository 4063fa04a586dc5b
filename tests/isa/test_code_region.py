import re
from dataclasses import replace

import pytest
from machine_code import saxpy

from isa.code_region import CodeRegion, Lines, code_regions, innermost, marked
from isa.schedule.reorder import reordered
from isa.text.assembler import AssemblyError
from isa.text.listing import read
from workloads.catalog import make

MARKED = """
    MOV R0, 1
// GPUSIM-BEGIN outer
    MOV R1, 2
    IADD R2, R0, R1   # LLVM-MCA-BEGIN inner
    IADD R3, R2, R1
//GPUSIM-END inner
    # OSACA-BEGIN
    IADD R4, R3, R1
    # OSACA-END
// GPUSIM-END
    EXIT
"""
NESTED = "outer:\nIADD R0, R0, 1\ninner:\nIADD R1, R1, 1\n@P0 BRA inner\n@P1 BRA outer\n@P0 BRA on\non:\nEXIT"


def test_comments_of_three_tools_mark_regions():
    """Comments after // or # begin and end a region in the words of three tools; lines name an unnamed one."""
    assert marked(MARKED) == (Lines("outer", 3, 11), Lines("inner", 5, 7), Lines("lines 8:10", 8, 10))


def test_a_listing_carries_its_regions():
    """A region has the instructions on the lines between its marks, and one on the line of a mark as well."""
    kernel = read(MARKED)
    outer, inner, third = code_regions(kernel.program, kernel.marked)
    assert (outer.pcs, inner.pcs, third.pcs) == ((1, 2, 3, 4), (2, 3), (4,))


def test_an_end_closes_the_region_of_its_name_or_the_last():
    """Named ends let regions overlap; an end without a name closes the last one opened."""
    text = "// GPUSIM-BEGIN a\nNOP\n// GPUSIM-BEGIN b\nNOP\n// GPUSIM-END a\nNOP\n// GPUSIM-END\nEXIT"
    assert marked(text) == (Lines("a", 1, 5), Lines("b", 3, 7))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NOP\n// GPUSIM-BEGIN a", "t:2:11: nothing ends this region; write GPUSIM-END behind its last instruction"),
        ("// GPUSIM-END", "t:1:11: no region is open; write GPUSIM-BEGIN before it"),
        ("# OSACA-BEGIN one\n# OSACA-END on", "t:2:9: no region on is open; did you mean one?"),
        ("# OSACA-BEGIN a\n# OSACA-BEGIN a", "t:2:9: region a is open already; end it first"),
    ],
)
def test_a_mark_without_its_counterpart_is_refused(text, message):
    """The message has the place of the mark, the cause and the fix."""
    with pytest.raises(AssemblyError, match=re.escape(message)):
        marked(text, "t")


def test_words_elsewhere_mark_nothing():
    """A mark must be the first word of its comment, and the whole word."""
    assert marked("// see GPUSIM-BEGIN a\nNOP // GPUSIM-BEGINNING\n") == ()


def test_without_marks_the_loops_are_the_regions():
    """Each label with a branch back to it makes a region, the outer loop first; a forward branch makes none."""
    program = read(NESTED).program
    assert code_regions(program) == (CodeRegion("outer", (0, 1, 2, 3)), CodeRegion("inner", (1, 2)))


def test_a_kernel_of_the_catalog_has_its_main_loop():
    """The only region of sgemm-lai is its loop, from the label to the branch back."""
    program = make("sgemm-lai").program
    (loop,) = code_regions(program)
    assert loop.name == "loop"
    assert (loop.pcs[0], program.instructions[loop.pcs[-1]].row.is_branch) == (program.labels["loop"], True)


def test_lines_without_instructions_are_no_region():
    """Marks around nothing leave no region, rather than an empty one."""
    kernel = read("// GPUSIM-BEGIN a\n// GPUSIM-END\nEXIT")
    assert code_regions(kernel.program, kernel.marked) == ()


def test_marks_hold_for_a_program_whose_instructions_have_moved():
    """Reordered instructions keep their lines, so that a region keeps its instructions at their new places."""
    kernel = read(MARKED)
    moved = reordered(kernel.program, (1, 0, 2, 3, 4, 5))
    assert [region.pcs for region in code_regions(moved, kernel.marked)] == [(0, 2, 3, 4), (2, 3), (4,)]


def test_an_instruction_belongs_to_the_innermost_region():
    """An instruction belongs to the smallest region around it, the first of two equal ones, or to none."""
    regions = (CodeRegion("a", (0, 1, 2)), CodeRegion("b", (1, 2)), CodeRegion("c", (1, 2)), CodeRegion("d", (4,)))
    assert {pc: region.name for pc, region in innermost(regions).items()} == {0: "a", 1: "b", 2: "b", 4: "d"}


def test_regions_of_machine_code_are_lines_of_its_source():
    """Lines are those of the file from which most instructions come; others do not count."""
    program = saxpy("k.cu").program
    origins = (replace(program.origins[0], file="h.cuh", line=4), *program.origins[1:])
    (region,) = code_regions(replace(program, origins=origins), [Lines("end", 4, 9)])
    assert region == CodeRegion("end", (23,))
