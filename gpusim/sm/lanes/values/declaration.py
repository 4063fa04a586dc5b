"""Values: registers, predicates and memory, computed as instructions issue."""

from __future__ import annotations

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import BUFFERS, GROUPS, LANE_GROUPS, LANES, PREDICATES, REGISTERS
from gpusim.sm.unit.declare import Machine, Role, Unit, field
from gpusim.sm.unit.opcodes import ACROSS_TRUTHS, CROSS_LANE
from isa.instruction import Instruction
from isa.kernel import Kernel


def decode(row: Columns, instruction: Instruction, _machine: Machine, _kernel: Kernel) -> None:
    """Fill in the predicate that a cross-lane instruction writes; of a source of 64 bits the upper word goes to b."""
    form = instruction.row
    if row["action"] != CROSS_LANE:
        return
    row["truth"] = ACROSS_TRUTHS.index(form.across_truth) if form.across_truth and row["predicate"] >= 0 else -1
    if form.words_of("a") > 1:
        row["source"][1] = row["source"][0] + 1 if row["source"][0] >= 0 else -1
        row["constant"][1] = row["constant"][0] >> 32


UNIT = Unit(
    "values",
    fields={
        "sm": (
            field("writes", "register writes so far", role=Role.FREE),
            field("lanes", "values of each lane group", LANE_GROUPS, kind="lanes", role=Role.FREE),
            field("buffers", "where global buffers lie", BUFFERS, kind="buffer", role=Role.FIXED),
        ),
        "lanes": (
            field("registers", "of each lane", REGISTERS, LANES, kind="u4"),
            field("predicates", "mask of lanes", PREDICATES),
        ),
        "buffer": (
            field("start", "first byte address"),
            field("end", "byte address after its last"),
            field("page_end", "byte address after the last that loads may read"),
        ),
        "launch": (
            field("buffers", "of global memory"),
            field("index", "the SM's number in the chip"),
            field("mhz", "of the clock in which cycles count, for the time in nanoseconds"),
            field("window", "what 64-bit addresses have above those of global memory"),
            field("thread_registers", "registers of a thread; those of the warp follow"),
        ),
        "warp": (field("version", "number of the write that made each register's value", REGISTERS, role=Role.FREE),),
        "outcome": (
            field("active", "by lane group, mask of the lanes whose guard holds", GROUPS),
            field("threads", "how many those are"),
        ),
    },
    decode=decode,
)
