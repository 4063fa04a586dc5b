"""What no chip does: limits lifted, to learn what they cost."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpusim.sm.memory.cache.declaration import FAR, NEAR, NO_TAGS, tagged
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import NO_GLOBAL, accesses, loads_from, looks, updates
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import PT
from isa.row import MEMORY_UNITS, Flow, Unit


class WhatIf(msgspec.Struct, frozen=True):
    """What no chip does: limits lifted, to learn what they cost. No machine file has it; `gpusim limits` sets it."""

    # Who shares a pass, `banks` unless set; one-pass: all lanes, all words.
    shared_memory: Literal["banks", "conflict-free", "one-pass"] = "banks"
    # `wait` unless set; pass: nobody waits at a barrier, and values are wrong where one was needed.
    barriers: Literal["wait", "pass"] = "wait"
    # `wait` unless set; there: no wait for groups of copies waits, and values that needed one are wrong.
    copies: Literal["wait", "there"] = "wait"
    # `apart` unless set; side-by-side: lanes' places in global memory are neighbours.
    lanes: Literal["apart", "side-by-side"] = "apart"
    # `tags` unless set; holds: the L1 has every line that a load asks it for.
    l1: Literal["tags", "holds"] = "tags"
    # `tags` unless set; holds: the L2 has every line, and nothing goes to the DRAM.
    l2: Literal["tags", "holds"] = "tags"
    # `in-turn` unless set; at-once: atomics do not wait for others of their word or slice.
    atomics: Literal["in-turn", "at-once"] = "in-turn"
    # `serial` unless set; packed: of the ways of a branch a warp has time for that of one lane, and of memory.
    divergence: Literal["serial", "packed"] = "serial"


SHARED_IDEALS = ("banks", "conflict-free", "one-pass")  # what is lifted of the rules of shared memory
BANKS, CONFLICT_FREE, ONE_PASS = range(len(SHARED_IDEALS))
WAYS = frozenset({Flow.NONE, Flow.BRANCH, Flow.EXPECT, Flow.MEET, Flow.TAKE_AWAY})
NEVER_LEFT_OUT = MEMORY_UNITS | {Unit.BARRIER, Unit.SYNC, Unit.SMEM, Unit.TENSOR, Unit.WARPGROUP}


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in which limits are lifted."""
    if machine.what_if:
        packed.shared_ideal = SHARED_IDEALS.index(machine.what_if.shared_memory)
        packed.barriers_pass = machine.what_if.barriers == "pass"
        packed.side_by_side = machine.what_if.lanes == "side-by-side"
        packed.near_holds, packed.far_holds = machine.what_if.l1 == "holds", machine.what_if.l2 == "holds"
        packed.at_once = machine.what_if.atomics == "at-once"
        packed.packs = packs(machine)


def lifts_memory(machine: Machine) -> bool:
    """Tell whether limits of what moves between the levels of memory are lifted."""
    one = machine.what_if
    return one is not None and (one.lanes, one.l1, one.l2, one.atomics) != ("apart", "tags", "tags", "in-turn")


def packs(machine: Machine) -> bool:
    """Tell whether warps are timed as if the lanes of several that go the same way were packed into one."""
    return machine.what_if is not None and machine.what_if.divergence == "packed"


def may_part(kernel: Kernel) -> bool:
    """Tell whether a branch may part the lanes of a warp."""
    program = kernel.program
    guards = [i.guard for i in program.instructions if i.row.is_branch]
    own = program.has_independent_lanes and any(guard != PT and not guard.whole for guard in guards)
    return own or bool(reconvergence_points(program))


def decode(row: Columns, instruction: Instruction, machine: Machine, _kernel: Kernel) -> None:
    """Tell whether a warp may pass over the instruction: it touches no memory, no other warp and no clock."""
    form = instruction.row
    alone = form.unit not in NEVER_LEFT_OUT and form.flow in WAYS and not form.grouping
    row["passable"] = packs(machine) and alone and not instruction.reads_clock()


UNIT = Declaration(
    "what_if",
    fields={
        "machine": (
            field("shared_ideal", "index into SHARED_IDEALS"),
            field("barriers_pass", "1: nobody waits at a barrier"),
            field("side_by_side", "1: lanes access neighbouring places of global memory"),
            field("near_holds", "1: the L1 has all that loads ask it for"),
            field("far_holds", "1: the L2 has all, and the DRAM moves nothing"),
            field("at_once", "1: atomics do not wait for others"),
            field("packs", "1: of the ways of a branch a warp has time for that of one lane"),
        ),
        "row": (field("passable", "1: a warp that packs its lanes may pass over it", kind="i1"),),
        "warp": (field("leads", "the lane whose way the warp has time for, where it packs its lanes", role=Role.FREE),),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition("what_if.lanes", "side_by_side", accesses(Unit.GLOBAL), NO_GLOBAL),
        Condition("what_if.l1", "near_holds", lambda g: tagged(g.machine), NO_TAGS),
        Condition("what_if.l1", "near_holds", loads_from(NEAR), "no load of {kernel} asks the L1"),
        Condition("what_if.l2", "far_holds", lambda g: tagged(g.machine), NO_TAGS),
        Condition("what_if.l2", "far_holds", looks(FAR), "nothing asks the L2"),
        Condition("what_if.atomics", "at_once", updates, "{kernel} has no atomic"),
        Condition(
            "what_if.divergence",
            "packs rows.passable",
            lambda g: may_part(g.kernel),
            "no branch of {kernel} parts lanes",
        ),
    ),
    limits={
        "coalesced": {"what_if.lanes": "side-by-side"},
        "no divergence": {"what_if.divergence": "packed"},
        "no contention": {"what_if.atomics": "at-once"},
        "perfect L1": {"what_if.l1": "holds"},
        "perfect L2": {"what_if.l2": "holds"},
        "bank conflicts": {"what_if.shared_memory": "conflict-free"},
        "shared-memory passes": {"what_if.shared_memory": "one-pass"},
        "barriers": {"what_if.barriers": "pass"},
        "waits for copies": {"what_if.copies": "there"},
    },
)
