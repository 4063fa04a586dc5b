"""The SM scanned cycle by cycle: in every issue slot every warp is asked why it does not issue.

An independent model of all that the rules settle in closed form and the engines skip: it wakes nothing, stores nothing
ahead, and uses no code of `gpusim.sm`. It is slow on purpose. Values come from `interpreter.steps`, at issue.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from executed import execute, target
from interpreter.frame import group_of, new_frame

from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.machine import Machine
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.stall import Stall
from isa import memory
from isa.dataflow import flow
from isa.kernel import Kernel
from isa.row import Row, Unit
from scan import copies, fences, packed, parted, simt_stack
from scan.apart import is_global
from scan.barriers import arrive, leave, waits_at_barrier
from scan.blocks import handed_at, known_at, updated, warp_slots
from scan.codes import early, give_way, obey, waits
from scan.constants import constants_there
from scan.counts import outstanding, wait_counts
from scan.empty_caches import caches
from scan.fetch import fetch, walk
from scan.matrices import in_order
from scan.memory import enter, full, idles, queued, read_at, serve, takes_banks
from scan.next_row import kind_of, row_of
from scan.pipes import compute, takes
from scan.registers import delivers, read_operands
from scan.selection import apart, by_yields, goes, keeps, offset, oldest, order_of, turns
from scan.state import LATER, Access, Scan, Scheduler, Warp, registers_of
from scan.write_back import stops, takes_cycle, writes

READY = None
LONGEST = 1_000_000  # cycles; random programs take up to some ten thousand


def scan(kernel: Kernel, machine: Machine, resident: int) -> Scan:
    """Run all blocks of the kernel on one SM that holds `resident` of them."""
    schedulers = [Scheduler() for _ in range(machine.schedulers.count)]
    code = (with_codes(kernel.program, machine) if by_codes(machine) else kernel.program).instructions
    sm = Scan(kernel, machine, resident, code, memory.image(kernel), [None] * (resident * kernel.warps), schedulers)
    sm.caches = caches(machine, kernel)
    for k, scheduler in enumerate(schedulers):
        scheduler.idle = [(-1, offset(machine, k))]
    walk(sm)
    now = 0
    while _launch(sm, now):
        assert now < LONGEST, f"the scan has not ended after {now} cycles"
        for k in turns(machine, now):
            if now % machine.schedulers.interval == offset(machine, k):
                _slot(sm, k, now)
        serve(sm, now)
        writes(sm, now)
        _count(sm)
        now += 1
    if sm.caches:
        sm.cycles = max(now, sm.caches.gone, updated(sm))
    else:
        sm.cycles = now
    sm.empty += (sm.cycles - now) * len(sm.warps)  # the L2 still does atomics, or stores go there
    for k, scheduler in enumerate(schedulers):
        reason = Stall.WARP_EXITED if sm.warps[k :: machine.schedulers.count] else Stall.NO_WARP
        sm.lost[k, reason] += sum(min(length, now - max(begin, 0)) for begin, length in scheduler.idle)
        sm.lost[k, Stall.NO_WARP] += sm.cycles - now
    return sm


def _count(sm: Scan) -> None:
    for warp in sm.warps:
        if warp is None or warp.reason is None:
            sm.empty += 1
        else:
            sm.stalls[warp.charged, warp.reason] += 1


# --- blocks -----------------------------------------------------------------------------------------------------------


def _launch(sm: Scan, now: int) -> bool:
    """Retire and place blocks; return False when none is left."""
    for slot in range(sm.resident):
        if sm.finished.get(slot) == now:
            block, warps = sm.blocks.pop(slot)
            del sm.finished[slot]
            sm.ends.append((max(now, updated(sm)), sum(kind == "issue" for _, kind, *_ in sm.events)))
            sm.events.append((now, "retire", 0, -1, block, -1, slot))
            for warp in warps:
                sm.warps[warp.slot] = None
                sm.registers[warp.slot] = registers_of(sm, warp)
        if slot not in sm.blocks and sm.placed < sm.kernel.blocks:
            _place(sm, slot, now)
    return bool(sm.blocks)


def _place(sm: Scan, slot: int, now: int) -> None:
    block, launch, warps = sm.placed, sm.machine.launch, sm.kernel.warps
    start, known = handed_at(sm, slot, now), known_at(sm, now)
    unused = np.zeros(len(sm.kernel.program), np.int64)
    frame = new_frame(sm.kernel, block, sm.memory, unused, unused.copy(), [])
    members = [
        Warp(taken, block, i, block * warps + i, start + i * launch.warp_skew, frame, group_of(frame, (i,)))
        for i, taken in enumerate(warp_slots(sm, slot))
    ]
    for warp in members:
        warp.order, sm.ordered = sm.ordered, sm.ordered + 1
        packed.begin(sm, warp)
        fetch(sm, warp, known)
        warp.constants = constants_there(sm, warp, known)
    sm.blocks[slot] = block, members
    for warp in members:
        sm.warps[warp.slot] = warp
    sm.placed += 1
    sm.events.append((now, "place", 0, -1, block, -1, slot))


# --- an issue slot ----------------------------------------------------------------------------------------------------


def _slot(sm: Scan, k: int, now: int) -> None:
    scheduler, interval = sm.schedulers[k], sm.machine.schedulers.interval
    mine = [warp for warp in sm.warps[k :: sm.machine.schedulers.count] if warp is not None]
    if scheduler.replays:
        _replay(sm, k, mine, now)
        return
    eligible = []
    for warp in mine:
        warp.charged = warp.pc
        warp.reason = _own(sm, warp, now)
        if warp.reason is READY:
            warp.ready_at = min(warp.ready_at, now)
            warp.reason = _refusal(sm, k, warp, now)
        if warp.reason is READY:
            warp.reason = Stall.NOT_SELECTED
            eligible.append(warp)
    ready, eligible = eligible, in_order(sm, k, eligible, now)
    chosen = (scheduler.selected or _choose(sm, scheduler, eligible, now)) if eligible else None
    if chosen and not goes(sm, k, chosen, kind_of(sm, chosen), now):
        chosen = None
        for warp in mine:
            if _own(sm, warp, now) is READY:
                warp.reason = Stall.DISPATCH_STALL
    if chosen:
        _blame(sm, k, scheduler, chosen)
        _use(sm, k, chosen, now)
        _fill(sm, k, ready, chosen, now)
    else:
        scheduler.idle.append((now, interval))
    for warp in mine:
        warp.log[now] = warp.reason


def _replay(sm: Scan, k: int, mine: list[Warp], now: int) -> None:
    """The slot goes to an access that has issued before."""
    sm.schedulers[k].replays -= 1
    sm.lost[k, Stall.INSTRUCTION_REPLAY] += sm.machine.schedulers.interval
    for warp in mine:
        warp.charged, warp.reason = warp.pc, _own(sm, warp, now)
        if warp.reason is READY:
            warp.ready_at, warp.reason = min(warp.ready_at, now), Stall.INSTRUCTION_REPLAY
        warp.log[now] = warp.reason


def _blame(sm: Scan, k: int, scheduler: Scheduler, warp: Warp) -> None:
    """Charge the unused slots to the reasons of the warp that ends them."""
    for begin, length in scheduler.idle:
        reason = warp.log.get(begin, Stall.NO_WARP)
        assert reason is not None
        sm.lost[k, reason] += length
    scheduler.idle = []


def _choose(sm: Scan, scheduler: Scheduler, eligible: list[Warp], now: int) -> Warp | None:
    policy, last = sm.machine.schedulers.policy, scheduler.last
    if policy == "two_level":
        eligible = _active(sm, scheduler, eligible, now)
    if policy in ("lrr", "two_level"):
        return min(eligible, key=lambda warp: (warp.slot <= last, warp.slot), default=None)
    stays = next((warp for warp in eligible if warp.slot == last), None)
    if policy in ("gto", "cggty") and not scheduler.yielded and stays:
        return stays
    return (by_yields if policy == "cggty" else oldest)(sm, eligible, stays, now)


def _active(sm: Scan, scheduler: Scheduler, eligible: list[Warp], now: int) -> list[Warp]:
    """The eligible warps that are active, after the exchange of those that wait for memory or a barrier."""
    away = {Stall.WARP_EXITED, Stall.BARRIER, Stall.LONG_SCOREBOARD, Stall.DRAIN}
    stay = [warp for warp in scheduler.active if not away & _waits(sm, warp, now)]
    others = sorted((warp for warp in eligible if warp not in stay), key=lambda warp: order_of(sm, warp))
    scheduler.active = stay + others[: max(0, sm.machine.schedulers.active - len(stay))]
    return [warp for warp in eligible if warp in scheduler.active]


def _use(sm: Scan, k: int, warp: Warp, now: int) -> None:
    scheduler, issue = sm.schedulers[k], sm.machine.issue
    refused = queued(sm, kind_of(sm, warp)) and full(sm, k, now, apart=apart(sm, warp))
    if not refused or issue.refused_moves_pointer:
        scheduler.last = warp.slot
    kind = "refuse" if refused else "issue"
    scheduler.turn = [] if refused else [row_of(sm, warp)]
    sm.events.append((now, kind, 1 + k, warp.slot, warp.block, warp.charged, warp.ready_at))
    warp.ready_at = LATER
    if refused:
        warp.reason, warp.refused = Stall.MIO_THROTTLE, now + issue.refused_retry
        sm.lost[k, Stall.MIO_THROTTLE] += sm.machine.schedulers.interval
        return
    warp.reason, scheduler.issued_at = Stall.SELECTED, now
    _issue(sm, k, warp, now)


def _fill(sm: Scan, k: int, ready: list[Warp], chosen: Warp, now: int) -> None:
    """Let the further ports of the turn issue, one by one, instructions that pair with those already issued."""
    scheduler, same = sm.schedulers[k], sm.machine.issue.pairing == "same-warp"
    while scheduler.turn and len(scheduler.turn) < sm.machine.schedulers.dispatch_ports:
        if same and _ends_turn(scheduler.turn[-1]):
            return
        waiting = [chosen] if same else [warp for warp in ready if warp.reason is not Stall.SELECTED]
        able = [warp for warp in waiting if _pairable(sm, k, warp, now)]
        if not able:
            return
        warp = _choose(sm, scheduler, able, now)
        if warp is None or not delivers(sm, k, warp, now):
            return
        scheduler.last, warp.reason = warp.slot, Stall.SELECTED
        ready_at = now if same else warp.ready_at
        sm.events.append((now, "issue", 1 + k, warp.slot, warp.block, warp.pc, ready_at))
        warp.ready_at = LATER
        scheduler.turn.append(row_of(sm, warp))
        _issue(sm, k, warp, now)


def _ends_turn(row: Row) -> bool:
    return row.is_branch or row.is_exit or row.unit is Unit.BARRIER


def _pairable(sm: Scan, k: int, warp: Warp, now: int) -> bool:
    """Whether the warp's next instruction may issue in the turn in which its scheduler has issued already."""
    row, machine, turn = row_of(sm, warp), sm.machine, sm.schedulers[k].turn
    alone = machine.double.exclusive != "off" and (row.unit is Unit.DP or now < sm.exclusive)
    crowded = queued(sm, kind_of(sm, warp)) and full(sm, k, now, apart=apart(sm, warp))
    if machine.issue.pairing == "different-category":
        paired = machine.category.get(row.unit, row.unit) not in [machine.category.get(i.unit, i.unit) for i in turn]
    else:
        paired = all(row.unit in machine.pairing.get(issued.unit, " ".join(Unit)).split() for issued in turn)
    free = _own(sm, warp, now, same_turn=True) is READY and _refusal(sm, k, warp, now) is READY
    return paired and free and takes(sm, k, kind_of(sm, warp), now) and not alone and not crowded


# --- why a warp does not issue ----------------------------------------------------------------------------------------


def _own(sm: Scan, warp: Warp, now: int, *, same_turn: bool = False) -> Stall | None:
    """The first reason of the warp's own that holds; the issue interval counts from turn to turn."""
    return min(_waits(sm, warp, now, same_turn=same_turn), default=READY)


def _waits(sm: Scan, warp: Warp, now: int, *, same_turn: bool = False) -> set[Stall]:
    """All reasons of the warp's own that hold."""
    if warp.exited:
        return {Stall.WARP_EXITED}
    until = {
        Stall.LAUNCH_DELAY: warp.start,
        Stall.BARRIER: warp.barrier if waits_at_barrier(sm, row_of(sm, warp)) else 0,
        Stall.BRANCH_RESOLVING: warp.branch,
        Stall.NO_INSTRUCTION: warp.fetched,
        Stall.IMC_MISS: warp.constants,
        Stall.ISSUE_INTERVAL: 0 if same_turn else warp.issue_interval,
        Stall.WAR_HAZARD: 0,
        Stall.DRAIN: 0,
        Stall.MIO_THROTTLE: warp.refused,
    }
    if warp.pc < len(sm.kernel.program):
        under_way = outstanding(sm, warp, sm.kernel.program.instructions[warp.pc])
        until[Stall.MIO_THROTTLE] = max(warp.refused, under_way)
        until[Stall.LONG_SCOREBOARD] = copies.waits(sm, warp)
    if by_codes(sm.machine):
        until |= {r: max(when, until.get(r, 0)) for r, when in waits(sm, warp).items()}
    elif warp.pc < len(sm.kernel.program):
        instruction = sm.kernel.program.instructions[warp.pc]
        written = flow.writes(instruction)
        until |= {r: max(when, until.get(r, 0)) for r, when in wait_counts(sm, warp, instruction).items()}
        for name in flow.reads(instruction) | written:
            result, reason = warp.results.get(name, (0, Stall.WAIT))
            until[reason] = max(until.get(reason, 0), result.done if isinstance(result, Access) else result)
        until[Stall.WAR_HAZARD] = max((a.read for name in written for a in warp.readers.get(name, ())), default=0)
    if kind_of(sm, warp) == "exit" or fences.cycles_of(sm, warp.pc):
        until[Stall.DRAIN] = max((a.done for a in warp.accesses), default=0)
    return {reason for reason, when in until.items() if when > now}


def _refusal(sm: Scan, k: int, warp: Warp, now: int) -> Stall | None:
    """The reason of a unit shared with other warps that refuses the warp, if any."""
    if sm.schedulers[k].stalled > now or stops(sm, k, now):
        return Stall.DISPATCH_STALL
    kind = kind_of(sm, warp)
    if not keeps(sm, kind) and not takes(sm, k, kind, now):
        return Stall.TEX_THROTTLE if kind == Unit.TEXTURE else Stall.MATH_PIPE_THROTTLE
    if queued(sm, kind) and full(sm, k, now, apart=apart(sm, warp)) and not sm.machine.issue.refused_wastes_slot:
        return Stall.LG_THROTTLE if is_global(sm.machine, row_of(sm, warp)) else Stall.MIO_THROTTLE
    alone = kind == Unit.DP or now < sm.exclusive
    others = [s.issued_at for other, s in enumerate(sm.schedulers) if other != k]
    taken = any(now - issued < sm.machine.schedulers.interval for issued in others)
    return Stall.DP_ISSUE_CONFLICT if sm.machine.double.exclusive != "off" and alone and taken else READY


# --- what an issue does -----------------------------------------------------------------------------------------------


def _issue(sm: Scan, k: int, warp: Warp, now: int) -> None:
    _issue_one(sm, k, warp, now)
    if packed.packs(sm) and not warp.exited:
        packed.pass_over(sm, warp, _waits, now)
        _reach(sm, warp, now)


def _issue_one(sm: Scan, k: int, warp: Warp, now: int) -> None:
    kind, pc, steered = kind_of(sm, warp), warp.pc, parted.steers(sm.kernel.program, warp.pc)
    warp.branch = warp.refused = 0
    warp.issue_interval = now + sm.machine.schedulers.issue_interval
    obey(sm, k, warp, now)
    if pc == len(sm.kernel.program):
        _steer(sm, k, warp, warp.frame.live[warp.index].copy(), now) if steered else _exit(sm, k, warp, pc, now)
        return
    sm.early += [(pc, name) for name in early(sm, warp, now)]
    active, addresses = execute(sm.kernel, warp.frame, warp.group, pc)
    if steered:
        active = _steer(sm, k, warp, active, now)
    else:
        onward = {"exit": None, "branch": target(sm.kernel, pc) if kind == "branch" else 0}.get(kind, pc + 1)
        simt_stack.move(sm.kernel.program, warp, pc, active, onward)
        _go_on(sm, k, warp, pc, now)
    if not active.any():
        row = sm.kernel.program.instructions[pc].row
        if queued(sm, kind) and idles(sm.machine, row):
            enter(sm, k, warp, pc, active, addresses, now)
        return
    returns = takes_banks(sm, pc, active, addresses) if queued(sm, kind) else Counter[int]()
    behind = read_operands(sm, k, warp, pc, now, returns)
    if not queued(sm, kind):
        takes_cycle(sm, k, pc)
    if kind == Unit.DP:
        flight = sm.machine.unit[kind].latency
        span = {"off": 0, "issue": sm.machine.schedulers.interval, "flight": flight}[sm.machine.double.exclusive]
        sm.exclusive = now + span
    if kind == "branch":
        warp.branch = now + sm.machine.branch.latency
    elif kind == Unit.BARRIER:
        arrive(sm, k, warp, pc, active, now)
    elif queued(sm, kind):
        enter(sm, k, warp, pc, active, addresses, now)
    elif kind == Unit.CONTROL:
        fences.hold(sm, warp, pc, now)
        copies.close(warp, sm.kernel.program.instructions[pc])
    elif kind != "exit":
        compute(sm, k, warp, pc, active, now, behind, read_at(sm, warp, pc, active, addresses, now))


def _steer(sm: Scan, k: int, warp: Warp, active: Any, now: int) -> Any:
    """Let the groups of a warp go on after its next instruction; return the lanes that have executed it."""
    pc, active = warp.pc, parted.move(sm.kernel, warp, active)
    if active.any() and not warp.exited and warp.pc != pc + 1:
        warp.branch = now + sm.machine.branch.latency
    if active.any() and by_codes(sm.machine) and parted.gives_way(sm.kernel.program, pc):
        give_way(sm, k, warp, now)
    _go_on(sm, k, warp, pc, now)
    return active


def _go_on(sm: Scan, k: int, warp: Warp, pc: int, now: int) -> None:
    if warp.exited:
        _exit(sm, k, warp, pc, now)
    elif not packed.packs(sm):
        _reach(sm, warp, now)


def _reach(sm: Scan, warp: Warp, now: int) -> None:
    """Ask for the warp's next instruction and its constants."""
    fetch(sm, warp, now)
    warp.constants = constants_there(sm, warp, now)


def _exit(sm: Scan, k: int, warp: Warp, pc: int, now: int) -> None:
    warp.exited, warp.pc = True, pc
    slot = warp.slot // sm.kernel.warps
    if sm.kernel.program.has_independent_lanes:
        leave(sm, k, warp, pc, now)
    if all(other.exited for other in sm.blocks[slot][1]):
        sm.finished[slot] = now + sm.machine.schedulers.interval
