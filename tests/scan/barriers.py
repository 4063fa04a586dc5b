"""Barriers of a block in a scan of every cycle: who arrives and when each is released; the interpreter counts them."""

from __future__ import annotations

from typing import Any

from interpreter import block_barriers
from interpreter.block_barriers import Arrival, Barrier

from isa.row import MEMORY_UNITS, Row, Unit
from scan.state import LATER, Scan, Warp


def arrive(sm: Scan, k: int, warp: Warp, pc: int, active: Any, now: int) -> None:
    """A warp arrives at the barrier at pc, and waits; the last one releases all that wait there."""
    if sm.machine.what_if and sm.machine.what_if.barriers == "pass":
        sm.events.append((now, "release", 1 + k, warp.slot, warp.block, pc, now))
        return
    arrival, barriers = Arrival(pc, warp.index, active), sm.barriers.setdefault(warp.block, {})
    warp.barrier = 0 if block_barriers.passes(sm.kernel, arrival) else LATER
    number, _ = block_barriers.asked(sm.kernel, sm.kernel.program.instructions[pc], warp.frame, warp.index)
    done = block_barriers.arrive(sm.kernel, warp.frame, barriers, arrival, _alive(sm, warp))
    sm.arrived = max(now, sm.arrived) + sm.machine.barrier.per_arrival
    sm.last_arrivals[id(done or barriers[number])] = sm.arrived
    if done:
        _release(sm, k, warp, pc, done, now)


def waits_at_barrier(sm: Scan, row: Row) -> bool:
    """Whether a warp that has arrived at a barrier waits there with its next instruction."""
    return not sm.machine.barrier.defers or stays_behind(row)


def stays_behind(row: Row) -> bool:
    """Whether an instruction waits where barriers are deferred: arithmetic goes on.

    What reads or writes memory, may jump, or is a barrier waits.
    """
    waits = {*MEMORY_UNITS, Unit.TEXTURE, Unit.SMEM, Unit.CONTROL, Unit.BARRIER}
    return row.unit in waits or row.mnemonic == "B2R.RESULT"


def leave(sm: Scan, k: int, warp: Warp, pc: int, now: int) -> None:
    """A warp has exited: barriers that wait for nobody any more are complete."""
    for done in block_barriers.leave(warp.frame, sm.barriers.setdefault(warp.block, {}), _alive(sm, warp)):
        _release(sm, k, warp, pc, done, now)


def _release(sm: Scan, k: int, last: Warp, pc: int, done: Barrier, now: int) -> None:
    """Release the warps that wait at a barrier, one after the other; `last` has completed it."""
    barrier, members = sm.machine.barrier, {w.index: w for w in sm.blocks[last.slot // sm.kernel.warps][1]}
    complete = max(now, sm.last_arrivals.pop(id(done))) + max(1, barrier.latency)
    own = complete
    for place, index in enumerate(sorted(done.waiting, key=lambda index: members[index].slot), 1):
        members[index].barrier = complete + place * barrier.per_warp
        own = members[index].barrier if index == last.index else own
    sm.events.append((now, "release", 1 + k, last.slot, last.block, pc, own))


def _alive(sm: Scan, warp: Warp) -> int:
    """How many warps of the block have not exited."""
    return sum(not other.exited for other in sm.blocks[warp.slot // sm.kernel.warps][1])
