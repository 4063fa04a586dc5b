"""Pressure: for how many cycles each instruction keeps each resource of an SM from others.

Pressure sums what blocks execute, by the rules that the engines use; nothing is simulated. If the SM has several
instances of a resource, their cycles are divided by the number of instances: a warp instruction that keeps one of two
pipes for two cycles counts as one cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.chain.access_cost import AccessCost
from gpusim.engines.walks.profile import Profile
from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.pipes.pipe.declaration import instances, pipe_names
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.registers.register_file.declaration import register_bank, register_banks
from gpusim.sm.unit.capacities import UNITS_OF_MEMORY
from isa.kernel import Kernel
from isa.memory import LINE_BYTES, SECTOR_BYTES
from isa.row import Bulk
from isa.support import frozen
from isa.values.matrix.warpgroup import rows_read

Pipes = frozenset[int]  # by their index
SECTORS = LINE_BYTES // SECTOR_BYTES + 1  # of a piece, at most


@frozen.comparable
@dataclass(frozen=True)
class Work:
    """The work of a block, for `blocks` alike. Arrays have an entry per pc.

    `certain` counts warp instructions that do something.
    """

    kernel: Kernel
    machine: Machine
    numbers: Any
    resident: int
    program: Any
    profile: Profile
    certain: NDArray[np.int64]
    costs: Mapping[int, AccessCost]
    blocks: int = 1


@frozen.comparable
@dataclass(frozen=True)
class Pressure:
    """How long instructions keep a resource: `parts` by pc, each of `cycle` cycles."""

    parts: NDArray[np.int64]
    cycle: Fraction

    @property
    def cycles(self) -> Fraction:
        """Cycles of all instructions."""
        return self.within(range(len(self.parts)))

    def within(self, pcs: Sequence[int]) -> Fraction:
        """Return the cycles of some instructions."""
        return int(self.parts[list(pcs)].sum()) * self.cycle


@dataclass(frozen=True)
class Resource:
    """A resource of the SM, by the name of the limit that it sets, and the pressure on it.

    `after`: cycles of its use that may lie after the end of the SM's last block; below 0: as many lie before it.
    """

    name: str
    pressure: Pressure
    after: int = 0


def added(works: Sequence[Work], each: Iterable[Pressure], times: Fraction) -> Pressure:
    """Return the sum of the pressure of each work on one resource, by its blocks, and all `times` as much."""
    blocks = list(each)
    parts = [work.blocks * one.parts for work, one in zip(works, blocks, strict=True)]
    total: NDArray[np.int64] = np.sum(parts, axis=0)
    return Pressure(total, blocks[0].cycle * times)


def issue_slots(work: Work) -> Pressure:
    """Return the use of issue slots: each dispatch port issues once per interval, some DP alone in the whole SM.

    An instruction replay takes all ports of its scheduler's turn.
    """
    schedulers = work.machine.schedulers
    ports = schedulers.count * schedulers.dispatch_ports
    alone = work.program["double"][:-1] == 1 if work.numbers.exclusive else 0
    parts = work.profile.counts + (ports - 1) * alone * work.certain
    for pc, cost in work.costs.items():
        parts[pc] += schedulers.dispatch_ports * cost.replays
    return Pressure(parts, Fraction(schedulers.interval, ports))


def pipes(work: Work, group: Pipes) -> Pressure:
    """Return the use of some pipes: instructions that no other pipe takes, over the rate of all instances together."""
    only_here = np.array([bool(choice) and choice <= group for choice in choices(work)], np.bool_)
    names, intervals = pipe_names(work.machine), work.numbers.pipe_interval
    rate = sum(Fraction(instances(work.machine, names[index]), int(intervals[index])) for index in group)
    intervals = work.program["intervals"][:-1].astype(np.int64)
    columns = work.program["columns"][:-1].astype(np.int64)
    if columns.any():  # a warpgroup's product keeps the pipe of each of its warps
        intervals = np.where(columns > 0, -(-columns // work.numbers.product_columns), intervals)
    return Pressure(only_here * work.certain * intervals, Fraction(1) / rate)


def choices(work: Work) -> list[Pipes]:
    """Return by pc the pipes that may execute the instruction; of a warpgroup's products that of the tensor cores."""
    units, columns, tensor = work.numbers.units, work.program["columns"][:-1], int(work.numbers.tensor_pipe)
    found = [frozenset(units["choice"][u, : units["choices"][u]].tolist()) for u in work.program["unit"][:-1]]
    if tensor < 0 or not columns.any():
        return found
    return [frozenset({tensor}) if wide else pipes for wide, pipes in zip(columns, found, strict=True)]


def reads_of_banks(work: Work) -> list[Pressure]:
    """Return the reads of each register bank, per scheduler, on a machine whose operands may be late.

    Only registers of a thread that are never flagged for reuse count: those that a warp shares lie in no bank, and
    sources that one instruction may carry to the next do not count.
    """
    rows, own = work.program[:-1], work.kernel.program.registers
    kept = {register for row in rows for register in _flagged(row)}
    reads = np.zeros((register_banks(work.machine), len(rows)), np.int64)
    for pc, row in enumerate(rows):
        for register in set(row["read"][: row["reads"]].tolist()) - kept:
            if register < own:
                reads[register_bank(work.machine, register), pc] += work.certain[pc]
    return [Pressure(of_bank, Fraction(1, work.machine.schedulers.count)) for of_bank in reads]


def _flagged(row: Any) -> Iterator[int]:
    """Yield the registers that the reuse cache may keep from this instruction on."""
    for slot, (first, words) in enumerate(zip(row["source"].tolist(), row["source_words"].tolist(), strict=True)):
        if row["reuse"] >> slot & 1:
            yield from range(first, first + words)


def load_store_units(work: Work) -> list[Pressure]:
    """Return the use of the load/store unit: shared-memory passes, requests to global and local memory, others.

    An access that no lane makes may take it too. The second unit is that of shared memory or of constants, the third
    that of MATCH, unused on machines without one.
    """
    paths, places = work.program["path"][:-1], np.arange(len(work.certain))
    taken = np.zeros((UNITS_OF_MEMORY, len(work.certain)), np.int64)
    service, idles = (work.program[name][:-1].astype(np.int64) for name in ("service", "idles"))
    taken[paths, places] = work.certain * service + (work.profile.counts - work.certain) * idles
    for pc, cost in work.costs.items():
        goes_on = work.numbers.copy_cycles and work.kernel.program.instructions[pc].row.copies
        taken[paths[pc], pc] += cost.executions * int(work.numbers.copy_cycles) if goes_on else cost.cycles
    columns = work.program["columns"][:-1].astype(np.int64)
    if columns.any():
        taken[0] += work.certain // WARPS * _read_cycles(work, columns)
    return [Pressure(of_unit, Fraction(1)) for of_unit in taken]


def passes_with_copies(work: Work) -> Pressure:
    """Return the passes of copies and of the accesses behind them: the unit goes on, but they follow each other."""
    taken = np.zeros(len(work.certain), np.int64)
    for pc, cost in work.costs.items():
        if work.program["path"][pc] == 0 and work.program["service"][pc] == 0:
            taken[pc] = cost.cycles
    return Pressure(taken, Fraction(1))


def _read_cycles(work: Work, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cycles in which a warpgroup's product reads its matrices from shared memory, by pc; 0 of others."""
    products = work.program["product"][:-1].tolist()
    rows = np.array(list(map(rows_read, products, columns.tolist())), np.int64)
    return np.where(columns > 0, -(-rows // max(1, int(work.numbers.port_rows))), 0)


def memory_bandwidth(work: Work) -> Pressure:
    """Return the use of the channel that moves loaded, stored and fetched words."""
    parts = np.zeros(len(work.certain), np.int64)
    for pc, cost in work.costs.items():
        parts[pc] = cost.parts
    return Pressure(parts, Fraction(1, int(work.numbers.channel_parts)))


def copy_engine(work: Work) -> tuple[Pressure, Pressure]:
    """Return the use of the copy engine, which asks for pieces one after the other, and of the way that these come."""
    bulk, numbers = work.program["bulk"][:-1], work.numbers
    size, pieces = work.profile.copied
    sent = np.select([bulk == Bulk.STORE, bulk == Bulk.REDUCE], [int(numbers.engine_send), int(numbers.engine_reduce)])
    asked = np.where(sent, size * sent, pieces * (int(numbers.engine_ask) * SHARE_PARTS * SECTOR_BYTES))
    come = np.where(bulk == Bulk.LOAD, size * int(numbers.engine_load), 0)
    part = Fraction(1, SHARE_PARTS * SECTOR_BYTES)
    return Pressure(asked, part), Pressure(come, part)


def still_copied(work: Work) -> int:
    """Return the cycles for which both may still be busy with their last piece when that has come."""
    numbers = work.numbers
    longest = max(int(numbers.engine_load), int(numbers.engine_send), int(numbers.engine_reduce))
    return int(numbers.engine_ask) + -(-SECTORS * longest // SHARE_PARTS)
