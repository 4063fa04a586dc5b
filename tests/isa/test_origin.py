import pickle
from dataclasses import replace

import pytest
from machine_code import LINES, saxpy

from isa.program import Program
from isa.reading.origin import NOWHERE, Origin, base_name, ending, spot
from isa.schedule.reorder import reordered
from isa.text.assembler import assemble
from isa.text.printer import named, text_of

LISTED = assemble("MOV R3, 1\n\nEXIT")


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (Origin("saxpy", 0x70, "EXIT", "/a/saxpy.cu", 5), "saxpy+0x70 EXIT (saxpy.cu:5)"),
        (Origin("k", 16, "NOP", "/a/k.cu", 5, ("/b/h.hpp", 9)), "k+0x10 NOP (k.cu:5, inlined from h.hpp:9)"),
        (Origin("saxpy", 0, "EXIT"), "saxpy+0x0 EXIT"),
        (Origin("saxpy"), "saxpy"),
        (Origin(), ""),
    ],
)
def test_an_origin_says_what_is_known(origin, words):
    """Function, offset, text and line appear where they are known, the file without its folders."""
    assert str(origin) == words


@pytest.mark.parametrize(("file", "name"), [("/a/b.cu", "b.cu"), (r"C:\a\b.cu", "b.cu"), ("b.cu", "b.cu"), ("/", "/")])
def test_a_path_of_any_system_has_a_base_name(file, name):
    """The base name is what follows the last slash or backslash; a path without one is its own."""
    assert base_name(file) == name


@pytest.mark.parametrize(
    ("path", "room", "shown"),
    [
        ("/a/include/half.hpp", 19, "/a/include/half.hpp"),
        ("/a/include/half.hpp", 20, "/a/include/half.hpp"),
        ("/a/include/half.hpp", 18, ".../half.hpp"),
        ("/usr/a/include/half.hpp", 20, ".../include/half.hpp"),
        (r"C:\cuda\include\half.hpp", 20, ".../include/half.hpp"),
        ("/a/include/half.hpp", 8, "...f.hpp"),
    ],
)
def test_the_end_of_a_path_stays(path, room, shown):
    """A path that is too long loses its first folders, and where even the name is too long, the name's beginning."""
    assert ending(path, room) == shown


def test_a_spot_is_the_files_name_and_the_line():
    """A place has the name without its folders; none is empty."""
    assert (spot(("/a/k.cu", 3)), spot(NOWHERE)) == ("k.cu:3", "")


def test_an_instruction_of_machine_code_has_its_place_there():
    """Messages name machine code by function, offset, text and source line, and others by their line or index."""
    assert saxpy().program.place(16) == "saxpy+0x100 LDG.E R2, desc[UR6][R2.64] (saxpy.cu:3)"
    assert [LISTED.place(pc) for pc in (0, 1)] == ["line 1", "line 3"]
    assert Program(tuple(replace(i, line=0) for i in LISTED.instructions)).place(1) == "instruction 1"


def test_tables_number_machine_code_by_its_offsets():
    """Instructions of machine code, and its end, have offsets as nvdisasm prints them; those of a listing their pc."""
    program = saxpy().program
    assert (program.numbering, program.number(15), program.number(24)) == ("offset", "0x00f0", "0x0180")
    assert [program.offset(pc) for pc in (0, 15, 24)] == [0, 0xF0, 0x180]
    assert (LISTED.numbering, LISTED.number(1), LISTED.offset(1)) == ("pc", "1", -1)


def test_an_instruction_without_an_origin_of_its_own_has_its_line():
    """In a program with origins, an instruction whose origin says nothing is named as in a listing."""
    assert replace(LISTED, origins=(Origin("f", 0), Origin())).place(1) == "line 3"


def test_the_source_is_the_origins_or_the_listing():
    """File and line are those of the origins; without any, the listing's; without a line, nowhere."""
    kernel = saxpy("k.cu")
    assert [kernel.program.source(pc, "k.cubin") for pc in range(len(LINES))] == [("k.cu", line) for line in LINES]
    assert [LISTED.source(pc, "a.asm") for pc in (0, 1)] == [("a.asm", 1), ("a.asm", 3)]
    assert replace(LISTED, origins=(Origin("f", 0, "MOV", "k.cu", 0), Origin())).source(0, "k.cubin") == NOWHERE


def test_names_and_texts_of_machine_code_are_those_of_the_tools():
    """Tables have the tools' text, messages the place; a listing's instruction keeps its line, pc and text."""
    program = saxpy().program
    assert text_of(program, 16) == "LDG.E R2, desc[UR6][R2.64]"
    assert named(program, 23) == "saxpy+0x170 EXIT (saxpy.cu:4)"
    assert (text_of(LISTED, 0), named(LISTED, 0)) == ("MOV R3, 1", "line 1, pc 0 `MOV R3, 1`")


def test_origins_change_no_program():
    """Programs that differ in their origins alone are equal, and pickling keeps the origins."""
    program = saxpy().program
    assert program == replace(program, origins=())
    assert pickle.loads(pickle.dumps(program)).origins == program.origins


def test_origins_follow_their_instructions():
    """In another order each instruction keeps its origin."""
    program = saxpy().program
    order = [1, 0, *range(2, len(program))]
    assert [one.offset for one in reordered(program, order).origins] == [16 * pc for pc in order]


def test_each_instruction_has_an_origin_or_none():
    """Fewer origins than instructions are refused."""
    with pytest.raises(ValueError, match="1 origins of 2 instructions; give one for each"):
        replace(LISTED, origins=(Origin(),))
