"""What a machine file may say of memory: its queues, shared memory, caches and DRAM; see gpusim/machine/schema.py."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gpusim.machine.capacities import QUEUE

MOST = 1_000_000_000  # products of two such numbers stay within 64 bits
Positive = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Flag = Literal[0, 1]
# What each part of an access costs: those of all lanes, and of their turns, stay within the 32 bits that are recorded.
PassCycles = Annotated[int, msgspec.Meta(ge=1, le=1000)]
RequestCycles = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Late = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class Memory(msgspec.Struct, frozen=True):
    """How much of the DRAM's bandwidth arrives; all of it where this is left out."""

    efficiency: Annotated[
        int, msgspec.Meta(ge=100, le=1000)
    ]  # thousandths of `chip.dram_mbs` that a stream of reads gets
    ecc: Flag  # 1: memory is protected against errors at the cost of bandwidth
    ecc_cost: Annotated[int, msgspec.Meta(ge=1, le=500)]  # thousandths of what would arrive without


class MemoryClock(msgspec.Struct, frozen=True):
    """What lies behind the L2 keeps time: its share of `global_memory.latency` follows the shader clock."""

    mhz: Positive  # MHz of the shader clock at which that latency was measured


class SharedMemory(msgspec.Struct, frozen=True):
    """Shared memory: a pass is one trip through its data path."""

    rule: Literal["fermi", "gt200", "kepler", "volta", "gcn"]  # how addresses become passes
    banks: Literal[4, 8, 16, 32, 64, 128]  # banks of shared memory
    bank_bytes: Literal[4, 8]  # bytes side by side in one bank; 8 is Kepler's 64-bit mode
    pass_cycles: PassCycles  # cycles of a pass
    passes_per_cycle: Positive  # passes of an access in one cycle, at most; beyond 1 a pass takes no longer
    merge_halves: Flag  # 1: a 128-bit access serves two half-warps with the same addresses together
    latency_32: Positive  # RAW cycles of a load of this width, with as many passes as are free
    latency_64: Positive
    latency_128: Positive
    free_passes_32: Positive  # passes already inside that latency; each further one adds pass_cycles
    free_passes_64: Positive
    free_passes_128: Positive
    war_32: Count  # cycles from service until the instruction's source registers may be overwritten
    war_64: Count
    war_128: Count


class WaitCounters(msgspec.Struct, frozen=True):
    """GCN's counts of a warp's accesses under way, for which programs wait; no scoreboard holds what these load.

    An access that would raise a count above its largest waits.
    """

    vector: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest vmcnt: global and local memory
    shared: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest lgkmcnt: shared memory


class ScalarFile(msgspec.Struct, frozen=True):
    """GCN's scalar registers, which the lanes of a warp have in common; without this section there are none."""

    registers: Positive  # 32-bit scalar registers of each scheduler
    unit: Positive  # a warp's are allocated in multiples of this
    per_warp: Annotated[int, msgspec.Meta(ge=1, le=102)]  # registers that a warp may use, beside VCC


class Outstanding(msgspec.Struct, frozen=True):
    """Accesses of one warp under way, at most; a further one waits until enough of those before it are back."""

    vector: Annotated[int, msgspec.Meta(ge=1, le=63)]  # accesses to global and local memory
    shared: Annotated[int, msgspec.Meta(ge=1, le=63)]  # accesses to shared memory


class WhatIf(msgspec.Struct, frozen=True):
    """What no chip does: limits lifted, to learn what they cost. No machine file has it; `gpusim limits` sets it."""

    # Who shares a pass, `banks` unless set; one-pass: all lanes, all words.
    shared_memory: Literal["banks", "conflict-free", "one-pass"] = "banks"
    # `wait` unless set; pass: nobody waits at a barrier, and values are wrong where one was needed.
    barriers: Literal["wait", "pass"] = "wait"


class LoadStore(msgspec.Struct, frozen=True):
    """The load/store units' instruction queue."""

    queue: Annotated[int, msgspec.Meta(ge=1, le=QUEUE)]  # warp instructions; each scheduler's with memory ports


class InstructionReplay(msgspec.Struct, frozen=True):
    """Issue slots that an access takes again beyond what its width needs without conflicts."""

    pass_slots: Count  # slots for each pass beyond the free ones through shared memory
    request_slots: Count  # slots for each request to global memory beyond one for each word of a lane


class MemoryPort(msgspec.Struct, frozen=True):
    """Each scheduler's own queue of memory instructions, and its port to the load/store unit, which takes turns."""

    units: str  # unit classes that go this way too: an instruction takes the unit for its pipe's initiation interval
    cycles: Positive  # cycles of the port, for each cycle of the load/store unit
    store_32: Positive  # least cycles of the port for a store of this width to shared or local memory
    store_64: Positive
    store_128: Positive
    global_store: Positive  # least cycles of the port for a store to global memory
    late_cycles: PassCycles  # cycles that each pass beyond the free ones adds to a load's latency from shared memory
    early_64: Count  # cycles by which the result of a load of fewer than the free passes comes earlier
    early_128: Count
    war_store: Count  # cycles from service until the source registers of a store may be overwritten
    war_global_store: Count  # the same cycles of a store to global memory
    held: Count  # cycles from service for which the instruction keeps its place in the queue


class MemoryPaths(msgspec.Struct, frozen=True):
    """GCN: shared memory apart from other memory, each with queues and a unit of its own; not beside memory ports.

    The queues' ports let an instruction into its unit so many cycles after the one before. Those to shared memory serve
    neighbouring schedulers together, those to global and local memory one scheduler each.
    """

    schedulers: Positive  # schedulers that share a port to shared memory
    shared_load: Positive  # cycles of the port for each cycle that a load from shared memory takes the unit
    shared_store_32: Positive  # cycles of the port for a store of this width, at least; and as loads
    shared_store_64: Positive
    shared_store_128: Positive
    load_32: Positive  # cycles of the port for a load of this width from global or local memory
    load_64: Positive
    load_128: Positive
    store: Positive  # cycles of the port for a store to global or local memory


class SharedAtomic(msgspec.Struct, frozen=True):
    """Atomics on shared memory whose lanes go one by one in each bank: additions but of 1 without result, and swaps."""

    port: Positive  # least cycles of the port
    war: Count  # cycles from service until the source registers may be overwritten
    add_turns: PassCycles  # passes for each lane of an addition
    add_latency: Positive  # cycles to the old value, with as many passes as are free for a 32-bit load
    swap_turns: PassCycles  # passes for each lane of a compare and swap
    swap_latency: Positive  # cycles to the old value, likewise


class GlobalMemory(msgspec.Struct, frozen=True):
    """Everything behind the SM."""

    rule: Literal["fermi", "gt200", "sectors"]  # how addresses become transactions
    line_bytes: Positive  # bytes of a line, or of the largest segment
    latency: Positive  # cycles of an access
    request_cycles: RequestCycles  # cycles of the load/store units per transaction
    war: Count  # cycles from service until the instruction's source registers may be overwritten


class Cache(msgspec.Struct, frozen=True):
    """Where loads from global memory hit a cache, and what such a load takes."""

    hits: Literal["none", "l1", "l2", "tags"]  # all of a launch's alike; or as the tags of [l1] and [l2] say
    l1_latency_32: Positive  # cycles of a load of this width that hits the L1, one request
    l1_latency_64: Positive
    l1_latency_128: Positive
    l1_late: Late  # further cycles for each request to the L1 beyond the first
    l2_latency_32: Positive  # cycles of a load of this width that hits the L2, one request
    l2_latency_64: Positive
    l2_latency_128: Positive
    l2_late: Late  # further cycles for each request to the L2 beyond the first
    l2_sector_parts: Positive  # 1/64 cycles of the SM's channel to the L2 for each sector


class NearCache(msgspec.Struct, frozen=True):
    """The SM's L1 cache, as its tags are kept; a line is global memory's."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    misses: Annotated[int, msgspec.Meta(ge=1, le=4096)]  # lines asked for and not there yet, at most
    global_loads: Flag  # 1: loads from global memory look here; 0: local memory's alone
    global_stores: Literal["evict", "update"]  # what a store, which goes through, does to a line that is here
    local_stores: Literal["back", "through"]  # they stay until they must make room, or go through


class FarCache(msgspec.Struct, frozen=True):
    """The chip's L2 cache, as its tags are kept; what is stored stays until it must make room."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set


class Partition(msgspec.Struct, frozen=True):
    """The part of the L2 near an SM, which its loads ask first and fill; what it misses is in the rest, or behind."""

    bytes: Positive  # bytes that it holds; `l2.bytes` are so many, once or several times
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    late: Count  # further cycles of a load that hits the L2, but not here


class ReadCache(msgspec.Struct, frozen=True):
    """A cache of the SM that is only read, as its tags are kept; what it misses comes from the L2."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    latency: Positive  # cycles of a hit


class ConstantCache(msgspec.Struct, frozen=True):
    """Where constant loads go: all hit, unless tags are kept. Distinct words are read one after the other."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    latency: Positive  # cycles of a hit
    request_cycles: RequestCycles  # cycles of the load/store units for each distinct word


Kept = NearCache | FarCache | Partition | ReadCache | ConstantCache  # caches that keep tags


class LocalMemory(msgspec.Struct, frozen=True):
    """Local memory that hits the L1 cache."""

    latency: Positive  # cycles of an access
    request_cycles: RequestCycles  # cycles of the load/store units per transaction


class Texture(msgspec.Struct, frozen=True):
    """The texture path."""

    pipe: str  # a pipe, or several, as a unit class's
    latency: Positive  # cycles of a fetch
