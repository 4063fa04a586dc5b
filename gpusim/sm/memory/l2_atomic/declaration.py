"""Slices of the L2, which do atomics, and stores of many blocks to few lines, one after the other."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gpusim.sm.memory.cache.declaration import FAR, NO_TAGS, SHARE_PARTS, tagged, untagged
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import looks
from gpusim.sm.unit.capacities import SLICES
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import SLICE
from gpusim.sm.unit.ranges import MOST, Count, Positive
from isa.dataflow.memory.shared_places import shared_places
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.row import Kind
from isa.row import Unit as UnitClass

SLICE_SHIFT = 12  # of the product with SPREADING: neighbouring lines of several slices differ
TURNS = 4  # pieces in a row, of which two slices have every second one
ALONE = 64  # as a share: what a slice does of an atomic is this SM's own


class L2Atomic(msgspec.Struct, frozen=True):
    """The L2's slices. A pass of an atomic takes lanes of one line, and of each word one, as they left the SM."""

    slices: Annotated[int, msgspec.Meta(ge=1, le=SLICES)]  # slices that work at the same time
    bytes: Positive  # neighbouring bytes of one slice, whole lines; of four such pieces two slices have two in turn
    sector_parts: Positive  # 1/64 cycles of the slice for each sector of a pass, or stored
    whole_parts: Positive  # 1/64 cycles, at least, for a pass behind another of its line, of whole numbers
    real_parts: Positive  # 1/64 cycles, the same of real numbers, which wait for each other's sums longer
    waiting: Positive  # lanes of an SM's atomics without results, and stored sectors, behind which the next one waits
    ending: Count = 0  # cycles that a launch takes to end behind its last exit anyway, in which slices still work


def sums_doubles(instruction: Instruction) -> bool:
    """Tell whether an atomic changes real numbers of 64 bits, of which a slice does fewer at once."""
    return updates_reals(instruction) and "F64" in instruction.row.mnemonic


def updates_reals(instruction: Instruction) -> bool:
    """Tell whether an atomic adds, or compares, real numbers."""
    return instruction.row.numbers is not Kind.INTEGER


def decode(row: Columns, instruction: Instruction, machine: Machine, _kernel: Kernel) -> None:
    """What a pass behind another takes its slice at least, and whether sectors of several numbers take it twice."""
    rules = machine.l2_atomic
    if rules and instruction.row.update is not None and instruction.row.unit is UnitClass.GLOBAL:
        row["pass_parts"] = rules.real_parts if updates_reals(instruction) else rules.whole_parts
        row["doubles"] = sums_doubles(instruction)


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The slices, and what they take."""
    rules = machine.l2_atomic
    if rules and machine.l2 and tagged(machine):
        packed.slices, packed.slice_lines = rules.slices, rules.bytes // machine.global_memory.line_bytes
        packed.update_parts, packed.updates_waiting = rules.sector_parts, rules.waiting
        packed.slices_end, packed.pass_parts = rules.ending, rules.whole_parts


def _updates(given: Any) -> bool:
    return bool((given.rows["packets"] > 0).any() or shared_places(given.kernel))


ALL = "slices slice_lines update_parts updates_waiting slices_end pass_parts"

NOTHING = "{kernel} has no atomic to global memory, nor stores that its blocks send to the same lines"

UNIT = Declaration(
    "l2_atomic",
    decode=decode,
    pack=pack,
    fields={
        "machine": (
            field("slices", "of the L2, 0: nothing is known of them, or nobody asks one for long"),
            field("slice_lines", "neighbouring lines of one slice"),
            field("update_parts", "parts of a cycle for each sector of a pass, or stored"),
            field("updates_waiting", "lanes of atomics without results, and stored sectors, that may wait"),
            field("pass_parts", "parts of a cycle, at least, for a pass behind another of its line"),
            field("slices_end", "cycles behind the last exit in which they work unnoticed"),
        ),
        "row": (
            field("pass_parts", "of an atomic, least parts of a cycle for a pass behind another", kind="i4"),
            field("doubles", "1: an atomic of real numbers of 64 bits", kind="i1"),
            field("slice_blocks", "of an atomic, blocks in a row whose lanes lie in one slice; 0: all may", kind="i4"),
            field(
                "slice_share",
                "64ths of this SM's passes, or stores, that all do there; 0: not known, or spread",
                kind="i4",
            ),
        ),
        "load_store": (
            field(
                "slice",
                "when each slice has done what came before, in parts of a cycle",
                SLICE,
                role=Role.UNCOMPARED,
                parts=(SHARE_PARTS,),
            ),
            field("updating", "for how long each has worked, in parts of a cycle", SLICE, role=Role.TOTAL),
            field(
                "updated",
                "when the last one of the SM is done, behind which its loads wait",
                role=Role.UNCOMPARED,
                parts=(1,),
            ),
            field("slice_line", "1 and the line that each slice did the last of them to", SLICE, role=Role.UNCOMPARED),
            field(
                "updates_sent",
                "when those without results have left the SM, in parts of a cycle",
                role=Role.UNCOMPARED,
                parts=(SHARE_PARTS,),
            ),
            field("updates", "lanes, and stored sectors, since one last waited for no other", role=Role.UNCOMPARED),
            field("updates_began", "when that was", role=Role.UNCOMPARED, parts=(1,)),
        ),
        "chip": (
            field("slice", "when each slice has done the atomics before, in parts of a cycle", SLICE),
            field("slice_line", "1 and the line that each slice did the last of them to", SLICE),
        ),
    },
    conditions=(
        Condition("l2_atomic.*", "", lambda g: tagged(g.machine), NO_TAGS),
        Condition("l2_atomic.*", ALL, _updates, NOTHING),
        Condition("l2_atomic.*", ALL, looks(FAR), "nothing asks the L2"),
    ),
    limits={
        "bandwidth": {
            "l2_atomic.*_parts": 1,
            "l2_atomic.slices": SLICES,
            "l2_atomic.waiting": MOST,
            "l2_atomic.ending": MOST,
        }
    },
    compared=untagged,
)
