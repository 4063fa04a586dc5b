"""What goes on without a warp, followed by trace records: copies, phases of barriers, products of warpgroups."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from gpusim.simulation.timeline import blockers
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.unit.stall import Stall
from gpusim.views.timeline.document import NONE, Copy, Phase, Waiting, seen_phases
from isa.program import WORD_BYTES


@dataclass(slots=True)
class Background:
    """Copies and phases so far. Barriers are named by their word in the shared memory of the SM."""

    sm: blockers.Sm
    words: int  # of shared memory that a block has
    copying: dict[int, tuple[int, int]] = field(default_factory=dict)  # by access: instruction, and when it was served
    multiplying: defaultdict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))  # by warp slot
    under_way: dict[int, Phase] = field(default_factory=dict)  # by barrier
    came: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # bytes of its phase under way
    placed: dict[int, int] = field(default_factory=dict)  # by block slot
    awaiting: dict[int, int] = field(default_factory=dict)  # by warp slot, the barrier of what it issues next
    ending: dict[tuple[int, int, int], int] = field(default_factory=dict)  # by warp slot, pc and cycle: a phase's place
    latest: dict[tuple[int, int], int] = field(default_factory=dict)  # by warp slot and pc, the last instruction
    copies: list[Copy] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)

    def copied_before(self, end: int) -> bool:
        """Tell whether all copies that were asked for before that cycle have landed."""
        return all(served >= end for _, served in self.copying.values())

    def copies_in(self, start: int, end: int) -> tuple[Copy, ...]:
        """Return the copies that overlap these cycles."""
        return tuple(copy for copy in self.copies if copy.start < end and copy.landed > start)

    def phases_in(self, start: int, end: int) -> tuple[Phase, ...]:
        """Return the phases that overlap these cycles, one barrier after another."""
        every = sorted((*self.phases, *self.under_way.values()), key=_order)
        return tuple(seen_phases(every, start, end))


def _order(phase: Phase) -> tuple[int, int, int]:
    return phase.slot, phase.barrier, phase.start


def place(one: Background, slot: int, now: int) -> None:
    """A block comes to its slot."""
    one.placed[slot] = now


def leave(one: Background, slot: int, now: int) -> None:
    """A block leaves its slot, and with it go its barriers."""
    for barrier in [barrier for barrier in one.under_way if barrier // one.words == slot]:
        one.phases.append(replace(one.under_way.pop(barrier), end=now))
        one.came.pop(barrier, None)


def issued(one: Background, record: Any, number: int) -> None:
    """An instruction has been issued: it may wait for a phase, have ended one, or be a quarter of a product."""
    row = one.sm.facts.rows[record.pc]
    if row.columns and record.lanes:
        one.multiplying[record.warp].append(number)
    if row.signal:
        one.latest[record.warp, record.pc] = number
    if (at := one.ending.pop((record.warp, record.pc, record.cycle), NONE)) != NONE:
        one.phases[at] = replace(one.phases[at], ended_by=number)
    if (barrier := one.awaiting.pop(record.warp, NONE)) != NONE:
        phase = _phase(one, barrier, record.block)
        waiting = Waiting(record.warp, number, record.cycle)
        one.under_way[barrier] = replace(phase, waiting=(*phase.waiting, waiting))


def served(one: Background, record: Any, number: int) -> None:
    """An instruction has been served: the copy engine has its command."""
    if one.sm.facts.rows[record.pc].bulk:
        one.copying[record.access] = number, record.cycle


def awaits(one: Background, record: Any) -> None:
    """The instruction that is issued next waits for a phase."""
    one.awaiting[record.warp] = record.unit


def copied(one: Background, record: Any) -> None:
    """The last piece of a copy has come."""
    number, _ = one.copying.pop(record.access)
    address = NONE if record.unit == NONE else record.unit % one.words * WORD_BYTES
    times = record.read, record.end, record.done
    one.copies.append(Copy(number, record.warp, record.block, record.pc, record.detail, *times, address))
    one.latest[record.warp, record.pc] = number
    one.came[record.unit] += record.detail
    _let_go(one, record.warp, record, number)


def ended(one: Background, record: Any) -> None:
    """A phase has ended, and the next one begins."""
    phase = _phase(one, record.unit, record.block)
    by = one.latest.get((record.warp, record.pc), NONE)
    if record.pc != NONE and not one.sm.facts.rows[record.pc].bulk:
        one.ending[record.warp, record.pc, record.cycle] = len(one.phases)
    known = {"end": record.cycle, "arrivals": record.detail, "bytes": one.came.pop(record.unit, 0), "ended_by": by}
    one.phases.append(replace(phase, **known))
    one.under_way[record.unit] = replace(phase, number=phase.number + 1, start=record.cycle, waiting=())


def multiplied(one: Background, record: Any) -> list[int]:
    """A product has begun; return its instructions, one of each warp."""
    numbers = []
    for g in range(record.warp, record.warp + WARPS):
        numbers.append(one.multiplying[g].popleft())
        _let_go(one, g, record, numbers[-1])
    return numbers


def _phase(one: Background, barrier: int, block: int) -> Phase:
    """Return the phase of a barrier that is under way."""
    slot, word = divmod(barrier, one.words)
    first = Phase(word * WORD_BYTES, slot, block, 0, one.placed[slot], NONE)
    return one.under_way.setdefault(barrier, first)


def _let_go(one: Background, g: int, record: Any, number: int) -> None:
    """Note who lets warp slot g go on that waits for its groups, or exits, when a copy or a product is done."""
    warp = one.sm.warps[g]
    for reason in (Stall.LONG_SCOREBOARD, Stall.BARRIER):
        warp.released_by[reason, record.done].append((number, record.pc))
    warp.drained = max(warp.drained, (record.done, number))
