"""What a launch moved, as tables: those of Nsight Compute by level and operation, then by buffer and instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gpusim.support.document import doc

TOTAL = "Total"

Rate = Annotated[float | None, doc("Hits over sectors, 0 to 1; null where there are none.")]
Each = Annotated[float | None, doc("Sectors for each request; null where there are none.")]
Sectors = Annotated[float, doc("Of 32 bytes.")]


@dataclass(frozen=True)
class FirstCache:
    """What the first cache on the way of an operation is asked for: a row of Nsight Compute's table L1/TEX Cache.

    Constants and scalars have a cache of their own, and are no part of the total.
    """

    operation: str
    instructions: Annotated[float, doc("Warp instructions issued.")]
    requests: Annotated[float, doc("Warp instructions that access memory.")]
    wavefronts: Annotated[float, doc("Passes.")]
    sectors: Sectors
    sectors_per_request: Each
    hit_rate: Rate
    bytes: Annotated[float, doc("Of the sectors.")]
    needed: Annotated[float, doc("Bytes that lanes access, those of a line that several access once.")]
    wasted: Annotated[float, doc("Bytes of the sectors that no lane needs.")]
    l2_sectors: Annotated[float, doc("Sectors that go to the L2, or come from there.")]


@dataclass(frozen=True)
class SharedMemory:
    """What an operation does in shared memory: a row of Nsight Compute's table Shared Memory."""

    operation: str
    instructions: Annotated[float, doc("Warp instructions issued.")]
    requests: Annotated[float, doc("Warp instructions that access it.")]
    wavefronts: Annotated[float, doc("Passes.")]
    bank_conflicts: Annotated[float, doc("Passes beyond those that widths need.")]


@dataclass(frozen=True)
class SecondCache:
    """What the L2 is asked for by an operation of the SMs: a row of Nsight Compute's table L2 Cache."""

    operation: str
    requests: Annotated[float, doc("Lines of which sectors are asked for, or sent.")]
    sectors: Sectors
    sectors_per_request: Each
    hit_rate: Rate
    bytes: Annotated[float, doc("Of the sectors.")]
    misses: Annotated[float, doc("Sectors that it asks the DRAM for.")]


@dataclass(frozen=True)
class DeviceMemory:
    """What the DRAM moves: a row of Nsight Compute's table Device Memory."""

    operation: str
    sectors: Sectors
    bytes: float
    gbs: Annotated[float, doc("10^9 bytes per second of the chip.")]
    percent: Annotated[float, doc("Of the time, that in which it is busy with these.")]


@dataclass(frozen=True)
class Accesses:
    """What the accesses of an instruction moved, or those to a buffer, at each level."""

    name: Annotated[str, doc("The buffer, or the instruction's text.")]
    sectors: Annotated[float, doc("That the first cache is asked for.")]
    hit_rate: Rate
    needed: Annotated[float, doc("Bytes that lanes access, those of a line that several access once.")]
    wasted: Annotated[float, doc("Bytes of the sectors that no lane needs.")]
    l2_sectors: Annotated[float, doc("That go to the L2, or come from there.")]
    l2_hit_rate: Rate
    dram_read: Annotated[float, doc("Sectors that come from the DRAM.")]
    dram_written: Annotated[float, doc("Sectors that go there.")]
    operation: Annotated[str, doc("Of an instruction: a row of the tables by level.")] = ""
    pc: Annotated[int, doc("Of an instruction; -1 of a buffer.")] = -1
    offset: Annotated[int, doc("Of an instruction of machine code, in bytes; else -1.")] = -1


@dataclass(frozen=True)
class MemoryTables:
    """What the whole launch moved: all are sums over one table of counts by instruction and place.

    Without tags (cache.hits) no cache says which lines it is asked for: then global memory is no buffer, but elsewhere.
    """

    tagged: Annotated[bool, doc("Caches keep tags.")]
    l1: Annotated[tuple[FirstCache, ...], doc("By operation, and the total of the L1.")]
    shared: Annotated[tuple[SharedMemory, ...], doc("By operation, and the total.")]
    l2: Annotated[tuple[SecondCache, ...], doc("By operation, and the total.")]
    dram: Annotated[tuple[DeviceMemory, ...], doc("Load, Store and the total.")]
    buffers: Annotated[tuple[Accesses, ...], doc("By buffer, local memory, and what is elsewhere.")]
    instructions: Annotated[tuple[Accesses, ...], doc("By instruction.")]
