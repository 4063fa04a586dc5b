"""Rows of what works by itself: each scheduler's tensor cores, the copy engine, barriers in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpusim.sm.unit.stall import Stall, label
from gpusim.support.plural import plural
from gpusim.views.timeline.document import NONE, Copy, Phase, Timeline
from isa.row import Unit

TENSOR = Unit.TENSOR.value, Unit.WARPGROUP.value
ENGINE = "copy engine"
AWAITED = label(Stall.LONG_SCOREBOARD)  # the reason of warps that wait for a phase
MOST = 16  # barriers that have a row


class Stretch(NamedTuple):
    """Cycles from `start` up to `end` that a row shows in the colour of a state, with a letter, and in words."""

    start: int
    end: int
    state: str
    words: str
    letter: str = ""  # none: that of the state


Rows = dict[str, list[Stretch]]  # by name


def unit_rows(document: Timeline) -> Rows:
    """Return the rows of the units that a document has, in the order in which they are shown.

    A copy is asked for, which occupies the engine, then under way; the engine goes on with the next one meanwhile. A
    phase of a barrier is under way, and long_scoreboard while a warp waits for its end. The first MOST barriers count.
    """
    return _tensor_cores(document) | _copies(document) | _barriers(document)


def _tensor_cores(document: Timeline) -> Rows:
    """Rows of the tensor cores of each scheduler; none where no instruction needs them."""
    needs = {line.pc: line.text for line in document.program if line.unit in TENSOR}
    rows: Rows = {f"tensor {k}": [] for k in range(document.schedulers if needs else 0)}
    for i in document.instructions:
        if i.pc in needs and NONE < i.begin < i.end:
            rows[f"tensor {i.scheduler}"].append(Stretch(i.begin, i.end, "occupies", f"warp {i.warp} {needs[i.pc]}"))
    return rows if any(rows.values()) else {}


def _copies(document: Timeline) -> Rows:
    under_way = [Stretch(one.end, one.landed, "under_way", copy_words(one)) for one in document.copies]
    asked = [Stretch(one.start, one.end, "occupies", copy_words(one)) for one in document.copies]
    return {ENGINE: [*under_way, *asked]} if asked else {}


def copy_words(copy: Copy) -> str:
    """Return what a copy is in words."""
    barrier = f", mbarrier {copy.barrier:#x}" if copy.barrier != NONE else ""
    return f"warp {copy.warp} copies {plural(copy.bytes, 'byte')}{barrier}; landed at {copy.landed:,}"


def _barriers(document: Timeline) -> Rows:
    rows: Rows = {}
    named = barrier_name(document)
    for phase in document.phases:
        name = named(phase)
        if name in rows or len(rows) < MOST:
            rows.setdefault(name, []).extend(_parts(document, phase))
    return rows


def barrier_name(document: Timeline) -> Callable[[Phase], str]:
    """Return the function from a phase to the name of its barrier, which has the block slot if there are several."""
    several = len({phase.slot for phase in document.phases}) > 1
    return lambda phase: f"mbar {f'{phase.slot}:' if several else ''}{phase.barrier:#x}"


def _parts(document: Timeline, phase: Phase) -> Iterator[Stretch]:
    """Yield the parts of a phase: before a warp waits for it, and after."""
    end = document.end if phase.end == NONE else phase.end
    waits = min((one.since for one in phase.waiting), default=end)
    words, digit = phase_words(phase), str(phase.number % 10)
    for start, until, state in ((phase.start, waits, "under_way"), (waits, end, AWAITED)):
        if start < until:
            yield Stretch(start, until, state, words, digit)


def phase_words(phase: Phase) -> str:
    """Return what a phase is in words."""
    goes_on = "goes on" if phase.end == NONE else f"ends at {phase.end:,}"
    brought = f" with {plural(phase.bytes, 'byte')}" if phase.bytes else ""
    warps = list(dict.fromkeys(one.warp for one in phase.waiting))
    who = f"; {'warp' if len(warps) == 1 else 'warps'} {', '.join(map(str, sorted(warps)))} waited" if warps else ""
    return f"phase {phase.number} {goes_on}{brought}{who}"
