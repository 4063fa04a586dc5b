"""Timeline documents kept in files, and parts of a document."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from gpusim.sm.unit.stall import Stall, label
from gpusim.views.timeline.dependence import born, over
from gpusim.views.timeline.document import NONE, VERSION, Timeline, escaped_texts, seen, seen_phases
from isa.errors import UserError
from isa.reading import input_file
from isa.reading.foreign import looks_like
from isa.support.escaped import escaped

ABSENT = frozenset(map(label, (Stall.NO_WARP, Stall.WARP_EXITED)))  # states of a warp without an instruction

MOST_SCHEDULERS = 1024  # each has a row of its own


class _Versioned(msgspec.Struct):
    """The version, which tells whether the rest can be read."""

    version: int


def load(path: Path) -> Timeline:
    """Return the document of a JSON file, gzipped if its name ends in .gz; raises UserError where it is none."""
    fix = "write one with `gpusim export --format json`"
    packed = path.suffix == ".gz"
    data = input_file.unpacked(path, fix) if packed else input_file.read(path, fix, input_file.MOST_GENERATED)
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != VERSION:
            raise UserError(f"{path}: a timeline of version {version}, where {VERSION} is read; write it anew")
        timeline = msgspec.json.decode(data, type=Timeline)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        other = looks_like(data.decode(errors="replace"), str(path), json=True)
        raise UserError(f"{path}: no timeline: {f'looks like {other.words}' if other else f'{error}; {fix}'}") from None
    _check(path, timeline)
    return escaped_texts(timeline)


def _check(path: Path, timeline: Timeline) -> None:
    """Raise UserError if the document refers to things that it lacks, or has nothing to show."""
    for wrong in chain(_empty(timeline), _unknown(timeline)):
        raise UserError(f"{path}: {wrong}; write it anew")


def _empty(timeline: Timeline) -> Iterator[str]:
    """Yield what the document has none of, or too many of to be shown."""
    if not timeline.shown:
        yield "the timeline has no warps"
    if timeline.schedulers > MOST_SCHEDULERS:
        yield f"the timeline has {timeline.schedulers} schedulers, where {MOST_SCHEDULERS} are shown at most"
    if timeline.start >= timeline.end:
        yield f"the timeline has no cycles: {timeline.start}:{timeline.end}"


def _unknown(timeline: Timeline) -> Iterator[str]:
    """Yield references to things that the document lacks."""
    if [line.pc for line in timeline.program] != list(range(len(timeline.program))):
        yield "the pcs of the program do not count up from 0"
    reasons = {wait.reason for i in timeline.instructions for wait in i.waits} | {one.reason for one in timeline.lost}
    if odd := next((name for name in reasons if escaped(name) != name), None):
        yield f"a reason's name has a control character: {odd!r}"
    if unnamed := sorted((reasons | ABSENT) - {letter.name for letter in timeline.letters}):
        yield f"no letter is named {unnamed[0]!r}"
    pcs, shown, schedulers = range(len(timeline.program)), set(timeline.shown), range(timeline.schedulers)
    for i in timeline.instructions:
        if i.pc not in pcs or i.warp not in shown or i.scheduler not in schedulers:
            where = f"pc {i.pc}, warp {i.warp}, scheduler {i.scheduler}"
            yield f"instruction {i.id} has {where}, one of which the document lacks"
    for one in timeline.lost:
        if one.scheduler not in schedulers:
            yield f"lost slots {one.start}:{one.end} are of scheduler {one.scheduler}, which the document lacks"


def part(timeline: Timeline, start: int, end: int | None, warps: Collection[int] | None) -> Timeline:
    """Return the part of a document from cycle `start` up to `end`, or the last, with these warp slots (None: all).

    An instruction is in it if its waits begin before the end and its result comes after the start. Raises UserError
    for cycles or warps that the document does not have.
    """
    last = timeline.end if end is None else min(end, timeline.end)
    shown = timeline.shown if warps is None else tuple(sorted(warps))
    if not timeline.start <= start < last:
        given = f"{start}:{'' if end is None else end}"
        raise UserError(f"--cycles {given}: the timeline has {timeline.start}:{timeline.end}; choose among these")
    if missing := sorted(set(shown) - set(timeline.shown)):
        raise UserError(f"--warps {missing[0]}: the timeline has {list(timeline.shown)}; choose among these")
    return msgspec.structs.replace(
        timeline,
        start=start,
        end=last,
        shown=shown,
        blocks=tuple(seen(b, last) for b in timeline.blocks if b.placed < last and not NONE < b.retired <= start),
        instructions=tuple(i for i in timeline.instructions if i.warp in shown and born(i) < last and over(i) > start),
        lost=tuple(stretch for stretch in timeline.lost if stretch.start < last and stretch.end > start),
        copies=tuple(copy for copy in timeline.copies if copy.start < last and copy.landed > start),
        phases=tuple(seen_phases(timeline.phases, start, last)),
    )
