"""The source of a timeline's program: each instruction's place in it, and the text of its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from gpusim.views.timeline.document import Line, SourceFile, Timeline, escaped_texts
from isa.program import Program
from isa.reading import source_text


def with_source(document: Timeline, program: Program, loaded: str = "", roots: Sequence[Path] = ()) -> Timeline:
    """Return the document of a program with the places of its instructions, and the source files that they name.

    `loaded` is the file that the program was read from, a listing or machine code: its source may lie beside it, or in
    one of the folders `roots`.
    """
    lines = [_placed(one, program, loaded) for one in document.program]
    files = dict.fromkeys(one.file for one in lines if one.line)
    texts = source_text.find(files, loaded, roots=roots).lines
    sources = tuple(SourceFile(name, texts.get(name)) for name in files)
    return escaped_texts(replace(document, program=tuple(lines), sources=sources))


def _placed(one: Line, program: Program, loaded: str) -> Line:
    """Return a row with its place; the one after the program's end has none."""
    if one.pc >= len(program):
        return one
    file, line = program.source(one.pc, loaded)
    if not program.origins:
        return replace(one, file=file, line=line)
    origin = program.origins[one.pc]
    header, at = origin.inlined
    found = replace(one, file=file, line=line, function=origin.function, offset=origin.offset)
    return replace(found, inlined_file=header, inlined_line=at)
