"""Convergence: the groups of a warp whose lanes are independent, and the barriers at which they meet."""

from __future__ import annotations

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import BARRIERS, LANES
from gpusim.sm.unit.declare import Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import PARTED, WARP
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Convergence, Immediate, Register
from isa.row import BRANCHES, Flow, Row, Signal

# What an instruction does to the groups of its warp.
NOTHING, GO, GO_INDIRECT, LEAVE, EXPECT, MEET, TAKE_AWAY, GATHER, PART, COLLECT, DISPERSE, GIVE_WAY, TRAP, LOOKS = (
    range(14)
)
STEPS = {
    **dict.fromkeys(BRANCHES, GO),
    Flow.EXIT: LEAVE,
    Flow.EXPECT: EXPECT,
    Flow.MEET: MEET,
    Flow.TAKE_AWAY: TAKE_AWAY,
    Flow.GATHER: GATHER,
    Flow.GATHER_ALL: GATHER,
    Flow.PART: PART,
    Flow.COLLECT: COLLECT,
    Flow.DISPERSE: DISPERSE,
    Flow.GIVE_WAY: GIVE_WAY,
    Flow.TRAP: TRAP,
}
# Which lanes are left of those whose guard holds: all; where predicates hold. Or all that run, if others than a mask's
# lanes do or fail the guard; if none do.
ALL_LEFT, WHERE_TRUE, IF_PARTED, IF_WHOLE = range(4)
ASKS = {Flow.IF_PARTED: IF_PARTED, Flow.IF_WHOLE: IF_WHOLE}


def decode(row: Columns, instruction: Instruction, _machine: Machine, kernel: Kernel) -> None:
    """Fill in what control flow of independent lanes needs; numbers and registers of letter k take places a and b."""
    if not kernel.program.has_independent_lanes:
        return
    form = instruction.row
    row["steers"] = _step(form)
    row["narrows"] = ASKS.get(form.flow, WHERE_TRUE if instruction.gates() else ALL_LEFT)
    row["code_end"], row["clears"] = len(kernel.program), form.form[:1] == "d"
    for operand in instruction.operands:
        if isinstance(operand, Convergence):
            row["convergence"] = operand.index
    asked = [o for letter, o in instruction.slots() if letter == "k"]
    for place, operand in enumerate(asked):
        _number(row, place, operand)
    if not asked and (row["steers"] in (GATHER, PART, COLLECT) or row["narrows"] in (IF_PARTED, IF_WHOLE)):
        _number(row, 0, Immediate((1 << LANES) - 1, "int"))


def _step(form: Row) -> int:
    if form.signal and form.signal in (Signal.LOOK, Signal.AWAIT):
        return LOOKS
    return GO_INDIRECT if form.is_indirect else STEPS.get(form.flow, NOTHING)


def _number(row: Columns, place: int, operand: object) -> None:
    row["source"][place], row["constant"][place] = -1, 0
    if isinstance(operand, Immediate):
        row["constant"][place] = operand.bits & 0xFFFFFFFF
    elif isinstance(operand, Register):
        row["source"][place] = -1 if operand.index == RZ_INDEX else operand.index
        row["constant"][place] = 0xFFFFFFFF if operand.inverted else 0


UNIT = Declaration(
    "convergence",
    fields={
        "row": (
            field(
                "steers", "what it does to the groups of its warp (gpusim.sm.lanes.convergence.declaration)", kind="i1"
            ),
            field(
                "narrows",
                "which lanes are left of those whose guard holds (gpusim.sm.lanes.convergence.declaration)",
                kind="i1",
            ),
            field("convergence", "number of its convergence barrier", kind="i1"),
            field("clears", "1: moves its convergence barrier into a register, and clears it", kind="i1"),
            field("code_end", "instructions of the program, for branches to an address", kind="i4"),
        ),
        "sm": (
            field("independent", "1: lanes are scheduled by convergence barriers", role=Role.FIXED),
            field("parted", "groups that do not run, by warp slot", WARP, PARTED, kind="parted_lanes", role=Role.FREE),
            field(
                "places",
                "where lanes of an indirect branch go; masks that go on apart",
                LANES,
                role=Role.FREE,
            ),
        ),
        "parted_lanes": (
            field("pc", "where its lanes go on"),
            field("lanes", "mask of its lanes"),
            field("state", "what it waits for, as in gpusim.sm.lanes.convergence.convergence"),
            field("barrier", "the convergence barrier at which it waits"),
            field("label", "where its lanes go on after a collective"),
            field("old", "1: another group has parted since"),
        ),
        "warp": (
            field("gone", "mask of the lanes that have exited", role=Role.FREE),
            field("parted", "groups that do not run", role=Role.FREE),
            field("convergence", "masks of its convergence barriers", BARRIERS, role=Role.FREE),
            field("plain", "the convergence barriers that one BSSY alone has set, as bits", role=Role.FREE),
            field("partners", "mask of those for whom each lane waits at a WARPSYNC", LANES, role=Role.FREE),
        ),
    },
    decode=decode,
)
