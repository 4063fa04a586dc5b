from dataclasses import replace

import pytest
from machine_code import LINES, saxpy
from read.fenced import ROOT
from strategies.timeline_documents import by_hand

from gpusim.views.timeline.document import END, NONE, Line, SourceFile
from gpusim.views.timeline.source import with_source
from isa.text import listing

FOLDER = str(ROOT / "examples" / "saxpy.cubin")  # beside which the source lies


def document(program):
    """Return a document of the program, without instructions."""
    texts = [f"text {pc}" for pc in range(len(program))]
    return by_hand([*(Line(pc, text, "int") for pc, text in enumerate(texts)), Line(len(texts), END, "control")], [], 9)


def test_machine_code_has_its_source():
    """Each instruction has function, offset, file and line; the file is found beside the machine code."""
    program = saxpy().program
    found = with_source(document(program), program, FOLDER)
    assert [(one.line, one.offset) for one in found.program[:-1]] == [(line, 16 * k) for k, line in enumerate(LINES)]
    assert {(one.file, one.function) for one in found.program[:-1]} == {("/build/saxpy.cu", "saxpy")}
    (source,) = found.sources
    assert source.name == "/build/saxpy.cu"
    assert source.lines == tuple((ROOT / "examples" / "saxpy.cu").read_text().splitlines())


def test_code_of_a_header_has_its_place_too():
    """An instruction that was inlined from a header has the line that calls it, and the header's place beside it."""
    program = saxpy().program
    first = replace(program.origins[0], inlined=("/cuda/h.hpp", 9))
    found = with_source(document(program), replace(program, origins=(first, *program.origins[1:])), FOLDER)
    one, other, *_ = found.program
    assert (one.line, one.inlined_file, one.inlined_line) == (LINES[0], "/cuda/h.hpp", 9)
    assert one.name == "saxpy+0x0 text 0 (saxpy.cu:2, inlined from h.hpp:9)"
    assert (other.inlined_file, other.inlined_line) == ("", 0)


def test_the_end_of_the_program_has_no_place():
    """The row after the last instruction is as it was."""
    program = saxpy().program
    before = document(program)
    assert with_source(before, program, FOLDER).program[-1] == before.program[-1]


def test_a_missing_file_is_named_without_lines():
    """A source file that is not there is listed with no text, so that a view can say so."""
    program = saxpy().program
    assert with_source(document(program), program).sources == (SourceFile("/build/saxpy.cu", None),)


def test_the_source_of_a_listing_is_the_listing():
    """An instruction of a listing has the file that was loaded and its line there, and neither function nor offset."""
    path = str(ROOT / "examples" / "reduce.asm")
    program = listing.load(path).program
    found = with_source(document(program), program, path)
    (source,) = found.sources
    assert source.lines is not None
    assert [source.lines[one.line - 1].split()[0] for one in found.program[:3]] == ["S2R", "S2R", "SHL"]
    assert {(one.file, one.function, one.offset) for one in found.program[:-1]} == {(path, "", NONE)}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (Line(0, "EXIT", "control", file="/a/k.cu", line=3, function="k", offset=32), "k+0x20 EXIT (k.cu:3)"),
        (Line(0, "EXIT", "control", file="k.asm", line=3), "EXIT"),
    ],
)
def test_messages_name_machine_code_by_its_place(line, name):
    """A row of machine code is called by its place there, a listing's by its text."""
    assert line.name == name
