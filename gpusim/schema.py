"""What a machine file may say: every key, its type and its unit of measure, as plain frozen data.

All cycles are shader cycles, the SM's fastest clock (on Fermi exactly two per core cycle).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from isa.table import MEMORY_UNITS, Unit

SECTOR_BYTES = 32  # the least that moves to or from global memory (PG 4.2, F.3.2.2 and F.4.2)
MOST = 1_000_000_000  # products of two such numbers stay within 64 bits
Positive = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Flag = Literal[0, 1]
Returned = Annotated[int, msgspec.Meta(ge=0, le=63)]  # four registers in one bank take fewer than 256 cycles
PIPE_UNITS = tuple(unit for unit in Unit if unit not in MEMORY_UNITS | {Unit.BARRIER, Unit.CONTROL})
# Sections whose keys are names: those allowed, none for names of the file's choice.
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "pipe": (),
    "unit": tuple(unit.value for unit in PIPE_UNITS),
    "pairing": tuple(unit.value for unit in Unit),
    "joint": tuple(unit.value for unit in PIPE_UNITS),
    "blocked": tuple(unit.value for unit in PIPE_UNITS),
    "category": tuple(unit.value for unit in Unit),
}


class Chip(msgspec.Struct, frozen=True):
    """What there is of everything, and how fast it runs."""

    sms: Positive
    shader_mhz: Positive
    core_mhz: Positive
    dram_mbs: Positive  # DRAM bandwidth, 10^6 bytes per second


class Memory(msgspec.Struct, frozen=True):
    """How much of the DRAM's bandwidth arrives; all of it where this is left out."""

    efficiency: Annotated[
        int, msgspec.Meta(ge=100, le=1000)
    ]  # thousandths of `chip.dram_mbs` that a stream of reads gets
    ecc: Flag  # 1: memory is protected against errors at the cost of bandwidth
    ecc_cost: Annotated[int, msgspec.Meta(ge=1, le=500)]  # thousandths of what would arrive without


class Limits(msgspec.Struct, frozen=True):
    """What one SM can hold, and what one block or thread may ask for."""

    warp_size: Literal[32, 64]  # lanes of a warp; kernels are written for one size
    warps: Positive  # resident
    threads: Positive  # resident
    blocks: Positive  # resident
    registers: Positive  # 32-bit, of the SM
    registers_per_thread: Positive
    register_scope: Literal["warp", "block", "scheduler"]  # what is allocated together; a file each
    register_unit: Positive  # in multiples of this
    warp_unit: Positive  # a block's warps count in multiples of this
    threads_per_block: Positive
    shared_bytes: Count  # of the SM
    shared_unit: Positive  # a block's shared bytes are allocated in multiples of this
    barriers: Positive  # per block


class Dependence(msgspec.Struct, frozen=True):
    """What keeps an instruction from issuing before those that it depends on; `scoreboard` where this is left out."""

    rule: Literal["scoreboard", "codes"]  # pending results and readers; or what control codes say, and nothing else
    yield_stall: Count  # cycles from an issue that yields to the warp's next, at least
    variable: str  # unit classes, beside memory, whose results only a barrier tells of: codes are assigned so


class Schedulers(msgspec.Struct, frozen=True):
    """Warp schedulers of one SM; scheduler k owns the warp slots that equal k modulo `count`."""

    count: Positive
    interval: Positive  # cycles between issue slots of one scheduler
    stagger: Count  # cycles by which scheduler k's slots lag behind those of scheduler 0, times k
    dispatch_ports: Positive  # instructions that one scheduler issues in one turn, at most
    reissue: Positive  # cycles between the turns in which one warp issues, at least
    policy: str  # one of gpusim.policy.POLICY_NAMES, or registered from Python
    active: Positive  # warps of one scheduler among which `two_level` chooses


class Issue(msgspec.Struct, frozen=True):
    """What happens in an issue slot."""

    # Whose instructions the dispatch ports of one turn take; by category: different warps', one of each category.
    pairing: Literal["same-warp", "different-warp", "different-category"]
    rotate: Flag  # 1: the schedulers' rank rotates from slot to slot
    refused_wastes_slot: Flag  # 1: an instruction refused by a full queue costs the slot
    refused_moves_pointer: Flag  # 1: the policy goes on from the refused warp; 0: from the last one that issued
    refused_retry: Positive  # cycles until a refused warp is considered again


class Double(msgspec.Struct, frozen=True):
    """What double precision keeps the other schedulers from."""

    exclusive: Literal["off", "issue", "flight"]  # nothing; the same slot; all slots while one is in flight


class Pipe(msgspec.Struct, frozen=True):
    """An execution pipe; a warp instruction occupies it for warp_size / lanes cycles, its initiation interval."""

    lanes: Positive
    schedulers: Positive  # that share one: 1 a pipe each, 2 neighbours in pairs, `schedulers.count` one for the SM


class UnitCost(msgspec.Struct, frozen=True):
    """Where a unit class of the instruction table executes."""

    pipe: str  # or several, in the order in which they are tried: the first that is free takes the instruction
    latency: Positive  # cycles from issue until a dependent instruction may issue (RAW)


class SharedMemory(msgspec.Struct, frozen=True):
    """Shared memory: a pass is one trip through its data path."""

    rule: Literal["fermi", "gt200", "kepler", "volta", "gcn"]  # how addresses become passes
    banks: Positive
    bank_bytes: Literal[4, 8]  # side by side in one bank; 8 is Kepler's 64-bit mode
    pass_cycles: Positive
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


class RegisterFile(msgspec.Struct, frozen=True):
    """How fast a scheduler's instructions get their operands."""

    banks: Literal[1, 2, 4]  # each reads one register of a warp per cycle; a register's is its number modulo `banks`
    collecting: Literal[0, 1, 2, 3, 4]  # instructions that collect operands at once (0: no limit)
    window: Count  # cycles in which an instruction's reads must be done, or those of its fullest bank (0: no limit)
    reuse: Literal[0, 1, 2]  # 32-bit words that the reuse cache keeps for each operand slot of a warp (0: none)
    returned: Returned  # cycles that each register takes from the reads of its bank which comes back through the queue


class Selection(msgspec.Struct, frozen=True):
    """A selected warp that can't dispatch is the next to go; without this section the policy chooses anew."""

    keeps: str  # unit classes whose pipe is looked at only when a warp has been selected; or `none`
    freezes: Flag  # 1: a stall for operands alone stops the stall counts of all warps of the scheduler
    turns: Flag  # 1: a stall count above 1, but of a branch or memory, and who fills the queue, let others go first


class WaitCounters(msgspec.Struct, frozen=True):
    """GCN's counts of a warp's accesses under way, for which programs wait; no scoreboard holds what these load.

    An access that would raise a count above its largest waits.
    """

    vector: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest vmcnt: global and local memory
    shared: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest lgkmcnt: shared memory


class ScalarFile(msgspec.Struct, frozen=True):
    """GCN's scalar registers, which the lanes of a warp have in common; without this section there are none."""

    registers: Positive  # of each scheduler
    unit: Positive  # a warp's are allocated in multiples of this
    per_warp: Annotated[int, msgspec.Meta(ge=1, le=102)]  # that a warp may use, beside VCC


class LoadStore(msgspec.Struct, frozen=True):
    """The load/store units' instruction queue."""

    queue: Positive  # warp instructions, of each scheduler where the machine has memory ports


class InstructionReplay(msgspec.Struct, frozen=True):
    """Issue slots that an access takes again beyond what its width needs without conflicts."""

    pass_slots: Count  # for each pass beyond the free ones through shared memory
    request_slots: Count  # for each request to global memory beyond one for each word of a lane


class MemoryPort(msgspec.Struct, frozen=True):
    """Each scheduler's own queue of memory instructions, and its port to the load/store unit, which takes turns."""

    units: str  # unit classes that go this way too: an instruction takes the unit for its pipe's initiation interval
    cycles: Positive  # of the port, for each cycle of the load/store unit
    store_32: Positive  # least cycles of the port for a store of this width to shared or local memory
    store_64: Positive
    store_128: Positive
    global_store: Positive  # the same for a store to global memory
    late_cycles: Positive  # that each pass beyond the free ones adds to the latency of a load from shared memory
    early_64: Count  # by which the result of a load of fewer than the free passes comes earlier
    early_128: Count
    war_store: Count  # cycles from service until the source registers of a store may be overwritten
    war_global_store: Count


class MemoryPaths(msgspec.Struct, frozen=True):
    """GCN: shared memory apart from other memory, each with queues and a unit of its own; not beside memory ports.

    The queues' ports let an instruction into its unit so many cycles after the one before. Those to shared memory serve
    neighbouring schedulers together, those to global and local memory one scheduler each.
    """

    schedulers: Positive  # that share a port to shared memory
    shared_load: Positive  # cycles of the port for each cycle that a load from shared memory takes the unit
    shared_store_32: Positive  # cycles of the port for a store of this width, at least; and as loads
    shared_store_64: Positive
    shared_store_128: Positive
    load_32: Positive  # cycles of the port for a load of this width from global or local memory
    load_64: Positive
    load_128: Positive
    store: Positive


class SharedAtomic(msgspec.Struct, frozen=True):
    """Atomics on shared memory whose lanes go one by one in each bank: additions but of 1 without result, and swaps."""

    port: Positive  # least cycles of the port
    war: Count  # cycles from service until the source registers may be overwritten
    add_turns: Positive  # passes for each lane of an addition
    add_latency: Positive  # cycles to the old value, with as many passes as are free for a 32-bit load
    swap_turns: Positive  # the same for compare and swap
    swap_latency: Positive


class GlobalMemory(msgspec.Struct, frozen=True):
    """Everything behind the SM."""

    rule: Literal["fermi", "gt200", "sectors"]  # how addresses become transactions
    line_bytes: Positive  # or the largest segment
    latency: Positive  # cycles
    request_cycles: Positive  # cycles of the load/store units per transaction
    war: Count  # cycles from service until the instruction's source registers may be overwritten


class Cache(msgspec.Struct, frozen=True):
    """Where loads from global memory hit a cache, and what such a load takes."""

    hits: Literal["none", "l1", "l2", "tags"]  # all of a launch's alike; or as the tags of [l1] and [l2] say
    l1_latency_32: Positive  # cycles of a load of this width, one request
    l1_latency_64: Positive
    l1_latency_128: Positive
    l1_late: Count  # further cycles for each request beyond the first
    l2_latency_32: Positive
    l2_latency_64: Positive
    l2_latency_128: Positive
    l2_late: Count
    l2_sector_parts: Positive  # 1/64 cycles of the SM's channel to the L2 for each sector


class NearCache(msgspec.Struct, frozen=True):
    """The SM's L1 cache, as its tags are kept; a line is global memory's."""

    bytes: Positive
    sector_bytes: Positive  # that a miss brings
    ways: Positive
    misses: Annotated[int, msgspec.Meta(ge=1, le=4096)]  # lines asked for and not there yet, at most
    global_loads: Flag  # 1: loads from global memory look here; 0: local memory's alone
    global_stores: Literal["evict", "update"]  # what a store, which goes through, does to a line that is here
    local_stores: Literal["back", "through"]  # they stay until they must make room, or go through


class FarCache(msgspec.Struct, frozen=True):
    """The chip's L2 cache, as its tags are kept; what is stored stays until it must make room."""

    bytes: Positive
    sector_bytes: Positive
    ways: Positive


class ReadCache(msgspec.Struct, frozen=True):
    """A cache of the SM that is only read, as its tags are kept; what it misses comes from the L2."""

    bytes: Positive
    sector_bytes: Positive
    ways: Positive
    latency: Positive  # cycles of a hit


class LocalMemory(msgspec.Struct, frozen=True):
    """Local memory that hits the L1 cache."""

    latency: Positive  # cycles
    request_cycles: Positive  # cycles of the load/store units per transaction


class Texture(msgspec.Struct, frozen=True):
    """The texture path."""

    pipe: str  # or several, as a unit class's
    latency: Positive  # cycles


class Barrier(msgspec.Struct, frozen=True):
    """BAR.SYNC."""

    latency: Count  # cycles from the last arrival to the release
    per_warp: Count  # further cycles for each warp released so far, the one in question included


class Branch(msgspec.Struct, frozen=True):
    """BRA."""

    latency: Positive  # cycles from issue until the warp may issue again


class Fetch(msgspec.Struct, frozen=True):
    """How instructions come to a warp: by lines; those that its scheduler's own cache holds are always there.

    There is no L1.5 of no lines. A port passes one line in so many parts, 1/64 cycles; what misses goes through the
    ports of all levels on its way, and takes the latency of the level where it hits.
    """

    line: Positive  # instructions of one line
    ahead: Count  # lines behind the one that a warp enters that are asked for with it, and one more if none is missing
    l0_lines: Positive  # of each scheduler
    l0_ways: Positive  # lines of one set
    l1_lines: Positive  # of the SM
    l1_ways: Positive
    l1_latency: Count
    l1_parts: Count
    l15_lines: Count  # of the SM, behind its L1
    l15_ways: Positive
    l15_latency: Count
    l15_parts: Count
    memory_latency: Count
    memory_parts: Count


class Launch(msgspec.Struct, frozen=True):
    """How blocks start on an SM."""

    block_latency: Count  # cycles from a block's retirement to the start of the one that takes its place
    warp_skew: Count  # cycles between the starts of successive warps of a block
    block_skew: Count  # cycles between the starts of successive blocks at the beginning


class Machine(msgspec.Struct, frozen=True):
    """One GPU. `key` is the name it was loaded by, `name` the product's.

    `unit`: by unit class, where its instructions execute; the machine has no instructions of a class that is absent.
    `pairing`: by unit class, the unit classes that may go beside it in a later port of its turn, or `none`; all of them
    where it is absent. `category`: by unit class, a name; those of one category never go beside each other if the
    ports take different categories, and a class that is absent is a category by itself.
    `joint`: by unit class of one pipe, another pipe that its instructions need and occupy as well.
    `blocked`: by unit class, a pipe that takes nothing for an initiation interval behind the cycle of its instructions.
    """

    key: str
    name: str
    generation: str
    chip: Chip
    limits: Limits
    schedulers: Schedulers
    issue: Issue
    pairing: dict[str, str]
    category: dict[str, str]
    double: Double
    pipe: dict[str, Pipe]
    unit: dict[str, UnitCost]
    shared_memory: SharedMemory
    load_store: LoadStore
    global_memory: GlobalMemory
    local_memory: LocalMemory
    texture: Texture
    barrier: Barrier
    branch: Branch
    launch: Launch
    register_file: RegisterFile | None = None
    selection: Selection | None = None
    dependence: Dependence | None = None
    memory_port: MemoryPort | None = None
    memory: Memory | None = None
    cache: Cache | None = None
    l1: NearCache | None = None
    l2: FarCache | None = None
    texture_cache: ReadCache | None = None
    scalar_cache: ReadCache | None = None
    joint: dict[str, str] = {}
    blocked: dict[str, str] = {}
    shared_atomic: SharedAtomic | None = None
    wait_counters: WaitCounters | None = None
    instruction_replay: InstructionReplay | None = None
    fetch: Fetch | None = None
    scalar_file: ScalarFile | None = None
    memory_paths: MemoryPaths | None = None


def _section(kind: Any) -> Any:
    """The section behind `Section | None`, which a machine file may leave out; None for any other type."""
    return get_args(kind)[0] if isinstance(kind, UnionType) else None


def leaves(struct: Any = Machine, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path and type of every leaf; `*` stands for a name of the file's choice."""
    for field in msgspec.structs.fields(struct):
        path, kind = prefix + field.name, _section(field.type) or field.type
        if get_origin(kind) is dict and get_args(kind)[1] is str:
            yield f"{path}.*", str
        elif get_origin(kind) is dict:
            yield from leaves(get_args(kind)[1], f"{path}.*.")
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from leaves(kind, f"{path}.")
        elif prefix:
            yield path, kind


# Sections that a machine file may leave out, and what `--set` may add to a machine.
OPTIONAL = tuple(field.name for field in msgspec.structs.fields(Machine) if _section(field.type))
EXTRAS = (
    [f"{section}.{u}" for section in ("pairing", "category") for u in Unit]
    + [f"{section}.{u}" for section in ("joint", "blocked") for u in PIPE_UNITS]
    + [f"unit.{u}.{key}" for u in PIPE_UNITS for key in ("pipe", "latency")]
    + [path for path, _ in leaves() if path.split(".", maxsplit=1)[0] in OPTIONAL]
)
