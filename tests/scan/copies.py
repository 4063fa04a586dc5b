"""Asynchronous copies in the scan of every cycle, where no cache keeps tags: their cost, groups and waits."""

from __future__ import annotations

from typing import Any

import numpy as np
from executed import load_store_cost, passes
from msgspec import structs

from isa.dataflow.waits.counted_groups import awaits_all
from isa.instruction import Instruction
from isa.operands.operand import Immediate, Predicate
from isa.row import CLOSES, WAITS, Row
from scan.state import Access, Scan, Warp


def cost(sm: Scan, warp: Warp, instruction: Instruction, active: Any, addresses: Any) -> tuple[int, int, int]:
    """Cycles of the load/store unit, cycles on top of the latency, transactions: 32 lanes load while others write."""
    shared, row, least = sm.machine.shared_memory, instruction.row, sm.machine.load_store.least_cycles
    machine = structs.replace(sm.machine, load_store=structs.replace(sm.machine.load_store, least_cycles=1))
    to, reads = _places(warp, instruction), _reads(warp, instruction)
    cycles, reading = 0, active & reads
    for half in (slice(first, first + 32) for first in range(0, len(to), 32)):
        if not active[half].any():
            continue
        loads = load_store_cost(machine, row, addresses[half], reading[half])[0] if reading[half].any() else 0
        where = [int(at) if on else None for at, on in zip(to[half], active[half], strict=True)]
        written = passes(where, row.words, shared, shared.banks, load=False) * shared.pass_cycles
        cycles += max(loads, written)
    later, moved = load_store_cost(machine, row, addresses, reading)[1:] if reading.any() else (0, 0)
    return max(cycles, least) if cycles else 0, later, moved


def replays(sm: Scan, row: Row, cycles: int) -> int:
    """Issue slots that a copy takes again, for its passes or requests."""
    rules, needed = sm.machine.instruction_replay, row.words * sm.machine.limits.warp_size // 32
    again = max(0, cycles // sm.machine.global_memory.request_cycles - needed)
    return rules.request_slots * again if rules else 0


def more(sm: Scan, row: Row) -> int:
    """Cycles for which a copy keeps the unit besides its reads or passes: one that asks the L1 a cycle."""
    near = sm.machine.cache is not None and sm.machine.cache.hits == "l1"
    return int(row.copies and near)


def _places(warp: Warp, instruction: Instruction) -> Any:
    place = instruction.destination_in_shared()
    assert place is not None
    return warp.frame.registers[place.base.index, warp.index].astype(np.int64) * place.scale + place.offset


def _reads(warp: Warp, instruction: Instruction) -> Any:
    """Whether each lane reads, or writes zeros."""
    chosen = dict(instruction.slots()).get("Q")
    if not isinstance(chosen, Predicate):
        return np.ones(warp.frame.registers.shape[-1], np.bool_)
    return warp.frame.predicates[chosen.index, warp.index] != chosen.negated


def join(warp: Warp, access: Access) -> None:
    """A copy joins its warp's open group."""
    warp.copies.append((warp.closed, access))


def close(warp: Warp, instruction: Instruction) -> None:
    """An instruction of some lanes closes the group."""
    warp.closed += bool(instruction.row.grouping & CLOSES)


def waits(sm: Scan, warp: Warp) -> int:
    """The cycle from which few enough closed groups are under way for the next instruction."""
    instruction = sm.kernel.program.instructions[warp.pc]
    until = 0
    if awaits_all(sm.kernel.program, instruction):
        until = _done(warp, 0)
    if instruction.row.grouping & WAITS:
        most = next(o.bits for o in instruction.operands if isinstance(o, Immediate))
        until = max(until, _done(warp, most))
    return until


def _done(warp: Warp, most: int) -> int:
    return max((access.done for group, access in warp.copies if group < warp.closed - most), default=0)
