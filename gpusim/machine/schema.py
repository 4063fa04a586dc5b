"""What a machine file may say: every key, its type and its unit of measure, as plain frozen data.

All cycles are shader cycles, the SM's fastest clock (on Fermi exactly two per core cycle).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from gpusim.machine.capacities import BLOCKS, CACHED, PORTS, SCHEDULERS, WARPS
from gpusim.machine.memory_schema import (
    Cache,
    ConstantCache,
    Count,
    FarCache,
    Flag,
    GlobalMemory,
    InstructionReplay,
    LoadStore,
    LocalMemory,
    Memory,
    MemoryClock,
    MemoryPaths,
    MemoryPort,
    NearCache,
    Outstanding,
    Partition,
    Positive,
    ReadCache,
    ScalarFile,
    SharedAtomic,
    SharedMemory,
    Texture,
    WaitCounters,
    WhatIf,
)
from isa.brief import brief
from isa.table import MEMORY_UNITS, Unit

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

    sms: Positive  # streaming multiprocessors, or compute units
    shader_mhz: Positive  # MHz of the SM's fastest clock, in which all cycles count
    core_mhz: Positive  # MHz of the core clock; the same where the chip has one clock
    dram_mbs: Positive  # DRAM bandwidth, 10^6 bytes per second


class Limits(msgspec.Struct, frozen=True):
    """What one SM can hold, and what one block or thread may ask for."""

    warp_size: Literal[32, 64]  # lanes of a warp; kernels are written for one size
    warps: Annotated[int, msgspec.Meta(ge=1, le=WARPS)]  # resident warps
    threads: Positive  # resident threads
    blocks: Annotated[int, msgspec.Meta(ge=1, le=BLOCKS)]  # resident blocks
    registers: Positive  # 32-bit registers of the SM
    registers_per_thread: Positive  # 32-bit registers that a thread may use
    register_scope: Literal["warp", "block", "scheduler"]  # what is allocated together; a file each
    register_unit: Positive  # registers are allocated in multiples of this
    warp_unit: Positive  # a block's warps count in multiples of this
    threads_per_block: Positive  # threads that a block may have
    shared_bytes: Count  # bytes of shared memory of the SM
    shared_unit: Positive  # a block's shared bytes are allocated in multiples of this
    barriers: Positive  # barriers of a block


class Dependence(msgspec.Struct, frozen=True):
    """What keeps an instruction from issuing before those that it depends on; `scoreboard` where this is left out."""

    rule: Literal["scoreboard", "codes"]  # pending results and readers; or what control codes say, and nothing else
    yield_stall: Count  # cycles from an issue that yields to the warp's next, at least
    variable: str  # unit classes, beside memory, whose results only a barrier tells of: codes are assigned so


class Schedulers(msgspec.Struct, frozen=True):
    """Warp schedulers of one SM; scheduler k owns the warp slots that equal k modulo `count`."""

    count: Annotated[int, msgspec.Meta(ge=1, le=SCHEDULERS)]  # warp schedulers
    interval: Positive  # cycles between issue slots of one scheduler
    stagger: Count  # cycles by which scheduler k's slots lag behind those of scheduler 0, times k
    dispatch_ports: Annotated[int, msgspec.Meta(ge=1, le=PORTS)]  # most instructions of a scheduler in one turn
    issue_interval: Positive  # cycles between the turns in which one warp issues, at least
    policy: str  # one of gpusim.machine.policy.POLICY_NAMES, or registered from Python
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

    lanes: Positive  # thread instructions that it takes each cycle
    schedulers: Positive  # that share one pipe: 1 a pipe each, 2 neighbours in pairs, `schedulers.count` one for the SM


class UnitCost(msgspec.Struct, frozen=True):
    """Where a unit class of the instruction table executes."""

    pipe: str  # a pipe, or several, in the order in which they are tried: the first that is free takes the instruction
    latency: Positive  # cycles from issue until a dependent instruction may issue (RAW)


class RegisterFile(msgspec.Struct, frozen=True):
    """How fast a scheduler's instructions get their operands."""

    banks: Literal[1, 2, 4]  # each reads one register of a warp per cycle
    mapping: Literal["none", "modulo", "kepler"]  # registers to banks (isa.register_bank); none: never late
    collecting: Literal[0, 1, 2, 3, 4]  # instructions that collect operands at once (0: no limit)
    window: Count  # cycles in which an instruction's reads must be done, or those of its fullest bank (0: no limit)
    carried: Flag  # 1: what its warp's instruction just before has read as well is not read again
    reuse: Literal[0, 1, 2]  # 32-bit words that the reuse cache keeps for each operand slot of a warp (0: none)
    returned: Returned  # cycles that each register takes from the reads of its bank which comes back through the queue


class Selection(msgspec.Struct, frozen=True):
    """A selected warp that can't dispatch is the next to go; without this section the policy chooses anew."""

    keeps: str  # unit classes whose pipe is looked at only when a warp has been selected; or `none`
    freezes: Flag  # 1: a stall for operands alone stops the stall counts of all warps of the scheduler
    turns: Count  # stall count from which on, no branch's or access's, others go first, or at a full queue; 0: never


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
    l0_lines: Annotated[int, msgspec.Meta(ge=1, le=CACHED)]  # lines of each scheduler's L0
    l0_ways: Positive  # lines of one set of the L0
    l1_lines: Annotated[int, msgspec.Meta(ge=1, le=CACHED)]  # lines of the SM's L1
    l1_ways: Positive  # lines of one set of the L1
    l1_latency: Count  # cycles of a hit in the L1
    l1_parts: Count  # 1/64 cycles for which a line keeps the L1's port
    l15_lines: Annotated[int, msgspec.Meta(ge=0, le=CACHED)]  # lines of the L1.5, behind the SM's L1
    l15_ways: Positive  # lines of one set of the L1.5
    l15_latency: Count  # cycles of a hit in the L1.5
    l15_parts: Count  # 1/64 cycles for which a line keeps the L1.5's port
    memory_latency: Count  # cycles of a line that no cache of instructions holds
    memory_parts: Count  # 1/64 cycles for which such a line keeps its port


class LaunchTimes(msgspec.Struct, frozen=True):
    """How blocks start on an SM."""

    block_latency: Count  # cycles from a block's retirement to the start of the one that takes its place
    warp_skew: Count  # cycles between the starts of successive warps of a block
    block_skew: Count  # cycles between the starts of successive blocks at the beginning


class Energy(msgspec.Struct, frozen=True):
    """What moving words and computing cost, in femtojoules (fJ) at one clock; all goes with the voltage's square.

    An instruction's energy is that of a thread, a scalar register's that of a warp; a word is one of a lane.
    """

    mhz: Positive  # MHz of the shader clock at which the others hold
    voltage_slope: Annotated[
        int, msgspec.Meta(ge=0, le=1000)
    ]  # relative change of voltage for that of clock, thousandths
    idle_mw: Count  # milliwatts of the chip without work
    single: Count  # fJ of a floating-point instruction of 32 bits, and whatever goes with it and is not below
    double: Count  # fJ of the same of 64 bits
    register: Count  # fJ of a word read from the register file or written to it
    scalar_register: Count  # fJ of a scalar register read or written
    shared: Count  # fJ of a word read from shared memory or written to it
    l1: Count  # fJ of a word from or to the L1, or from another cache of the SM
    l2: Count  # fJ of a word between the SM and the L2
    dram: Count  # fJ of a word between the L2 and DRAM
    forwarding: (
        Flag  # 1: the next instruction of a warp gets a result without the register file (isa.dataflow.forwarding)
    )


class Machine(msgspec.Struct, frozen=True):
    """One GPU. `key` is the name it was loaded by, `name` the product's."""

    key: str
    name: str
    generation: str
    chip: Chip
    limits: Limits
    schedulers: Schedulers
    issue: Issue
    # By unit class, the unit classes that may go beside it in a later port of its turn, or `none`; absent: all of them.
    pairing: dict[str, str]
    # By unit class, a name: those of one category never go beside each other if the ports take different categories; a
    # class that is absent is a category by itself.
    category: dict[str, str]
    double: Double
    pipe: dict[str, Pipe]
    unit: dict[str, UnitCost]  # by unit class; the machine has no instructions of a class that is absent
    shared_memory: SharedMemory
    load_store: LoadStore
    global_memory: GlobalMemory
    local_memory: LocalMemory
    texture: Texture
    barrier: Barrier
    branch: Branch
    launch: LaunchTimes
    register_file: RegisterFile | None = None
    selection: Selection | None = None
    dependence: Dependence | None = None
    memory_port: MemoryPort | None = None
    memory: Memory | None = None
    memory_clock: MemoryClock | None = None
    cache: Cache | None = None
    l1: NearCache | None = None
    l2: FarCache | None = None
    l2_partition: Partition | None = None
    texture_cache: ReadCache | None = None
    scalar_cache: ReadCache | None = None
    constant_cache: ConstantCache | None = None
    # By unit class of one pipe, another pipe that its instructions need and occupy as well.
    joint: dict[str, str] = {}
    # By unit class, a pipe that takes nothing for an initiation interval behind the cycle of its instructions.
    blocked: dict[str, str] = {}
    shared_atomic: SharedAtomic | None = None
    wait_counters: WaitCounters | None = None
    instruction_replay: InstructionReplay | None = None
    fetch: Fetch | None = None
    scalar_file: ScalarFile | None = None
    memory_paths: MemoryPaths | None = None
    outstanding: Outstanding | None = None
    energy: Energy | None = None
    what_if: WhatIf | None = None

    __repr__ = brief


def _section(kind: Any) -> Any:
    """The section behind `Section | None`, which a machine file may leave out; None for any other type."""
    return get_args(kind)[0] if isinstance(kind, UnionType) else None


def sections() -> dict[str, type[msgspec.Struct]]:
    """Return the class of each section of a machine file by its name, but of those that hold words alone."""
    kinds = {field.name: _section(field.type) or field.type for field in msgspec.structs.fields(Machine)}
    inner = {name: get_args(kind)[1] if get_origin(kind) is dict else kind for name, kind in kinds.items()}
    return {name: kind for name, kind in inner.items() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)}


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
# Keys of such sections that have a value where nothing is said.
DEFAULTED = frozenset(
    f"{name}.{field.name}"
    for name, kind in sections().items()
    for field in msgspec.structs.fields(kind)
    if name in OPTIONAL and not field.required
)
EXTRAS = (
    [f"{section}.{u}" for section in ("pairing", "category") for u in Unit]
    + [f"{section}.{u}" for section in ("joint", "blocked") for u in PIPE_UNITS]
    + [f"unit.{u}.{key}" for u in PIPE_UNITS for key in ("pipe", "latency")]
    + [path for path, _ in leaves() if path.split(".", maxsplit=1)[0] in OPTIONAL]
)
