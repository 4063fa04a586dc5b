"""A run by line of source: what the instructions of each line issued, waited for and accessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account import stalls
from gpusim.analysis.account.memory.tables import accesses
from gpusim.engines.sm_run import SmRun
from gpusim.simulation.memory_account import MemoryAccount
from gpusim.simulation.result import Result
from gpusim.sm.memory.account.declaration import SHARED
from gpusim.sm.unit.stall import label
from gpusim.support.document import doc
from gpusim.views.timeline.memory_tables import Accesses
from isa.reading.origin import NOWHERE, PlaceInSource
from isa.reading.source_text import NO_TEXTS, Sources, find


@dataclass(frozen=True)
class Inlined:
    """A place in a header whose code was inlined in a line of source, and its part of the line's figures."""

    file: str
    line: int
    pcs: Annotated[tuple[int, ...], doc("Its instructions.")]
    issued: Annotated[int, doc("Warp instructions.")]
    threads: Annotated[int, doc("Thread instructions whose guard held.")]
    waits: Annotated[int, doc("Warp-cycles of waiting before its instructions.")]
    share: Annotated[float, doc("Of the waits of all lines; 0 to 1.")]


@dataclass(frozen=True)
class LineFigures:
    """A line of source, and what the simulated SM did in the whole run with the instructions made from it.

    What they moved is that of the whole launch, as in all tables of memory.

    Line 0 has those without a line, and the end of the program, where warps may wait too. Code of headers of the
    compiler and the system counts to the line that calls it, where `inlined` has it by its own place.
    """

    file: str
    line: int
    text: Annotated[str, doc("Its text; empty where the file was not found.")]
    pcs: Annotated[tuple[int, ...], doc("Its instructions.")]
    issued: Annotated[int, doc("Warp instructions.")]
    threads: Annotated[int, doc("Thread instructions whose guard held.")]
    stalls: Annotated[Mapping[str, int], doc("Warp-cycles of waiting before its instructions by reason, most first.")]
    waits: Annotated[int, doc("Their sum.")]
    share: Annotated[float, doc("Of the waits of all lines; 0 to 1.")]
    shared_conflicts: Annotated[float, doc("Passes through shared memory beyond those that widths need.")]
    moved: Annotated[Accesses, doc("What its instructions moved beyond shared memory, in the whole launch.")]
    inlined: Annotated[tuple[Inlined, ...], doc("Code from headers, what waited longest first.")] = ()


@dataclass(frozen=True)
class ByLine:
    """A simulated launch by line of source, and the text of its source files."""

    result: Result
    lines: tuple[LineFigures, ...]
    sources: Sources


@dataclass(frozen=True, eq=False)
class _Counted:
    """The figures of each instruction, and of the program's end: `waits` by pc and reason; `moved` by the launch."""

    run: SmRun
    waits: NDArray[np.int64]
    memory: MemoryAccount
    moved: MemoryAccount


def by_line(
    result: Result,
    loaded: str = "",
    *,
    given: Mapping[str, str] = NO_TEXTS,
    roots: Sequence[Path] = (),
) -> ByLine:
    """Return the figures of each line that has instructions, file by file as the program has them, lines in order.

    `loaded` is the file that the program was read from: a listing, or machine code, beside which its source may lie,
    or in one of the folders `roots`. Sources that are in no file are `given` by name.
    """
    program = result.kernel.program
    places = [*(program.source(pc, loaded) for pc in range(len(program))), NOWHERE]  # the last one: the program's end
    found = find((file for file, _ in places), loaded, given, roots)
    of_sm = replace(result.memory, times=result.growth)
    counted = _Counted(result.run, stalls.waits(result.run), of_sm, result.memory)
    inlined = [*(program.inlined(pc) for pc in range(len(program))), NOWHERE]
    lines = (_figures(counted, place, pcs, found, inlined) for place, pcs in _grouped(places))
    return ByLine(result, tuple(one for one in lines if one.pcs or one.waits), found)


def _grouped(places: Sequence[PlaceInSource]) -> list[tuple[PlaceInSource, list[int]]]:
    """Return the pcs of each place: files in the order in which the program names them first, lines in theirs."""
    files = {file: rank for rank, file in enumerate(dict.fromkeys(file for file, line in places if line))}
    groups: dict[PlaceInSource, list[int]] = {}
    for pc, place in enumerate(places):
        groups.setdefault(place, []).append(pc)
    return sorted(groups.items(), key=lambda one: (one[0] == NOWHERE, files.get(one[0][0], 0), one[0][1]))


def _figures(
    counted: _Counted, place: PlaceInSource, pcs: list[int], found: Sources, inlined: Sequence[PlaceInSource]
) -> LineFigures:
    mine = counted.waits[pcs].sum(axis=0)
    own, text = [pc for pc in pcs if pc + 1 < len(counted.waits)], found.text(*place)
    return LineFigures(
        *place,
        text=text,
        pcs=tuple(own),
        issued=int(counted.run.issued[pcs].sum()),
        threads=int(counted.run.active[pcs].sum()),
        stalls={label(k): int(mine[k]) for k in np.argsort(-mine, kind="stable").tolist() if mine[k]},
        waits=int(mine.sum()),
        share=float(mine.sum() / max(1, counted.waits.sum())),
        shared_conflicts=counted.memory.of(own, [SHARED]).conflicts,
        moved=accesses(text, counted.moved.of(own, counted.moved.far)),
        inlined=_inlined(counted, pcs, inlined),
    )


def _inlined(counted: _Counted, pcs: Sequence[int], inlined: Sequence[PlaceInSource]) -> tuple[Inlined, ...]:
    """Return the figures of the code from headers among these instructions."""
    groups: dict[PlaceInSource, list[int]] = {}
    for pc in pcs:
        if inlined[pc] != NOWHERE:
            groups.setdefault(inlined[pc], []).append(pc)
    every = max(1, counted.waits.sum())
    found = (
        Inlined(
            *place,
            pcs=tuple(own),
            issued=int(counted.run.issued[own].sum()),
            threads=int(counted.run.active[own].sum()),
            waits=int(counted.waits[own].sum()),
            share=float(counted.waits[own].sum() / every),
        )
        for place, own in groups.items()
    )
    return tuple(sorted(found, key=lambda one: -one.waits))
