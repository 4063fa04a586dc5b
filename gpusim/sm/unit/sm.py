"""The SM as a whole: what it can hold, whose turn it is, and what stopped it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import never
from gpusim.sm.unit.capacities import BLOCKS, LANES, WARPS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import AGENT
from gpusim.sm.unit.ranges import Count, Positive


class Limits(msgspec.Struct, frozen=True):
    """What one SM can hold, and what one block or thread may ask for."""

    warp_size: Literal[32, 64]  # lanes of a warp; kernels are written for one size
    warps: Annotated[int, msgspec.Meta(ge=1, le=WARPS)]  # resident warps
    threads: Positive  # resident threads
    blocks: Annotated[int, msgspec.Meta(ge=1, le=BLOCKS)]  # resident blocks
    registers: Positive  # 32-bit registers of the SM
    registers_per_thread: Positive  # 32-bit registers that a thread may use
    register_scope: Literal["warp", "block"]  # what is allocated together
    register_unit: Positive  # registers are allocated in multiples of this
    warp_unit: Positive  # registers of warps hold a multiple of this in the SM, those of a block for such a multiple
    threads_per_block: Positive  # threads that a block may have
    block_z: Positive  # threads that a block may have in z
    shared_bytes: Count  # bytes of shared memory of the SM
    shared_per_block: Count  # bytes of shared memory that a block may have of its own
    shared_reserved: Count  # bytes of shared memory that the system keeps for each block
    shared_unit: Positive  # a block's shared bytes are allocated in multiples of this
    barriers: Positive  # barriers of a block
    registers_per_block: Count = 0  # 32-bit registers that a block may have; 0: all of the SM
    block_warp_unit: Count = 0  # a block of warps has registers for a multiple of this; 0: of `warp_unit`
    register_unit_doubled: str = ""  # registers of a thread for which `register_unit` is twice as large


LAUNCHER = 0  # agents: the block scheduler, then the warp schedulers, then the load/store unit, and last the effects
FIRST_SCHEDULER = 1


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in how many lane groups a warp has."""
    packed.groups = machine.limits.warp_size // LANES


UNIT = Declaration(
    "sm",
    fields={
        "machine": (
            field("groups", "lane groups of a warp: 32 lanes have registers and masks together"),
            field("since_volta", "1: some of its numbers are those of all machines since Volta (unit/structure.py)"),
        ),
        "sm": (
            field("now", "the current cycle", role=Role.FREE),
            field("cycles", "when the last block finished", role=Role.STAMP),
            field("agenda", "when each agent acts next", AGENT, role=Role.TIME),
            field("agents", "how many agents there are", role=Role.FIXED),
            field("load_store_agent", "the load/store unit's number among the agents", role=Role.FIXED),
            field("effects_agent", "that of the effects, which act second in a cycle", role=Role.FIXED),
            field("machine", "the machine's numbers", kind="machine", role=Role.FIXED),
            field("launch", "the launch", kind="launch", role=Role.FIXED),
            field("outcome", "what the instruction that issues comes to", kind="outcome", role=Role.FREE),
            field("fault", "the first fault", kind="fault", role=Role.FREE),
        ),
        "fault": (
            field("code", "one of gpusim.sm.state.fault.Fault"),
            field("pc", "the instruction"),
            field("warp", "its warp slot"),
            field("lane", "the lane of the warp; -1: none is meant"),
            field("address", "the byte address"),
            field("detail", "a number more that the kind of fault says"),
        ),
    },
    pack=pack,
    conditions=(
        Condition(
            "limits.registers_per_thread limits.threads_per_block limits.block_z limits.shared_per_block "
            "limits.barriers",
            "",
            never,
            "it refuses kernels that ask for more, and {kernel} asks for less",
        ),
        Condition(
            "limits.*",
            "",
            never,
            "an SM holds {blocks} of {kernel}, limited by {limiter}, either way",
        ),
    ),
)
