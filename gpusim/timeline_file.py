"""Timeline documents kept in files, and parts of a document."""

from __future__ import annotations

import gzip
from collections.abc import Collection
from pathlib import Path

import msgspec

from gpusim.timeline import NONE, VERSION, Timeline, seen
from gpusim.views.dependence import born, over
from isa.errors import UserError


class _Versioned(msgspec.Struct):
    """What tells whether the rest can be read."""

    version: int


def load(path: Path) -> Timeline:
    """Return the document of a JSON file, gzipped if its name ends in .gz; raises UserError where it is none."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != VERSION:
            raise UserError(f"{path}: a timeline of version {version}, where {VERSION} is read; write it anew")
        timeline = msgspec.json.decode(data, type=Timeline)
    except (msgspec.MsgspecError, gzip.BadGzipFile, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: no timeline: {error}; write one with `gpusim export --format json`") from None
    _check(path, timeline)
    return timeline


def _check(path: Path, timeline: Timeline) -> None:
    """Raise UserError where an instruction names what the document does not have."""
    pcs, shown = {line.pc for line in timeline.program}, set(timeline.shown)
    for i in timeline.instructions:
        if i.pc not in pcs or i.warp not in shown or not 0 <= i.scheduler < timeline.schedulers:
            where = f"pc {i.pc}, warp {i.warp}, scheduler {i.scheduler}"
            raise UserError(f"{path}: instruction {i.id} has {where}, one of which the document lacks; write it anew")


def part(timeline: Timeline, start: int, end: int | None, warps: Collection[int] | None) -> Timeline:
    """Return the cycles `start` up to `end`, or the last, of a document, and of these warp slots (None: all).

    An instruction is in them if its waits begin before the end and its result comes behind the start. Raises UserError
    for what the document does not have.
    """
    last = timeline.end if end is None else min(end, timeline.end)
    shown = timeline.shown if warps is None else tuple(sorted(warps))
    if not timeline.start <= start < last:
        given = f"{start}:{'' if end is None else end}"
        raise UserError(f"cycles {given}: the timeline has {timeline.start}:{timeline.end}; choose among these")
    if missing := sorted(set(shown) - set(timeline.shown)):
        raise UserError(f"warp {missing[0]}: the timeline has {list(timeline.shown)}; choose among these")
    return msgspec.structs.replace(
        timeline,
        start=start,
        end=last,
        shown=shown,
        blocks=tuple(seen(b, last) for b in timeline.blocks if b.placed < last and not NONE < b.retired <= start),
        instructions=tuple(i for i in timeline.instructions if i.warp in shown and born(i) < last and over(i) > start),
        lost=tuple(stretch for stretch in timeline.lost if stretch.start < last and stretch.end > start),
    )
