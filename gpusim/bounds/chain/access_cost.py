"""Costs of a program's memory accesses on a machine, by the rules of the load/store unit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpusim.bounds.chain.noted_reads import NotedReads, known_by
from gpusim.engines.walks.profile import Pattern, Profile
from gpusim.sm.memory.cache.declaration import FAR, NEAR
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.memory_access import access_cost
from gpusim.sm.pipes.instruction_replay import instruction_replay
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.records import MachineNumbers, Records, Row, Sm
from gpusim.sm.state.room import made, sizes
from gpusim.sm.state.unpacked import unpacked, unpacked_rows
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.dimensions import BANK
from gpusim.sm.unit.opcodes import FETCH, LOAD, SHARED_MEMORY


@dataclass(frozen=True, slots=True)
class AccessCost:
    """Cost of one memory instruction, or texture fetch, over a block; minima and maxima are over its executions."""

    executions: int  # warp instructions with an active lane
    cycles: int  # of the load/store unit, all executions
    transactions: int  # of global memory, all executions
    parts: int  # of a cycle that they occupy the memory channel
    shortest: int  # least cycles of the unit in one execution
    delay: int  # least cycles from service (of a fetch, issue) to the result of a load; stores: as `shortest`
    early: int  # most cycles by which a result precedes the end of its service
    hold: int  # cycles from service until the source registers may be overwritten
    replays: int  # issue slots taken again, all executions
    passes: int  # through shared memory, all executions
    conflicts: int  # of these, those beyond what the width needs


KIND = (  # what a pattern's cost depends on, of the instruction
    "unit", "width", "action", "turns", "packets", "through_l1", "memory_kind", "words", "distinct", "later", "pipe",
    "generic", "matrices", "access_bytes", "latency", "local_latency", "shared_latency", "near_turns",
)  # fmt: skip
Seen = dict[Hashable, SimpleNamespace]
MACHINES, PATTERNS = 8, 4096  # that are kept, and most of one
_KEPT: dict[Hashable, Seen] = {}


def costs(numbers: MachineNumbers, program: Records[Row], profile: Profile, seen: Seen) -> Mapping[int, AccessCost]:
    """Return the cost of each memory instruction that executed, by pc; `seen` keeps the costs of address patterns.

    `numbers` and `program` are those of a launch, as records; nothing in them is changed.
    """
    machine, (scratch,) = unpacked(numbers), made("scratch", 1, sizes({BANK: int(numbers.banks)}))
    scratch = unpacked(scratch)
    # What the rules need of an SM.
    alone = SimpleNamespace(cluster=1)  # of the blocks of a cluster one is looked at
    ground: Any = SimpleNamespace(machine=machine, scratch=scratch, launch=alone, load_store=SimpleNamespace())
    noting: Any = SimpleNamespace(machine=NotedReads(**vars(machine)), scratch=scratch, launch=alone)
    if not seen:
        seen.update(_KEPT.get(known_by(machine), {}))
    active = {pc: [p for p in patterns if p.active.any()] for pc, patterns in profile.accesses.items()}
    accessed = [pc for pc, patterns in active.items() if patterns]
    rows = unpacked_rows(program[accessed])
    each = [[_of_pattern(noting, row, p, seen) for p in active[pc]] for pc, row in zip(accessed, rows, strict=True)]
    _keep(known_by(machine), seen)
    return {pc: _cost(ground, row, active[pc], own) for pc, row, own in zip(accessed, rows, each, strict=True)}


def _keep(key: Hashable, seen: Seen) -> None:
    """Keep the costs of patterns for further points of a sweep, on few machines at a time."""
    _KEPT.pop(key, None)
    while len(_KEPT) >= MACHINES:
        _KEPT.pop(next(iter(_KEPT)))
    if len(seen) <= PATTERNS:
        _KEPT[key] = dict(seen)


def _cost(sm: Sm, row: Row, patterns: list[Pattern], each: list[SimpleNamespace]) -> AccessCost:
    delays = [_delay(sm, row, one) for one in each]
    again = [instruction_replay.slots(sm.machine, row, one.undivided) for one in each]
    return AccessCost(
        executions=sum(p.count for p in patterns),
        cycles=sum(p.count * one.cycles for p, one in zip(patterns, each, strict=True)),
        transactions=sum(p.count * one.transactions for p, one in zip(patterns, each, strict=True)),
        parts=sum(p.count * one.parts for p, one in zip(patterns, each, strict=True)),
        shortest=min(one.cycles for one in each),
        delay=min(delays),
        early=max(max(0, one.cycles - delay) for one, delay in zip(each, delays, strict=True)),
        hold=max(1, row.war),
        replays=sum(p.count * slots for p, slots in zip(patterns, again, strict=True)),
        passes=sum(p.count * one.passes for p, one in zip(patterns, each, strict=True)),
        conflicts=sum(p.count * one.conflicts for p, one in zip(patterns, each, strict=True)),
    )


def _of_pattern(sm: Sm, row: Row, pattern: Pattern, seen: Seen) -> SimpleNamespace:
    key = (*map(getattr, repeat(row), KIND), pattern.addresses.tobytes(), pattern.active.tobytes())
    if key not in seen:
        parts = [_of_group(sm, row, pattern, first) for first in range(0, len(pattern.active), LANES)]
        undivided, transactions, extra, near = (sum(part[i] for part in parts) for i in range(4))
        seen[key] = SimpleNamespace(
            cycles=access_cost.service(sm.machine, row, undivided),
            extra=extra if row.generic else access_cost.extra(sm.machine, row, undivided),
            near=near,
            transactions=transactions,
            parts=transactions * _each(sm.machine, row),
            undivided=undivided,
            passes=undivided // sm.machine.pass_cycles if row.memory_kind == SHARED_MEMORY else 0,
            conflicts=instruction_replay.beyond(sm.machine, row, undivided) if row.memory_kind == SHARED_MEMORY else 0,
        )
    return seen[key]


def _each(machine: MachineNumbers, row: Row) -> int:
    """Return the parts of a cycle for which a transaction of an access or a fetch occupies the channel."""
    return machine.fetch_cost if row.action == FETCH else global_memory.each_cost(machine, row)


def _of_group(sm: Sm, row: Row, pattern: Pattern, first: int) -> tuple[int, int, int, int]:
    """Return the cycles of the unit and the transactions of the lane group that begins with that lane.

    Of generic addresses, which have one group, the cycles on top of the latency follow, and those to the near results.
    """
    lanes = slice(first, first + LANES)
    into: Any = SimpleNamespace(cycles=0, transactions=0, extra=0, near=0)  # what the rules need of an outcome
    active = sum(1 << int(lane) for lane in np.flatnonzero(pattern.active[lanes]))
    if active:
        sm.scratch.address = pattern.addresses[lanes].tolist()
        cost = access_cost.generic_cost if row.generic else access_cost.cost
        cost(sm, row, into, active)
    return into.cycles, into.transactions, into.extra, into.near


def _delay(sm: Sm, row: Row, cost: SimpleNamespace) -> int:
    """Return the least cycles from service to a load's result, or until a store has left, alone in the SM."""
    sm.load_store.channel = 0
    if row.action == FETCH:
        return int(row.latency + -(-cost.parts // sm.machine.channel_parts))
    if row.action == LOAD and row.cached in (1 + NEAR, 1 + FAR):  # a miss may be faster than a hit
        near = sm.machine.far_latency[row.far] - sm.machine.slice_spread
        fastest = min(row.latency, sm.machine.memory_latency, near)
        row = copy(row)
        row.latency = fastest
        if sm.machine.near_lines and row.through_l1:  # a line that it looks up early may be the last that comes
            cost = SimpleNamespace(**{**vars(cost), "extra": 0})
    entry: Any = cost  # it has what the rule needs of one
    return int(load_store.result_at(sm, row, entry, 0))
