"""Load/store unit: a queue in issue order, served one instruction at a time for as many cycles as its passes take.

It is an agent: it acts when it is free and something waits. Only then are the latency of a load and the release of the
source registers known, and the warps that wait for them woken.
"""

from __future__ import annotations

from typing import Any

from gpusim.decode import GLOBAL_SPACE, LOAD, LOCAL_SPACE, SHARED_SPACE, STORE
from gpusim.rule import NEVER, rule
from gpusim.rules import control_code, global_memory, scoreboard


@rule
def serves(instruction: Any) -> bool:
    """Whether the instruction goes through this unit."""
    return instruction.action == LOAD or instruction.action == STORE  # noqa: PLR1714  (compiles to two compares)


@rule
def earliest(sm: Any, now: int) -> int:
    """First cycle at which the queue takes an instruction: now, or the one after the next service."""
    if sm.load_store.count < sm.machine.queue:
        return now
    return max(now, sm.agenda[sm.load_store_agent]) + 1


@rule
def commit(sm: Any, g: int, pc: int, instruction: Any, now: int) -> None:
    """The instruction of warp slot g enters the queue, with the outcome of its addresses."""
    unit, warp, outcome = sm.load_store, sm.warps[g], sm.outcome
    entry = unit.entries[_wrapped(sm, unit.head + unit.count)]
    unit.entered += 1
    entry.number, entry.warp, entry.pc = unit.entered, g, pc
    entry.cycles, entry.extra, entry.transactions = outcome.cycles, outcome.extra, outcome.transactions
    unit.count += 1
    warp.pending += 1
    scoreboard.commit(warp, instruction, pc, NEVER)
    scoreboard.hold(warp, instruction, unit.entered)
    if sm.machine.codes:
        control_code.hold(warp, instruction)
    sm.agenda[sm.load_store_agent] = min(sm.agenda[sm.load_store_agent], max(now, unit.free))


@rule
def _wrapped(sm: Any, place: int) -> int:
    """The place in the ring of entries; it is as long as the queue, so that equal states lie alike."""
    return place if place < sm.machine.queue else place - sm.machine.queue


@rule
def serve(sm: Any, now: int) -> int:
    """Serve the head of the queue; returns the warp slot it belongs to."""
    unit = sm.load_store
    entry = unit.entries[unit.head]
    instruction, warp = sm.program[entry.pc], sm.warps[entry.warp]
    unit.count -= 1
    unit.head = _wrapped(sm, unit.head + 1) if unit.count > 0 else 0
    unit.free = now + entry.cycles
    unit.busy += entry.cycles
    instruction.passes += entry.cycles
    ready = result_at(sm, instruction, entry, now)
    warp.pending -= 1
    warp.drained = max(warp.drained, ready)
    if instruction.action == LOAD:
        scoreboard.commit(warp, instruction, entry.pc, ready)
    read = now + max(1, source_war(sm.machine, instruction))
    scoreboard.let_go(warp, instruction, entry.number, read)
    if sm.machine.codes:
        control_code.release(warp, instruction, read, ready)
    sm.agenda[sm.load_store_agent] = unit.free if unit.count > 0 else NEVER
    return int(entry.warp)


@rule
def result_at(sm: Any, instruction: Any, entry: Any, now: int) -> int:
    """When a load's result is there; when a store has left the SM."""
    machine = sm.machine
    if instruction.action == STORE:
        return max(sm.load_store.free, global_memory.commit(sm, entry.transactions, now))
    if instruction.space == SHARED_SPACE:
        return now + machine.shared_latency[instruction.width] + entry.extra
    if instruction.space == LOCAL_SPACE:
        return now + machine.local_latency + entry.extra
    return global_memory.commit(sm, entry.transactions, now) + machine.global_latency


@rule
def source_war(machine: Any, instruction: Any) -> int:
    """Cycles from service until the source registers may be overwritten."""
    if instruction.space == GLOBAL_SPACE:
        return machine.global_war
    return machine.shared_war[instruction.width] if instruction.space == SHARED_SPACE else 0
