"""The account of memory as the tables of gpusim/views/timeline/memory_tables.py: sums, and rates of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpusim.analysis.account.memory.operations import at_l2, operation
from gpusim.analysis.account.rates.memory_rates import dram_parts
from gpusim.machine.machine import seconds
from gpusim.simulation.memory_account import MemoryAccount, Moved
from gpusim.simulation.result import Result
from gpusim.sm.memory.account.declaration import SHARED
from gpusim.views.timeline.memory_tables import (
    TOTAL,
    Accesses,
    DeviceMemory,
    FirstCache,
    MemoryTables,
    SecondCache,
    SharedMemory,
)
from isa.memory import SECTOR_BYTES
from isa.text.printer import text_of

Pcs = Sequence[int]
Groups = dict[str, list[int]]


def tables(result: Result) -> MemoryTables:
    """Return the tables of a launch."""
    account = result.memory
    return MemoryTables(
        tagged=account.tagged,
        l1=tuple(_l1(result, account)),
        shared=tuple(_shared(result, account)),
        l2=tuple(_l2(account)),
        dram=tuple(_dram(result, account.whole)),
        buffers=tuple(_buffers(account)),
        instructions=tuple(_instructions(account)),
    )


def accesses(name: str, moved: Moved, **rest: object) -> Accesses:
    """Return what accesses moved at each level, as a row with that name."""
    return Accesses(
        name=name,
        sectors=moved.sectors,
        hit_rate=moved.hit_rate,
        needed=moved.needed,
        wasted=moved.wasted,
        l2_sectors=moved.l2_sectors,
        l2_hit_rate=moved.l2_hit_rate,
        dram_read=moved.dram_read,
        dram_written=moved.dram_written,
        **rest,  # type: ignore[arg-type]
    )


def _grouped(account: MemoryAccount, places: Sequence[int]) -> Groups:
    """Return the instructions that access these places, by operation."""
    found: Groups = {}
    rows = account.kernel.program.instructions
    for pc in account.pcs:
        if account.of([pc], places).requests:
            found.setdefault(operation(rows[pc].row), []).append(pc)
    return found


def _issued(result: Result, account: MemoryAccount, pcs: Pcs) -> float:
    return account.times * int(result.run.issued[list(pcs)].sum())


def _l1(result: Result, account: MemoryAccount) -> Iterator[FirstCache]:
    constants = len(account.places) - 1
    groups, apart = _grouped(account, account.far), _grouped(account, [constants])
    yield from (_first(result, account, name, pcs, account.far) for name, pcs in groups.items())
    if groups:
        whole = [pc for pcs in groups.values() for pc in pcs]
        yield _first(result, account, TOTAL, whole, account.far)
    yield from (_first(result, account, name, pcs, [constants]) for name, pcs in apart.items())


def _first(result: Result, account: MemoryAccount, name: str, pcs: Pcs, places: Sequence[int]) -> FirstCache:
    moved = account.of(pcs, places)
    return FirstCache(
        operation=name,
        instructions=_issued(result, account, pcs),
        requests=moved.requests,
        wavefronts=moved.wavefronts,
        sectors=moved.sectors,
        sectors_per_request=_each(moved.sectors, moved.requests),
        hit_rate=moved.hit_rate,
        bytes=moved.bytes,
        needed=moved.needed,
        wasted=moved.wasted,
        l2_sectors=moved.l2_sectors,
    )


def _shared(result: Result, account: MemoryAccount) -> Iterator[SharedMemory]:
    groups = _grouped(account, [SHARED])
    for name, pcs in (*groups.items(), *([(TOTAL, [pc for some in groups.values() for pc in some])] if groups else [])):
        moved = account.of(pcs, [SHARED])
        issued = _issued(result, account, pcs)
        yield SharedMemory(name.replace("Global", "Shared"), issued, moved.requests, moved.wavefronts, moved.conflicts)


def _l2(account: MemoryAccount) -> Iterator[SecondCache]:
    """Yield the rows of the L2: what an instruction stores there counts as stored, also if a load evicts it."""
    rows, groups = account.kernel.program.instructions, Groups()
    for pc in account.pcs:
        groups.setdefault(at_l2(rows[pc].row), []).append(pc)
    every = {name: account.of(pcs) for name, pcs in groups.items()}
    yield from (_second(name, moved) for name, moved in every.items() if moved.l2_sectors)
    whole = account.whole
    if whole.l2_sectors:
        yield _second(TOTAL, whole)


def _second(name: str, moved: Moved) -> SecondCache:
    each, size = _each(moved.l2_sectors, moved.l2_requests), SECTOR_BYTES * moved.l2_sectors
    return SecondCache(name, moved.l2_requests, moved.l2_sectors, each, moved.l2_hit_rate, size, moved.l2_misses)


def _dram(result: Result, moved: Moved) -> Iterator[DeviceMemory]:
    time, (read, written) = seconds(result.machine, result.cycles), dram_parts(result)
    rows = (
        ("Load", moved.dram_read, read),
        ("Store", moved.dram_written, written),
        (TOTAL, moved.dram, read + written),
    )
    for name, sectors, busy in rows:
        yield DeviceMemory(name, sectors, SECTOR_BYTES * sectors, SECTOR_BYTES * sectors / time / 1e9, 100 * busy)


def _buffers(account: MemoryAccount) -> Iterator[Accesses]:
    for place, name in enumerate(account.places):
        moved = account.of(places=[place])
        if place in account.far and (moved.sectors or moved.l2_sectors or moved.dram):
            yield accesses(name, moved)


def _instructions(account: MemoryAccount) -> Iterator[Accesses]:
    program = account.kernel.program
    for pc in account.pcs:
        moved, one = account.of([pc], account.far), program.instructions[pc]
        if moved.sectors or moved.l2_sectors or moved.dram:
            offset = program.offset(pc)
            yield accesses(text_of(program, pc), moved, operation=operation(one.row), pc=pc, offset=offset)


def _each(sectors: float, requests: float) -> float | None:
    return sectors / requests if requests else None
