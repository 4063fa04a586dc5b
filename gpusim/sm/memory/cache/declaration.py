"""Caches: where accesses hit, what they hold, and what misses take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import accesses, asks, loads_from, looks, looks_up_banks
from gpusim.sm.unit.capacities import LANES, REQUESTS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import LOAD, STORE
from gpusim.sm.unit.ranges import Count, Flag, Late, Positive, RequestCycles
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Address
from isa.row import Unit as UnitClass

Replacement = Literal["lru", "fifo", "random"]  # which line of a full set makes room


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
    """The SM's L1 cache with tags; a line is global memory's."""

    bytes: Positive  # bytes that it holds, with `carveouts` together with shared memory
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    misses: Annotated[int, msgspec.Meta(ge=1, le=4096)]  # MSHRs: lines on their way, at most
    global_loads: Flag  # 1: loads from global memory look here; 0: local memory's alone
    global_stores: Literal["evict", "update"]  # what a store, which goes through, does to a line that is here
    local_stores: Literal["back", "through", "copied"]  # they stay until they must make room, go through, or do both
    joined: Count = 0  # cycles from one load that waits for a line on its way to the next: they get it in turn
    lines_per_cycle: Count = 0  # lines looked up in a cycle, of a load whose words lie in banks of their own; 0: one
    least_cycles: Positive = 1  # cycles in which such a load gets 32 words, at least
    hashed: Flag = 0  # 1: the sum of the digits of a line's number, in base of the sets, says its set; 0: the last one
    carveouts: str = ""  # KB that shared memory takes of `bytes`, the smallest that holds the resident blocks
    replacement: Replacement = "lru"  # the line used longest ago makes room, that which came first, or any
    roomy: Count = 0  # thousands of bytes (KB) up to which it takes room for more blocks than are resident


class FarCache(msgspec.Struct, frozen=True):
    """The chip's L2 cache with tags; stored data stays until it is evicted."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    replacement: Replacement = "lru"  # the line used longest ago makes room, that which came first, or any
    keeps_bytes: Count = 0  # most bytes that a wave uses and of which the next one finds all; 0: `bytes`
    loses_bytes: Count = 0  # bytes of which it finds nothing, between them in proportion; 0: `bytes`
    left_bytes: Count = 0  # bytes that a launch touches of which one like it finds half; 0: as `keeps_bytes` says
    left_spread: Positive = 1  # standard deviation of these: sets get lines unevenly, and lose those of one too many
    dirty_keeps_bytes: Count = 0  # most bytes that a launch stores to and that wait there for later launches
    dirty_loses_bytes: Count = 0  # bytes of which all go on, in proportion between; 0, or no keeps_bytes: none
    filled: Flag = 0  # 1: when a launch begins it holds the kernel's buffers, the last ones of those that don't fit


class Partition(msgspec.Struct, frozen=True):
    """The part of the L2 near an SM, which its loads ask first and fill; it misses into the rest, or behind."""

    bytes: Positive  # bytes that it holds; `l2.bytes` are so many, once or several times
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    late: Count  # further cycles of a load that hits the L2, but not here
    replacement: Replacement = "lru"  # the line used longest ago makes room, that which came first, or any


class ReadCache(msgspec.Struct, frozen=True):
    """A read-only cache of the SM with tags; it misses into the L2."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    latency: Positive  # cycles of a hit
    replacement: Replacement = "lru"  # the line used longest ago makes room, that which came first, or any


class ConstantCache(msgspec.Struct, frozen=True):
    """Where constant loads go: all hit, unless tags are kept. Distinct words are read one after the other."""

    bytes: Positive  # bytes that it holds
    sector_bytes: Positive  # bytes that a miss brings
    ways: Positive  # lines of one set
    latency: Positive  # cycles of a hit
    request_cycles: RequestCycles  # cycles of the load/store units for each distinct word
    replacement: Replacement = "lru"  # the line used longest ago makes room, that which came first, or any
    next_latency: Count = 0  # tags: cycles of a miss that the next cache has; 0: there is none
    next_bytes: Positive = 1  # bytes that come to the next cache together; it has the parameters when a launch begins
    in_series: Flag = 0  # tags: 1: sectors of a load come one after the other, and the unit waits for the last request


Kept = NearCache | FarCache | Partition | ReadCache | ConstantCache  # caches that keep tags
HITS = ("none", "l1", "l2", "tags")
MEMORY, L1, L2, TAGS = range(len(HITS))
REPLACEMENTS = "lru", "fifo", "random"
LRU, FIFO, RANDOM = range(len(REPLACEMENTS))
LOCAL_STORES = "through", "back", "copied"
THROUGH, BACK, COPIED = range(len(LOCAL_STORES))
# Caches that keep tags: the L1, the L2, the partition near the SM, and three that are only read.
NEAR, FAR, PARTITION, TEXTURES, SCALARS, CONSTANTS = range(6)
PARAMETERS = 0  # constant bank of a launch's parameters
SHARE_PARTS = 64  # of a cycle, in which an SM's share of a channel is reckoned; of n shares together, 64 n
REQUEST_ROW = 2 * REQUESTS  # words that a queue entry's requests take
SECTORS = 16  # of a line, at most
WAY_HEAD = 3  # words of a cache's way in front of those of its units


def tagged(machine: Machine) -> bool:
    """Tell whether the tags of its caches say what hits."""
    return machine.cache is not None and machine.cache.hits == "tags"


def untagged(machine: Machine) -> bool:
    """Tell the opposite: then nothing of what caches hold, and of what waits for it, changes."""
    return not tagged(machine)


def memory_latency(machine: Machine) -> int:
    """Cycles of a load that misses all caches, at the machine's clock: those of an L2 hit, and a time behind it."""
    latency, clock = machine.global_memory.latency, machine.memory_clock
    near = min(latency, machine.cache.l2_latency_32 if machine.cache else 0)
    return int(near + (latency - near) * machine.chip.shader_mhz // clock.mhz if clock else latency)


NO_TAGS = "no cache keeps tags (cache.hits is not tags)"
NO_ASKER = "no access of {kernel} asks it"


def _loads_global(given: Any) -> bool:
    """Tell whether anything is loaded from global memory, to registers or to shared memory."""
    return given.does(LOAD, unit=UnitClass.GLOBAL) or bool((given.rows["copies"] > 0).any())


def _near(given: Any) -> bool:
    """The L1 is asked by loads, and looked at by stores."""
    stores = given.does(STORE, unit=UnitClass.GLOBAL) or given.does(STORE, unit=UnitClass.LOCAL)
    return bool(given.levels["sets"][NEAR]) and given.cached and (stores or asks(NEAR)(given))


def _looked_up(given: Any) -> bool:
    """Loads look up their lines in the L1, and where it has a tag stage stores do, too."""
    return bool(given.rows["through_l1"].any()) or bool(given.record.tag_stages and _near(given))


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Which cache loads hit, and what misses take where tags are kept."""
    cache = machine.cache
    if machine.l1:
        packed.near_lines, packed.joined = machine.l1.lines_per_cycle, machine.l1.joined
    packed.near_least = machine.l1.least_cycles if machine.l1 else 1
    if cache and cache.hits != "none":
        packed.hits, packed.hit_late = HITS.index(cache.hits), _late(machine, cache)
    if cache and tagged(machine):
        packed.far_latency[:3] = cache.l2_latency_32, cache.l2_latency_64, cache.l2_latency_128
        packed.far_late, packed.memory_latency = cache.l2_late, memory_latency(machine)
        packed.partition_late = machine.l2_partition.late if machine.l2_partition else 0
        _pack_read(packed, machine, cache)
        if machine.l1:
            packed.misses = machine.l1.misses
            packed.drops_stored = machine.l1.global_stores == "evict"
            packed.keeps_stores = LOCAL_STORES.index(machine.l1.local_stores)


def _pack_read(packed: MachineNumbers, machine: Machine, cache: Cache) -> None:
    """The caches that are only read."""
    kept = {TEXTURES: machine.texture_cache, SCALARS: machine.scalar_cache, CONSTANTS: machine.constant_cache}
    for which, one in kept.items():
        packed.read_latency[which] = one.latency if one else 0
        packed.read_far[which] = cache.l2_latency_32
    if machine.constant_cache:
        packed.in_series = machine.constant_cache.in_series
        packed.next_constants = machine.constant_cache.next_latency
        packed.next_lines = max(1, machine.constant_cache.next_bytes // machine.global_memory.line_bytes)
    packed.read_far[SCALARS] = machine.unit[UnitClass.SMEM].latency if UnitClass.SMEM in machine.unit else 0


def _late(machine: Machine, cache: Cache) -> int:
    """Return the cycles that each request beyond the first adds to a load that hits the first cache asked."""
    if cache.hits == "l1" or (tagged(machine) and machine.l1 and machine.l1.global_loads):
        return cache.l1_late
    return cache.l2_late


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """Tell whether a load comes through the L1, and whether a constant load reads the parameters."""
    form = instruction.row
    loads = form.unit is UnitClass.GLOBAL and form.is_load and form.update is None and not form.bypasses
    first = machine.l1 is not None and machine.l1.global_loads and tagged(machine)
    row["through_l1"] = loads and (first or (machine.cache is not None and machine.cache.hits == "l1"))
    row["anew"] = form.anew
    if instruction.row.unit is UnitClass.CONSTANT and machine.constant_cache:
        banks = [o.bank for o in instruction.operands if isinstance(o, Address)]
        row["parameters"] = any(bank is not None and bank.bank == PARAMETERS for bank in banks)


UNIT = Declaration(
    "cache",
    fields={
        "machine": (
            field("hits", "index into HITS: the cache that loads from global memory hit"),
            field("hit_late", "cycles that each request beyond the first adds to their latency"),
            field(
                "far_latency", "tags: of a hit in the L2, widths 32, 64, 128; of copies, and of those past the L1", 7
            ),
            field("far_late", "what each request beyond the first adds to it"),
            field("partition_late", "what that takes longer beyond the partition near the SM"),
            field("memory_latency", "tags: of a load that both caches miss"),
            field("read_latency", "of a hit in each cache that is only read", 6),
            field("read_far", "tags: of a hit in the L2 behind it", 6),
            field("next_constants", "of a constant that the next cache has; 0: none"),
            field("in_series", "1: sectors of a constant load come one after the other"),
            field("next_lines", "lines that come to it together"),
            field("joined", "cycles from one load that waits for a line to the next"),
            field("near_least", "cycles in which the L1 delivers 32 words then, at least"),
            field("near_lines", "lines that the L1 looks up in a cycle, if banks say how long a load takes; else 0"),
            field("misses", "lines that the L1 waits for at once"),
            field("drops_stored", "1: the L1 drops a line that is stored to globally"),
            field("keeps_stores", "what is stored locally: 1 stays in the L1, 2 does so, and goes through"),
        ),
        "row": (
            field("cached", "the cache it asks first, counted from 1; 0: none keeps tags of it", kind="i1"),
            field("distinct", "load/store cycles for each distinct word or value, 0: others say", kind="i4"),
            field("later", "cycles by which each further one makes its result later", kind="i4"),
            field("through_l1", "1: a load whose data comes through the L1", kind="i1"),
            field("anew", "1: a load that takes nothing that the L1 holds", kind="i1"),
            field("parameters", "1: it reads the bank with the parameters", kind="i1"),
        ),
        "load_store": (
            field(
                "waited", "cycles for which the last access held the unit until a line was back", role=Role.UNCOMPARED
            ),
            field("arrived", "when the last line asked for is there", role=Role.UNCOMPARED, parts=(1,)),
        ),
        "scratch": (field("touched", "of each line that is asked for, the bytes of each sector", REQUESTS, SECTORS),),
        "cache": (
            field("first", "word with the number of uses, behind which its ways lie"),
            field("sets", "0: there is no such cache"),
            field("hashed", "1: all digits of a line's number, in base `sets`, say its set; 0: the last one"),
            field("ways", "of a set"),
            field("replacement", "index into REPLACEMENTS: which line of a full set makes room"),
            field("stride", "words of a way"),
            field("sector", "parts of 32 bytes that come together"),
        ),
        "launch": (
            field("cache_word", "where what caches keep begins in the memory array"),
            field("cache_end", "where that ends"),
            field("requests", "word in there of the first queue entry's requests"),
            field("misses", "word of the first of the times when lines on their way are there"),
            field("caches", "by their numbers (gpusim.sm.memory.cache.declaration)", 6, kind="cache"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "cache.*_late",
            "hit_late",
            _loads_global,
            "{kernel} loads nothing from global memory",
        ),
        Condition(
            "cache.l1_*",
            "",
            lambda g: g.machine.cache is None or g.machine.cache.hits in ("l1", "tags"),
            "no load hits the L1 (cache.hits)",
        ),
        Condition(
            "cache.l2_*",
            "",
            lambda g: g.machine.cache is None or g.machine.cache.hits in ("l2", "tags"),
            "no load hits the L2 (cache.hits)",
        ),
        Condition("cache.*", "", _loads_global, "{kernel} loads nothing from global memory"),
        Condition(
            "l1.* l2.* l2_partition.* texture_cache.* scalar_cache.* constant_cache.*bytes constant_cache.ways"
            " constant_cache.replacement",
            "",
            lambda g: tagged(g.machine),
            NO_TAGS,
        ),
        Condition(
            "l1.* l2.* l2_partition.*",
            "far_latency far_late partition_late memory_latency",
            lambda g: g.cached,
            NO_ASKER,
        ),
        Condition("l1.*", f"caches.{NEAR} misses joined drops_stored keeps_stores", _near, NO_ASKER),
        Condition("l1.lines_per_cycle", "near_lines", _looked_up, "no access of {kernel} looks up lines in the L1"),
        Condition("l1.least_cycles", "near_least", looks_up_banks, "no load takes its passes through banks of the L1"),
        Condition("l1.misses l1.joined", "misses joined", loads_from(NEAR), "no load of {kernel} asks the L1"),
        Condition(
            "l1.global_stores",
            "drops_stored",
            lambda g: g.does(STORE, unit=UnitClass.GLOBAL),
            "{kernel} stores nothing to global memory",
        ),
        Condition(
            "l1.local_stores",
            "keeps_stores",
            lambda g: g.does(STORE, unit=UnitClass.LOCAL),
            "{kernel} stores nothing to local memory",
        ),
        Condition("l2.*", f"caches.{FAR} far_latency far_late", looks(FAR), "nothing asks the L2"),
        Condition(
            "l2_partition.*",
            f"caches.{PARTITION} partition_late",
            lambda g: looks(FAR)(g) and looks(PARTITION)(g),
            "nothing asks the L2",
        ),
        Condition("constant_cache.*", "", accesses(UnitClass.CONSTANT), "{kernel} has no constant load"),
        *(
            Condition(f"{section}.*", f"caches.{which} read_latency.{which} read_far.{which}", asks(which), NO_ASKER)
            for section, which in (
                ("texture_cache", TEXTURES),
                ("scalar_cache", SCALARS),
                ("constant_cache", CONSTANTS),
            )
        ),
        Condition("constant_cache.next_*", "next_constants next_lines", asks(CONSTANTS), NO_ASKER),
        Condition("constant_cache.in_series", "in_series", asks(CONSTANTS), NO_ASKER),
    ),
    limits={
        "load/store unit": {
            "constant_cache.request_cycles": 1,
            "l1.lines_per_cycle": LANES,
            "l1.least_cycles": 1,
            "l1.joined": 0,
        },
        "bandwidth": {
            "cache.l2_sector_parts": 1,
            "cache.*_late": 0,
            "l1.misses": 4096,
        },
        "latency": {
            "cache.*_latency_*": 1,
            "*_cache.latency": 1,
            "constant_cache.next_latency": 1,
            "l2_partition.late": 0,
        },
    },
    compared=untagged,
)
