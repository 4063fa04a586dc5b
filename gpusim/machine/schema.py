"""What a machine file may say: the sections that the units declare, put together as plain frozen data.

All cycles are shader cycles, the SM's fastest clock (on Fermi exactly two per core cycle).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec

from gpusim.sm.chip.chip.declaration import Chip
from gpusim.sm.chip.energy import Energy
from gpusim.sm.chip.host_link import HostLink
from gpusim.sm.chip.tensor_peak import TensorPeak
from gpusim.sm.front.barrier.declaration import Barrier
from gpusim.sm.front.block_scheduler.declaration import LaunchTimes
from gpusim.sm.front.cluster.declaration import Cluster
from gpusim.sm.front.dispatch.declaration import Issue
from gpusim.sm.front.fence.declaration import Fence
from gpusim.sm.front.fetch.declaration import Fetch
from gpusim.sm.front.policies.declaration import BlockOrder
from gpusim.sm.front.selection.declaration import Selection
from gpusim.sm.front.warp_scheduler.declaration import Schedulers
from gpusim.sm.memory.async_copy.declaration import AsyncCopy
from gpusim.sm.memory.cache.declaration import Cache, ConstantCache, FarCache, NearCache, Partition, ReadCache
from gpusim.sm.memory.constant_operand.declaration import ConstantOperand
from gpusim.sm.memory.copy_engine.declaration import CopyEngine
from gpusim.sm.memory.dram.declaration import Dram
from gpusim.sm.memory.global_memory.declaration import GlobalAtomic, GlobalMemory, Memory, MemoryChannels, MemoryClock
from gpusim.sm.memory.l2_atomic.declaration import L2Atomic
from gpusim.sm.memory.l2_channel.declaration import L2Channel
from gpusim.sm.memory.local_memory import LocalMemory
from gpusim.sm.memory.mbarrier import Mbarrier
from gpusim.sm.memory.shared_memory.declaration import SharedAtomic, SharedMemory
from gpusim.sm.memory.tag_stage.declaration import TagStage
from gpusim.sm.memory.texture.declaration import Texture
from gpusim.sm.memory.what_if import WhatIf
from gpusim.sm.pipes.constant_path import ConstantPath
from gpusim.sm.pipes.double_precision.declaration import Double
from gpusim.sm.pipes.instruction_replay.declaration import InstructionReplay
from gpusim.sm.pipes.load_store.declaration import LoadStore, MemoryPaths, MemoryPort
from gpusim.sm.pipes.match import Match
from gpusim.sm.pipes.pipe.declaration import MatrixCost, Pipe, UnitCost
from gpusim.sm.pipes.warpgroup.declaration import Warpgroup
from gpusim.sm.registers.bypass import Bypass
from gpusim.sm.registers.control_code.declaration import Dependence
from gpusim.sm.registers.register_file.declaration import RegisterFile
from gpusim.sm.registers.scalar_registers import ScalarFile
from gpusim.sm.registers.wait_count.declaration import Outstanding, WaitCounters
from gpusim.sm.registers.write_back.declaration import WriteBack
from gpusim.sm.unit.sm import Limits
from gpusim.sm.walk.branch.declaration import Branch
from isa.nvidia.rows.tensor.matrix import KINDS
from isa.row import MEMORY_UNITS, Unit
from isa.support.brief import brief

_NO_PIPE = MEMORY_UNITS | {Unit.BARRIER, Unit.CONTROL, Unit.WARPGROUP}
PIPE_UNITS = tuple(unit for unit in Unit if unit not in _NO_PIPE)
# Sections whose keys are names: those allowed, none for names of the file's choice.
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "pipe": (),
    "unit": tuple(unit.value for unit in PIPE_UNITS),
    "pairing": tuple(unit.value for unit in Unit),
    "joint": tuple(unit.value for unit in PIPE_UNITS),
    "blocked": tuple(unit.value for unit in PIPE_UNITS),
    "matrix": KINDS,
    "category": tuple(unit.value for unit in Unit),
}


class Machine(msgspec.Struct, frozen=True):
    """One GPU. `key` is the name it was loaded by, `name` the product's.

    `architecture` is that of the machine code that it executes, such as sm_90; empty if it executes none.
    """

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
    write_back: WriteBack | None = None
    selection: Selection | None = None
    block_order: BlockOrder | None = None
    dependence: Dependence | None = None
    memory_port: MemoryPort | None = None
    constant_path: ConstantPath | None = None
    match: Match | None = None
    memory: Memory | None = None
    memory_clock: MemoryClock | None = None
    memory_channels: MemoryChannels | None = None
    cache: Cache | None = None
    l1: NearCache | None = None
    tag_stage: TagStage | None = None
    async_copy: AsyncCopy | None = None
    l2: FarCache | None = None
    l2_partition: Partition | None = None
    l2_channel: L2Channel | None = None
    l2_atomic: L2Atomic | None = None
    dram: Dram | None = None
    texture_cache: ReadCache | None = None
    scalar_cache: ReadCache | None = None
    constant_cache: ConstantCache | None = None
    constant_operand: ConstantOperand | None = None
    bypass: Bypass | None = None
    # By unit class of one pipe, another pipe that its instructions need and occupy as well.
    joint: dict[str, str] = {}
    # By unit class, a pipe that takes nothing for an initiation interval behind the cycle of its instructions.
    blocked: dict[str, str] = {}
    matrix: dict[str, MatrixCost] = {}  # by kind of matrix instruction; the machine has none of a kind that is absent
    shared_atomic: SharedAtomic | None = None
    global_atomic: GlobalAtomic | None = None
    wait_counters: WaitCounters | None = None
    instruction_replay: InstructionReplay | None = None
    fetch: Fetch | None = None
    scalar_file: ScalarFile | None = None
    memory_paths: MemoryPaths | None = None
    outstanding: Outstanding | None = None
    warpgroup: Warpgroup | None = None
    tensor_peak: TensorPeak | None = None
    energy: Energy | None = None
    host_link: HostLink | None = None
    what_if: WhatIf | None = None
    mbarrier: Mbarrier | None = None
    copy_engine: CopyEngine | None = None
    cluster: Cluster | None = None
    fence: Fence | None = None
    architecture: str = ""

    __repr__ = brief


FIELDS = cache(msgspec.structs.fields)  # which reads annotations anew at each call


def _section(kind: Any) -> Any:
    """The section behind `Section | None`, which a machine file may leave out; None for any other type."""
    return get_args(kind)[0] if isinstance(kind, UnionType) else None


def sections() -> dict[str, type[msgspec.Struct]]:
    """Return the class of each section of a machine file by its name, but of those that hold words alone."""
    kinds = {field.name: _section(field.type) or field.type for field in FIELDS(Machine)}
    inner = {name: get_args(kind)[1] if get_origin(kind) is dict else kind for name, kind in kinds.items()}
    return {name: kind for name, kind in inner.items() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)}


def leaves(struct: Any = Machine, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path and type of every leaf; `*` stands for a name of the file's choice."""
    for field in FIELDS(struct):
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
OPTIONAL = tuple(field.name for field in FIELDS(Machine) if _section(field.type))
# Keys that have a value where nothing is said.
DEFAULTED = frozenset(
    f"{name}.*.{field.name}" if name in MEMBERS else f"{name}.{field.name}"
    for name, kind in sections().items()
    for field in FIELDS(kind)
    if not field.required
)
EXTRAS = (
    [f"{section}.{u}" for section in ("pairing", "category") for u in Unit]
    + [f"{section}.{u}" for section in ("joint", "blocked") for u in PIPE_UNITS]
    + [f"unit.{u}.{key}" for u in PIPE_UNITS for key in ("pipe", "latency")]
    + [f"matrix.{kind}.{key}" for kind in KINDS for key in MatrixCost.__struct_fields__]
    + [path for path, _ in leaves() if path.split(".")[0] in OPTIONAL or (path in DEFAULTED and "*" not in path)]
)
