"""Asynchronous copies: where in shared memory an instruction's words go, and what they take of the load/store unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gpusim.sm.memory.cache.declaration import NEAR, NO_TAGS, SHARE_PARTS, tagged
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import through_port
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import UNIT_CODE
from gpusim.sm.unit.ranges import MOST, Count, Positive
from isa.instruction import Instruction
from isa.operands.operand import RZ_INDEX
from isa.row import CLOSES, Groups, Row
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class AsyncCopy(msgspec.Struct, frozen=True):
    """Copies that the load/store unit leaves behind; without this section they keep it for all their passes."""

    cycles: Positive  # cycles of the load/store unit for a copy, at least
    behind_passes: Positive  # a copy of so many passes keeps the unit no longer than that
    port: Positive  # least cycles from a copy to the next instruction of its scheduler
    pass_parts: Count  # 1/64 cycles for which a copy through the L1 takes the way of its passes besides these
    line_parts: Count  # 1/64 cycles that a copy takes once more when its lines come to the L1
    passes_ahead: Count  # cycles of passes, or of the L2 channel past the L1, that the unit may leave behind
    lines_ahead: Count  # cycles of these and of lines that come again
    request_parts: Positive  # 1/64 cycles of the SM's L2 channel for each line of which a copy asks for sectors
    l1_latency: Positive  # cycles from service to the end of a copy that hits the L1
    l2_latency_32: Positive  # cycles of a copy of this width that hits the L2, one line
    l2_latency_64: Positive
    l2_latency_128: Positive
    l2_latency_bypass: Positive  # cycles of one past the L1
    close: Positive  # cycles of the load/store unit for LDGDEPBAR
    close_latency: Positive  # cycles from its service until a group without copies is done


WIDTHS = 3  # places of the cache's latencies; those of copies follow


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """What copies take of the unit where caches keep tags; else they have the latencies of loads, and keep the unit."""
    copy, cache = machine.async_copy, machine.cache
    if cache is None or not tagged(machine):
        return
    packed.far_latency[WIDTHS:] = cache.l2_latency_32, cache.l2_latency_64, cache.l2_latency_128, cache.l2_latency_128
    if copy:
        own = copy.l2_latency_32, copy.l2_latency_64, copy.l2_latency_128, copy.l2_latency_bypass
        packed.far_latency[WIDTHS:], packed.copied_line = own, copy.request_parts
        packed.copy_cycles, packed.behind_passes = copy.cycles, copy.behind_passes
        packed.pass_cost, packed.line_again = copy.pass_parts, copy.line_parts
        packed.passes_ahead, packed.lines_ahead = copy.passes_ahead, copy.lines_ahead


def costs(row: Columns, form: Row, machine: Machine) -> None:
    """Let LDGDEPBAR go through the load/store unit, and copies take its port, where that is known."""
    copy = machine.async_copy
    row["far"] = row["width"]
    if "M" in form.form:
        row["far"] = WIDTHS + (WIDTHS if form.bypasses else row["width"])
    if copy is None:
        return
    if "M" in form.form:
        row["port"] = copy.port
        if through_port(machine, UnitClass.SYNC):
            row["unit"] = UNIT_CODE[UnitClass.SYNC]  # who finds the queue full waits for mio_throttle
        if row["cached"] == 1 + NEAR:
            row["latency"] = copy.l1_latency
    elif form.grouping & CLOSES and form.groups is Groups.COPIES:
        unit = UnitClass.SYNC if through_port(machine, UnitClass.SYNC) else UnitClass.SHARED  # one that is queued
        row["unit"], row["queued"] = UNIT_CODE[unit], 1
        row["service"], row["latency"] = copy.close, copy.close_latency


def decode(row: Columns, instruction: Instruction, _: Machine, __: Kernel) -> None:
    """The place in shared memory, of a copy."""
    place = instruction.destination_in_shared() if "M" in instruction.row.form else None
    row["copies"], row["to_pointer"], row["to_uniform"] = place is not None, -1, -1
    if place is not None:
        row["fills"] = instruction.row.fills
        row["to_offset"], row["to_scale"] = place.offset, place.scale
        row["to_pointer"] = -1 if place.base.index == RZ_INDEX else place.base.index
        row["to_uniform"] = -1 if place.uniform is None else place.uniform.index


def _copies(given: Any) -> bool:
    return bool((given.rows["copies"] > 0).any())


ALL = "copy_cycles behind_passes pass_cost line_again passes_ahead lines_ahead copied_line"

TAGGED = " ".join(f"async_copy.{key}" for key in ("cycles", "*pass*", "line*", "request_parts", "l*_latency*"))

UNIT = Declaration(
    "async_copy",
    fields={
        "machine": (
            field(
                "copy_cycles", "cycles of the load/store unit for a copy, at least; 0: it keeps the unit for its passes"
            ),
            field("behind_passes", "passes from which on a copy keeps it no longer"),
            field("pass_cost", "parts of a cycle that a copy through the L1 takes besides its passes"),
            field("line_again", "parts that it takes once more for lines that come"),
            field("passes_ahead", "cycles of passes that the unit may leave behind"),
            field("lines_ahead", "cycles of these and of lines that come again"),
            field("copied_line", "parts of a cycle of the L2 channel for each line of a copy; 0: its sectors say"),
        ),
        "load_store": (
            field(
                "copied",
                "when the passes of copies through the L1 are over, in parts of a cycle",
                role=Role.UNCOMPARED,
                parts=(SHARE_PARTS,),
            ),
            field(
                "brought",
                "when those of all copies are, and of their lines, in parts",
                role=Role.UNCOMPARED,
                parts=(SHARE_PARTS,),
            ),
            field("near_copies", "1: the last copy went through the L1", role=Role.UNCOMPARED),
        ),
        "queue": (
            field(
                "passed",
                "when the passes of its scheduler's copies through the L1 are over",
                role=Role.UNCOMPARED,
                parts=(1,),
            ),
        ),
        "row": (
            field("far", "place of its latency from the L2 among those", kind="i1"),
            field("copies", "1: what it loads goes to shared memory", kind="i1"),
            field("fills", "1: the lowest bits of its address say how many bytes at the end are zeros", kind="i1"),
            field("to_pointer", "register of the place there, -1: none", kind="i4"),
            field("to_scale", "by which that register is multiplied", kind="i4"),
            field("to_uniform", "uniform register that is added, -1: none", kind="i4"),
            field("to_offset", "bytes that are added", kind="i8"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition("async_copy.*", ALL, _copies, "{kernel} has no asynchronous copy"),
        Condition(TAGGED, "", lambda g: tagged(g.machine), NO_TAGS),
    ),
    limits={
        "load/store unit": {
            "async_copy.cycles": 1,
            "async_copy.behind_passes": 1,
            "async_copy.port": 1,
            "async_copy.pass_parts": 0,
            "async_copy.line_parts": 0,
            "async_copy.passes_ahead": MOST,
            "async_copy.lines_ahead": MOST,
            "async_copy.close": 1,
        },
        "bandwidth": {"async_copy.request_parts": 1},
        "latency": {"async_copy.l*_latency*": 1, "async_copy.close_latency": 1},
    },
)
