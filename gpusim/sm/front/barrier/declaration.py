"""Barriers of a block."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import BLOCK_BARRIER, SCHEDULER
from gpusim.sm.unit.opcodes import BARRIER, MEMORY_KINDS
from gpusim.sm.unit.ranges import Count, Flag
from isa.executing.barriers import by_register
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.rows.control import ANY, ARRIVE, COUNT, EVERY
from isa.row import Unit as UnitClass


class Barrier(msgspec.Struct, frozen=True):
    """BAR.SYNC."""

    latency: Count  # cycles from the last arrival to the release
    per_warp: Count  # further cycles for each warp released so far, the one in question included
    per_arrival: Count = 0  # cycles that the SM's barrier unit takes for each arrival, one after the other
    defers: Flag = 0  # 1: a warp goes on behind BAR.SYNC, up to what must not pass it: a memory access, a branch


STAYS_BEHIND = frozenset({*MEMORY_KINDS, UnitClass.TEXTURE, UnitClass.CONTROL, UnitClass.BARRIER})


def decode(row: Columns, instruction: Instruction, _machine: Machine, _kernel: Kernel) -> None:
    """Fill in what a barrier does beside waiting, and what must not pass one: B2R reads what BAR.RED has found."""
    row["stays_behind"] = instruction.row.unit in STAYS_BEHIND or instruction.row.reads_barrier
    if instruction.row.unit is UnitClass.BARRIER:
        finds = instruction.row.code
        row["barrier_at"], row["goes_on"] = by_register(instruction), finds == ARRIVE
        row["reduces"] = finds if finds in (COUNT, ANY, EVERY) else 0


UNIT = Declaration(
    "barrier",
    fields={
        "machine": (
            packed_key("barrier.latency", "barrier"),
            packed_key("barrier.per_warp"),
            packed_key("barrier.per_arrival"),
            packed_key("barrier.defers", "barrier_defers"),
        ),
        "row": (
            field("barrier", "its barrier's number", kind="i4"),
            field("arrivals", "warps that release the barrier; 0: all that have not exited", kind="i4"),
            field("barrier_at", "1: registers say which barrier it is, or for how many threads", kind="i1"),
            field("goes_on", "1: arrives and does not wait", kind="i1"),
            field("reduces", "what it finds about a predicate, as below", kind="i1"),
            field("stays_behind", "1: it does not pass a barrier at which its warp waits", kind="i1"),
        ),
        "sm": (field("arrival_free", "when the barrier unit takes the next arrival", role=Role.TIME),),
        "block": (field("barriers", "its barriers", BLOCK_BARRIER, kind="barrier"),),
        "barrier": (
            field("arrived", "warps", role=Role.SAME),
            field("expected", "warps that release it, as the first to arrive said", role=Role.SAME),
            field("reduced", "what those that have arrived find, as a row's `reduces`", role=Role.FREE),
            field("found", "by the warps that have arrived", role=Role.FREE),
            field("last_ends", "when the barrier unit has seen the last arrival", role=Role.TIME),
            field("waiting", "masks of warps", SCHEDULER, role=Role.SAME),
        ),
        "warp": (
            field("released_at", "when that barrier lets it pass, where the warp goes on meanwhile", role=Role.TIME),
            field("waits_at", "pc of the barrier at which it arrived last", role=Role.FREE),
            field("waits_for", "number of that barrier", role=Role.FREE),
            field("reduced", "what the last BAR.RED found", role=Role.FREE),
        ),
    },
    decode=decode,
    conditions=(
        Condition(
            "barrier.* what_if.barriers",
            "barrier per_warp per_arrival barriers_pass",
            lambda g: g.does(BARRIER),
            "{kernel} has no barrier",
        ),
        Condition(
            "barrier.*",
            "barrier per_warp per_arrival",
            lambda g: not g.record.barriers_pass,
            "nobody waits at barriers (what_if.barriers)",
        ),
    ),
)
