"""The trace: one record per event, in order. Its writers are called only while the SM is tracing."""

from __future__ import annotations

from gpusim.sm.account.record.declaration import (
    AWAIT,
    COPY,
    HOLD,
    ISSUE,
    PHASE,
    PLACE,
    PRODUCT,
    REFUSE,
    RELEASE,
    REPLAY,
    RETIRE,
    SELECT,
    SERVE,
    WRITE,
)
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.records import Sm
from gpusim.sm.unit.capacities import COPIES
from gpusim.sm.unit.opcodes import LOAD
from gpusim.sm.unit.sm import FIRST_SCHEDULER, LAUNCHER
from gpusim.sm.unit.stall import OWN

__all__ = [
    "ISSUE",
    "PLACE",
    "REFUSE",
    "RETIRE",
    "arrival",
    "awaits",
    "block",
    "copy",
    "hold",
    "issue",
    "occupied",
    "phase",
    "product",
    "release",
    "replay",
    "select",
    "service",
    "write",
]


@on_demand
def _begin(sm: Sm, kind: int, agent: int, g: int, block: int, pc: int, detail: int, now: int) -> None:
    entry = sm.records[sm.traced]
    sm.traced += 1
    entry.cycle, entry.kind, entry.agent, entry.detail = now, kind, agent, detail
    entry.warp, entry.block, entry.pc = g, block, pc
    entry.unit = entry.lanes = entry.end = entry.read = entry.done = entry.back = entry.access = entry.level = -1
    for reason in range(OWN):  # array assignment would compile Numba's check of shapes, which takes seconds
        entry.release_at[reason] = 0


@on_demand
def issue(sm: Sm, kind: int, k: int, g: int, now: int) -> None:
    """Record that warp slot g issues (or is refused) from scheduler k, with its reasons and its active lanes."""
    warp = sm.warps[g]
    entry = sm.records[sm.traced]
    _begin(sm, kind, FIRST_SCHEDULER + k, g, sm.blocks[warp.block].id, warp.pc, warp.ready_at, now)
    entry.lanes = sm.outcome.threads if kind == ISSUE else -1
    for reason in range(OWN):
        entry.release_at[reason] = warp.release_at[reason]


@on_demand
def occupied(sm: Sm, pipe: int, end: int, done: int) -> None:
    """Record that the instruction just issued occupies this pipe until `end`, and has its result at `done`."""
    entry = sm.records[sm.traced - 1]
    entry.unit, entry.end, entry.done = pipe, end, done


@on_demand
def service(sm: Sm, y: int, place: int, end: int, read: int, done: int, back: int, now: int) -> None:
    """Record that the load/store unit begins to serve the entry at this place of queue y, until `end`.

    Its sources are read at `read`, its result is there at `done`, and wait counters have it back at `back`: UNKNOWN if
    that depends on when it is written.
    """
    served = sm.load_store.queues[y].entries[place]
    entry, g = sm.records[sm.traced], served.warp
    _begin(sm, SERVE, sm.load_store_agent, g, sm.blocks[sm.warps[g].block].id, served.pc, served.cycles, now)
    entry.unit, entry.end, entry.read, entry.done, entry.back = y, end, read, done, back
    entry.access = served.number
    if served.requests and sm.program[served.pc].action == LOAD:
        entry.level = sm.load_store.level


@on_demand
def write(sm: Sm, g: int, pc: int, access: int, done: int, now: int) -> None:
    """Record that the last result of an access of warp slot g is written, which is done at `done`."""
    entry = sm.records[sm.traced]
    _begin(sm, WRITE, sm.load_store_agent, g, sm.blocks[sm.warps[g].block].id, pc, 0, now)
    entry.done, entry.access = done, access


@on_demand
def arrival(sm: Sm, barrier: int) -> None:
    """Record the number of the barrier at which the warp that has just issued arrives."""
    sm.records[sm.traced - 1].unit = barrier


@on_demand
def release(sm: Sm, k: int, g: int, pc: int, barrier: int, when: int, now: int) -> None:
    """Record that warp slot g completes a barrier, which releases it at `when`."""
    entry = sm.records[sm.traced]
    _begin(sm, RELEASE, FIRST_SCHEDULER + k, g, sm.blocks[sm.warps[g].block].id, pc, when, now)
    entry.unit = barrier


@on_demand
def hold(sm: Sm, k: int, unit: int, shared: int, now: int) -> None:
    """Record that from now on scheduler k's ready warps of a unit class are refused for this reason."""
    entry = sm.records[sm.traced]
    _begin(sm, HOLD, FIRST_SCHEDULER + k, -1, -1, -1, shared, now)
    entry.unit = unit


@on_demand
def select(sm: Sm, k: int, g: int, until: int, now: int) -> None:
    """Record that scheduler k has selected warp slot g, which can't issue before `until`."""
    _begin(sm, SELECT, FIRST_SCHEDULER + k, g, sm.blocks[sm.warps[g].block].id, sm.warps[g].pc, until, now)


@on_demand
def replay(sm: Sm, k: int, g: int, until: int) -> None:
    """Record that the access of warp slot g, just issued, takes scheduler k's slots again until then."""
    _begin(sm, REPLAY, FIRST_SCHEDULER + k, g, sm.blocks[sm.warps[g].block].id, sm.warps[g].pc - 1, until, sm.now)


@on_demand
def block(sm: Sm, kind: int, slot: int, now: int) -> None:
    """Record that a block is placed into its slot, or leaves it."""
    _begin(sm, kind, LAUNCHER, -1, sm.blocks[slot].id, -1, slot, now)


@on_demand
def copy(sm: Sm, number: int, now: int) -> None:
    """Record that the last piece of the copy of that number comes now."""
    made, entry = sm.copies[number % COPIES], sm.records[sm.traced]
    _begin(sm, COPY, sm.effects_agent, made.warp, sm.blocks[sm.warps[made.warp].block].id, made.pc, made.total, now)
    entry.unit = made.barrier - sm.launch.shared_word if made.barrier >= 0 else -1
    entry.read, entry.end, entry.done, entry.access = made.begins, made.over, now, made.number


@on_demand
def awaits(sm: Sm, g: int, place: int) -> None:
    """Record that the instruction which warp slot g issues waits for the phase of the barrier at that place."""
    entry = sm.records[sm.traced]
    _begin(sm, AWAIT, sm.effects_agent, g, sm.blocks[sm.warps[g].block].id, sm.warps[g].pc, 0, sm.now)
    entry.unit, entry.access = place - sm.launch.shared_word, sm.load_store.entered + 1


@on_demand
def phase(sm: Sm, place: int, g: int, pc: int, arrivals: int) -> None:
    """Record that a phase of the barrier at that place ends, by warp slot g's instruction at `pc`."""
    slot = (place - sm.launch.shared_word) // sm.launch.shared_words
    entry = sm.records[sm.traced]
    _begin(sm, PHASE, sm.effects_agent, g, sm.blocks[slot].id, pc, arrivals, sm.now)
    entry.unit = place - sm.launch.shared_word


@on_demand
def product(sm: Sm, g: int, pc: int, start: int, end: int, done: int, now: int) -> None:
    """Record that a product, whose first warp is in slot g, has the tensor cores from `start` to `end`."""
    entry = sm.records[sm.traced]
    _begin(sm, PRODUCT, sm.effects_agent, g, sm.blocks[sm.warps[g].block].id, pc, start, now)
    entry.end, entry.done = end, done
