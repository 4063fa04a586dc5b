"""The blocker of each wait of an SM's warps, found by following its trace records in order.

A warp waits first for its own reasons, whose release times its issue recorded: the blocker is the instruction whose
result, read of sources or return falls on that cycle. Then its unit class is refused: a scheduler's record tells when.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpusim.launch.launch import Launch
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.memory import queues
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.pipes.instruction_replay import instruction_replay
from gpusim.sm.state.unpacked import unpacked
from gpusim.sm.unit.opcodes import BARRIER, FETCH, LOAD
from gpusim.sm.unit.sm import FIRST_SCHEDULER
from gpusim.sm.unit.stall import BY_NUMBER, SHARED, UNCHOSEN, Blocker, Stall, label
from gpusim.views.timeline.document import NONE, Wait
from isa.operands.operand import PT_INDEX

FORGOTTEN = 64  # entries beyond which those that are no longer needed are dropped
NEVER_YET = -1


class Pipes(NamedTuple):
    """The pipes that a unit class needs: one of the choices, a joint one, and one that it blocks; -1: none."""

    choices: list[int]
    joint: int
    blocked: int


@dataclass(frozen=True, slots=True)
class Facts:
    """A launch as its trace refers to it: decoded rows by pc, and the machine's numbers as the rules read them."""

    rows: list[Any]
    machine: Any
    pipes: list[Pipes]  # by unit class
    queue: list[list[int]]  # by scheduler and unit class; -1: it enters none
    reasons: list[list[int]]  # by unit class and shared
    writes: list[frozenset[int]]
    reads: list[frozenset[int]]
    predicates: list[frozenset[int]]  # that an instruction waits for, including the one that it writes


@dataclass(slots=True)
class Warp:
    """A resident warp: its last instruction, and by reason and cycle the instructions that release it, as (id, pc)."""

    since: int
    previous: int = NONE
    last_arrival: int = NONE  # the instruction that completed its last barrier
    refused: int = NONE  # the head of the queue that was full for it
    refusals: list[Wait] = field(default_factory=list)  # its waits before that
    drained: tuple[int, int] = (NEVER_YET, NONE)  # when its last access is done, and the access
    released_by: defaultdict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class Held:
    """The reason for which a unit class is refused from `start` up to `end`."""

    shared: int
    start: int
    end: int = NEVER_YET
    blocker: int = NONE


@dataclass(slots=True)
class Scheduler:
    """A scheduler's last issues, and its reasons to refuse each unit class, the latest last."""

    used_until: int = 0
    turn: tuple[int, int] = (NEVER_YET, NONE)  # cycle of its last turn, and an instruction of that
    before: tuple[int, int] = (NEVER_YET, NONE)  # of the turn before
    read: int = NONE  # the last instruction that has read operands
    replayed: int = NONE
    selected: tuple[int, int] = (NEVER_YET, NONE)  # when it could not issue the selected warp, and the blocker
    held: defaultdict[int, list[Held]] = field(default_factory=lambda: defaultdict(lambda: [Held(UNCHOSEN, 0)]))
    kept: defaultdict[int, int] = field(default_factory=lambda: defaultdict(lambda: FORGOTTEN))  # limit on `held`


@dataclass(slots=True)
class Sm:
    """The SM so far. Warps by slot; pipes by instance and index: until when each is occupied, and by which id."""

    facts: Facts
    schedulers: list[Scheduler]
    warps: dict[int, Warp] = field(default_factory=dict)
    pipes: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    queued: defaultdict[tuple[int, int], deque[int]] = field(default_factory=lambda: defaultdict(deque))
    queues: defaultdict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    served: dict[int, int] = field(default_factory=dict)  # by queue, the last instruction
    unwritten: dict[int, int] = field(default_factory=dict)  # by access, instructions that wait for a write
    double: tuple[int, int] = (NEVER_YET, NONE)  # until when double precision has the SM to itself, and for which id
    arrived: defaultdict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    issued: int = 0


def begin(launched: Launch) -> Sm:
    """Return the SM of a launch at its start."""
    sm, machine = launched.sm, unpacked(launched.sm.machine)
    rows, units = [unpacked(row) for row in launched.program], [unpacked(unit) for unit in sm.machine.units]
    schedulers, every = range(machine.schedulers), range(len(units))
    number, reason = queues.number, stall_accounting.reason_of
    facts = Facts(
        rows,
        machine,
        pipes=[Pipes(unit.choice[: unit.choices], unit.joint, unit.blocked) for unit in units],
        queue=[[number(sm, k, unit) if units[unit].queued else NONE for unit in every] for k in schedulers],
        reasons=[[int(reason(sm.machine, unit, shared)) for shared in range(SHARED)] for unit in every],
        writes=[frozenset(row.write[: row.writes]) for row in rows],
        reads=[frozenset(row.read[: row.reads]) for row in rows],
        predicates=[frozenset({row.guard, row.selector, row.predicate} - {-1, PT_INDEX}) for row in rows],
    )
    return Sm(facts, [Scheduler() for _ in schedulers])


def scheduler_of(record: Any) -> int:
    """Return the scheduler that a record is of."""
    return int(record.agent) - FIRST_SCHEDULER


def slot_from(sm: Sm, k: int, cycle: int) -> int:
    """Return the start of scheduler k's first issue slot at or after a cycle."""
    return int(stall_accounting.slot_from(sm.facts.machine, k, cycle))


def conflicts(sm: Sm, record: Any) -> int:
    """Return passes or requests of a served access beyond those that its width needs; 0 for other instructions."""
    row = sm.facts.rows[record.pc]
    accesses = memory_access.accesses(row)
    return int(instruction_replay.beyond(sm.facts.machine, row, record.detail)) if accesses else 0


# --- events -----------------------------------------------------------------------------------------------------------


def place(sm: Sm, slots: range, now: int) -> None:
    """Place warps into these slots."""
    for g in slots:
        sm.warps[g] = Warp(slot_from(sm, g % len(sm.schedulers), now))


def hold(sm: Sm, k: int, unit: int, shared: int, now: int) -> None:
    """Note that scheduler k refuses the unit class for this reason from now on; this ends the refusal before."""
    scheduler = sm.schedulers[k]
    held = scheduler.held[unit]
    held[-1].end, held[-1].blocker = now, _who_held(sm, k, unit, held[-1], now)
    if held[-1].start == now:
        held.pop()
    if len(held) > scheduler.kept[unit]:
        needed = min((warp.since for g, warp in sm.warps.items() if g % len(sm.schedulers) == k), default=now)
        held[:] = [one for one in held if one.end > needed]
        scheduler.kept[unit] = max(FORGOTTEN, 2 * len(held))  # a starving warp needs all: check again when doubled
    held.append(Held(shared, now, blocker=_who_begins(sm, k, sm.facts.reasons[unit][shared], now)))


def select(sm: Sm, k: int, pc: int, now: int) -> None:
    """Note that scheduler k's selected warp can't issue, as its pipe or queue is full, or earlier operands are read."""
    scheduler, unit = sm.schedulers[k], sm.facts.rows[pc].unit
    free, blocker = _occupant(sm, k, unit)
    if free <= now:
        blocker = scheduler.read if (queue := sm.facts.queue[k][unit]) == NONE else _head(sm, queue)
    scheduler.selected = now, blocker


def replay(sm: Sm, k: int, g: int, until: int) -> None:
    """Note that the access that warp slot g has just issued takes slots of scheduler k again."""
    sm.schedulers[k].replayed, sm.schedulers[k].used_until = sm.warps[g].previous, until


def refuse(sm: Sm, record: Any, waited: list[Wait]) -> None:
    """Note that the queue was full for a warp that has waited so far, which costs its scheduler's slot."""
    k, warp = scheduler_of(record), sm.warps[record.warp]
    scheduler, queue = sm.schedulers[k], sm.facts.queue[k][sm.facts.rows[record.pc].unit]
    warp.refusals += waited
    warp.since, warp.refused = record.cycle, _head(sm, queue)
    scheduler.used_until = max(scheduler.used_until, record.cycle + sm.facts.machine.interval)


def issue(sm: Sm, record: Any) -> int:
    """Follow the issue of a warp instruction, and return its id."""
    k, g, now, number = scheduler_of(record), record.warp, record.cycle, sm.issued
    warp, scheduler, row = sm.warps[g], sm.schedulers[k], sm.facts.rows[record.pc]
    sm.issued += 1
    _forget(warp, now)
    warp.previous, warp.refused, warp.since = number, NONE, now + sm.facts.machine.interval
    warp.last_arrival = number if row.fence or row.cluster_step else warp.last_arrival  # which holds its own warp
    scheduler.used_until = max(scheduler.used_until, warp.since)
    scheduler.before = scheduler.turn if scheduler.turn[0] < now else scheduler.before
    scheduler.turn, scheduler.read = (now, number), number if record.lanes else scheduler.read
    if record.lanes and row.double:
        sm.double = now + sm.facts.machine.exclusive, number
    if record.lanes and record.done != NONE:
        _occupy(sm, k, row.unit, record.unit, record.end, number)
        _tell(sm, warp, row, record, number, row.action in (FETCH, LOAD))
    elif (record.lanes or row.idles) and row.queued:
        sm.queued[g, record.pc].append(number)
        sm.queues[sm.facts.queue[k][row.unit]].append(number)
    elif record.lanes and row.action == BARRIER:
        sm.arrived[record.block, record.unit].append(g)
    return number


def serve(sm: Sm, record: Any) -> int:
    """Follow the begin of an instruction's service by the load/store unit, and return its id."""
    number = sm.queued[record.warp, record.pc].popleft()
    warp, row = sm.warps[record.warp], sm.facts.rows[record.pc]
    sm.served[record.unit] = sm.queues[record.unit].popleft()
    if record.done == NONE:
        sm.unwritten[record.access] = number
    else:
        _tell(sm, warp, row, record, number, accesses=True)
    warp.released_by[Stall.WAR_HAZARD, record.read].append((number, record.pc))
    return number


def write(sm: Sm, record: Any) -> int:
    """Follow the write of an access's last result, and return its id."""
    number = sm.unwritten.pop(record.access)
    _tell(sm, sm.warps[record.warp], sm.facts.rows[record.pc], record, number, accesses=True)
    return number


def release(sm: Sm, record: Any) -> None:
    """Release the warps that wait at a barrier: the last warp to arrive is their blocker."""
    for g in sm.arrived.pop((record.block, record.unit)):
        sm.warps[g].last_arrival = sm.warps[record.warp].previous


def _occupy(sm: Sm, k: int, unit: int, pipe: int, end: int, number: int) -> None:
    instance, needs = sm.facts.machine.instance[k], sm.facts.pipes[unit]
    for taken in {pipe, needs.joint} - {-1}:
        sm.pipes[int(instance[taken]), taken] = end, number
    if needs.blocked >= 0:
        place = int(instance[needs.blocked]), needs.blocked
        sm.pipes[place] = max(sm.pipes.get(place, (NEVER_YET, NONE)), (end + 1, number))


def _tell(sm: Sm, warp: Warp, row: Any, record: Any, number: int, accesses: bool) -> None:
    """Note the instruction that the warp's later ones may wait for, by the cycle until which they do."""
    who, reason = (number, record.pc), row.reason
    if sm.facts.machine.obeys_codes and row.write_barrier >= 0:
        reason = max(Stall.SHORT_SCOREBOARD, reason)
    warp.released_by[reason, record.done].append(who)
    if row.counter >= 0:
        back = max(record.done, record.back)
        warp.released_by[reason, back].append(who)
        warp.released_by[Stall.MIO_THROTTLE, back].append(who)
    if accesses:
        warp.drained = max(warp.drained, (record.done, number))


def _forget(warp: Warp, now: int) -> None:
    """Drop releases of the past, for which no instruction waits any more."""
    if len(warp.released_by) > FORGOTTEN:
        for key in [key for key in warp.released_by if key[1] <= now]:
            del warp.released_by[key]


# --- blockers ---------------------------------------------------------------------------------------------------------


def waits(sm: Sm, record: Any) -> list[Wait]:
    """Return the waits, with blockers, of the warp of an issue or refusal since its waits were last settled."""
    warp = sm.warps[record.warp]
    if warp.since >= record.cycle:  # it has issued in this turn already, or could issue at once
        return []
    return [*_own(sm, warp, record), *_refusals(sm, record)]


def merged(waits: Iterable[Wait]) -> tuple[Wait, ...]:
    """Return the waits, with neighbours of the same reason and instruction merged."""
    alike = (list(some) for _, some in groupby(waits, key=lambda wait: (wait.reason, wait.blocker)))
    return tuple(replace(some[0], end=some[-1].end) for some in alike)


def _own(sm: Sm, warp: Warp, record: Any) -> Iterator[Wait]:
    """The warp's own reasons, as `stall_accounting.settle_own` charges them."""
    reached, k = warp.since, scheduler_of(record)
    for reason, release in enumerate(record.release_at):
        if release > reached:
            until = min(slot_from(sm, k, release), record.detail)
            if until > reached:
                yield Wait(label(reason), reached, until, _who_let_go(sm, warp, reason, release, record.pc))
                reached = until


def _refusals(sm: Sm, record: Any) -> Iterator[Wait]:
    """The refusals of the unit class since the warp was ready, as `stall_accounting.settle_shared` charges them."""
    k, unit, ready, now = scheduler_of(record), sm.facts.rows[record.pc].unit, record.detail, record.cycle
    found: list[Wait] = []
    for held in reversed(sm.schedulers[k].held[unit]):
        end = now if held.end == NEVER_YET else held.end
        blocker = _who_held(sm, k, unit, held, now) if held.end == NEVER_YET else held.blocker
        if end <= ready:
            break
        if held.start < now:
            found.append(Wait(label(sm.facts.reasons[unit][held.shared]), max(held.start, ready), end, blocker))
    return reversed(found)


def _who_let_go(sm: Sm, warp: Warp, reason: int, release: int, pc: int) -> int:
    """The blocker of an own reason of the warp's next instruction, at pc, that held until `release`."""
    if reason == Stall.WAIT and sm.facts.machine.obeys_codes:  # a stall count
        return warp.previous
    match BY_NUMBER[reason].blocker:
        case Blocker.PREVIOUS:
            return warp.previous
        case Blocker.LAST_TO_ARRIVE if (reason, release) not in warp.released_by:
            return warp.last_arrival
        case Blocker.LAST_ACCESS:
            return warp.drained[1]
        case Blocker.UNIT if warp.refused != NONE:
            return warp.refused
    return _who_released(sm, warp, reason, release, pc)


def _who_released(sm: Sm, warp: Warp, reason: int, release: int, pc: int) -> int:
    """The instruction whose result, read of sources or return falls on `release`, for the one at pc."""
    found = warp.released_by.get((reason, release), [])
    if sm.facts.machine.obeys_codes:
        found = [(who, of) for who, of in found if _tells(sm.facts, of, pc)] or found
    needed = [who for who, of in found if _concerns(sm.facts, of, pc)]  # before those that only share its barrier
    return next(iter([*needed, *(who for who, _ in reversed(found))]), NONE)


def _tells(facts: Facts, of: int, pc: int) -> bool:
    """Whether the instruction at pc waits for a dependency barrier of the one at `of`."""
    barriers = {facts.rows[of].write_barrier, facts.rows[of].read_barrier} - {-1}
    return any(facts.rows[pc].wait_mask >> barrier & 1 for barrier in barriers)


def _concerns(facts: Facts, of: int, pc: int) -> bool:
    """Whether the instruction at pc depends on the one at `of`, by registers or predicates."""
    touched = facts.reads[pc] | facts.writes[pc]
    set_before = {facts.rows[of].predicate} & facts.predicates[pc]
    return bool(facts.writes[of] & touched or facts.reads[of] & facts.writes[pc] or set_before)


def _who_begins(sm: Sm, k: int, reason: int, now: int) -> int:
    """The blocker for which a scheduler begins to refuse a unit class, if it is known at the start."""
    scheduler = sm.schedulers[k]
    match BY_NUMBER[reason].blocker:
        case Blocker.SELECTED:
            return scheduler.selected[1] if scheduler.selected[0] == now else scheduler.read
        case Blocker.DOUBLE:
            others = (other.turn for index, other in enumerate(sm.schedulers) if index != k)
            return sm.double[1] if sm.double[0] > now else max(others, default=(NEVER_YET, NONE))[1]
    return NONE


def _who_held(sm: Sm, k: int, unit: int, held: Held, now: int) -> int:
    """The blocker of a unit class up to now, when its scheduler changes the reason, or issues."""
    scheduler = sm.schedulers[k]
    match BY_NUMBER[sm.facts.reasons[unit][held.shared]].blocker:
        case Blocker.REPLAYED:
            return scheduler.replayed
        case Blocker.CHOSEN:
            cycle, chosen = scheduler.turn if scheduler.turn[0] < now else scheduler.before
            return chosen if cycle >= held.start else NONE
        case Blocker.UNIT:
            queue = sm.facts.queue[k][unit]
            return sm.served.get(queue, NONE) if queue != NONE else _occupant(sm, k, unit)[1]
    return held.blocker


def _head(sm: Sm, queue: int) -> int:
    """The head of a full queue; the last one served if places are kept longer."""
    return sm.queues[queue][0] if sm.queues[queue] else sm.served.get(queue, NONE)


def _occupant(sm: Sm, k: int, unit: int) -> tuple[int, int]:
    """When the first of the unit class's pipes and the joint one are free, and the id that occupies them until then."""
    needs, instance = sm.facts.pipes[unit], sm.facts.machine.instance[k]

    def taken(pipe: int) -> tuple[int, int]:
        return sm.pipes.get((int(instance[pipe]), pipe), (NEVER_YET, NONE))

    first = min(map(taken, needs.choices), default=(NEVER_YET, NONE))
    return max(first, taken(needs.joint)) if needs.joint >= 0 else first
