"""Code regions: parts of a program that a report summarises, either marked by comments in a listing or its loops.

    // GPUSIM-BEGIN inner                     or LLVM-MCA-BEGIN, OSACA-BEGIN; the name may be left out
        FFMA R4, R8, R12, R4
    // GPUSIM-END                             closes the last one opened, GPUSIM-END inner the one of that name

Regions may overlap. Marks are kept as lines, so that they hold for a program whose instructions have been moved. Lines
of machine code are those of its source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from isa.operands.operand import Label
from isa.program import Program
from isa.reading.source import AssemblyError, Token, suggest

_MARK = re.compile(r"(?://|#)\s*(?:GPUSIM|LLVM-MCA|OSACA)-(BEGIN|END)\b[ \t]*(\S*)")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first` to `last` of a listing, both included, counted from 1, and their name."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class CodeRegion:
    """A name and the program counters of its instructions, in ascending order; at least one."""

    name: str
    pcs: tuple[int, ...]


def marked(text: str, name: str = "<text>") -> tuple[Lines, ...]:
    """Return the regions marked by comments in a listing, by first line; raises AssemblyError for an unpaired mark."""
    opened: list[Token] = []
    found: list[Lines] = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in _MARK.finditer(line):
            token = Token(match[2], name, number, match.start(1) + 1)
            if match[1] == "BEGIN":
                opened.append(_opened(token, opened))
            else:
                begin = _closed(token, opened)
                found.append(Lines(begin.text or f"lines {begin.line}:{number}", begin.line, number))
    if opened:
        raise AssemblyError(opened[-1], "nothing ends this region; write GPUSIM-END behind its last instruction")
    return tuple(sorted(found, key=lambda lines: (lines.first, -lines.last)))


def code_regions(program: Program, lines: Sequence[Lines] = ()) -> tuple[CodeRegion, ...]:
    """Return the regions of a program that hold instructions: those of `lines`; without lines, its loops."""
    return tuple(_within(program, lines)) if lines else tuple(_loops(program))


def innermost(regions: Iterable[CodeRegion]) -> dict[int, CodeRegion]:
    """Return, by program counter, the smallest region that contains it; of equal ones, the first."""
    found: dict[int, CodeRegion] = {}
    for region in sorted(regions, key=lambda region: len(region.pcs)):
        found |= {pc: region for pc in region.pcs if pc not in found}
    return found


def _opened(token: Token, opened: Sequence[Token]) -> Token:
    if token.text and any(token.text == other.text for other in opened):
        raise AssemblyError(token, f"region {token.text} is open already; end it first, or name this one otherwise")
    return token


def _closed(token: Token, opened: list[Token]) -> Token:
    """Remove and return the mark that this one closes: the last, or the one of its name."""
    wanted = [begin for begin in opened if begin.text == token.text] if token.text else opened
    if not wanted:
        cause = f"no region {token.text} is open" if token.text else "no region is open"
        fix = suggest(token.text, [begin.text for begin in opened if begin.text], "write GPUSIM-BEGIN before it")
        raise AssemblyError(token, f"{cause}; {fix}")
    begin = wanted[-1]
    opened.remove(begin)
    return begin


def _within(program: Program, lines: Sequence[Lines]) -> Iterator[CodeRegion]:
    places = [program.source(pc) for pc in range(len(program))]
    files = Counter(file for file, line in places if line)
    main = max(files, key=files.__getitem__, default="")  # of machine code, the source file of most instructions
    for each in lines:
        if pcs := tuple(pc for pc, (file, n) in enumerate(places) if file == main and each.first <= n <= each.last):
            yield CodeRegion(each.name, pcs)


def _loops(program: Program) -> Iterator[CodeRegion]:
    """Yield each loop: a label to which a branch goes back, with the instructions up to the last such branch."""
    ends: dict[str, int] = {}
    for pc, instruction in enumerate(program.instructions):
        target = instruction.operands[0] if instruction.row.is_branch else None
        if isinstance(target, Label) and program.labels[target.name] <= pc:
            ends[target.name] = pc
    for name, end in sorted(ends.items(), key=lambda item: (program.labels[item[0]], -item[1])):
        yield CodeRegion(name, tuple(range(program.labels[name], end + 1)))
