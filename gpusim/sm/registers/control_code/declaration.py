"""Control codes: the compiler says when an instruction may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import SCOREBOARD
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import HOLD
from gpusim.sm.unit.ranges import Count
from isa.instruction import Instruction
from isa.nvidia.control import Control
from isa.program import Program

if TYPE_CHECKING:
    from isa.kernel import Kernel


class Dependence(msgspec.Struct, frozen=True):
    """What keeps an instruction from issuing before those that it depends on; `scoreboard` where this is left out."""

    rule: Literal["scoreboard", "codes"]  # pending results and readers; or what control codes say, and nothing else
    yield_stall: Count  # cycles from an issue that yields to the warp's next, at least
    yield_rest: Count  # cycles from an issue that yields in which `cggty` stays with a warp that yields later
    variable: str  # unit classes, beside memory, whose results only a barrier tells of: codes are assigned so


def by_codes(machine: Machine) -> bool:
    """Tell whether the machine's instructions wait for what their control codes say, and for nothing else."""
    return machine.dependence is not None and machine.dependence.rule == "codes"


def has_codes(program: Program) -> bool:
    """Tell whether the program has control codes of its own."""
    return any(instruction.control for instruction in program.instructions)


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Whether control codes are obeyed, and what a yield costs."""
    if machine.dependence and by_codes(machine):
        packed.obeys_codes, packed.yield_stall = 1, machine.dependence.yield_stall
        packed.yield_rest = machine.dependence.yield_rest


def decode(row: Columns, instruction: Instruction, _machine: Machine, _: Kernel) -> None:
    """The instruction's control code; 0 stall cycles and no barriers without one."""
    code = instruction.control or Control(0)
    row["stall_count"], row["yields"], row["wait_mask"] = code.stall, code.yields, code.waits
    row["read_barrier"], row["write_barrier"] = (
        -1 if b is None else b for b in (code.read_barrier, code.write_barrier)
    )


UNIT = Declaration(
    "control_code",
    fields={
        "machine": (
            field("obeys_codes", "1: control codes say when an instruction may go"),
            field("yield_stall", "cycles from an issue that yields to the warp's next, at least"),
            field("yield_lasts", "cycles after which a yield is forgotten; 0: the policy asks nobody when it yielded"),
            field(
                "yield_rest", "cycles from an issue that yields in which `cggty` stays with a warp that yields later"
            ),
        ),
        "warp": (
            field(
                "holders",
                "memory instructions not served that hold a dependency barrier, by barrier and reason",
                HOLD,
                role=Role.SAME,
            ),
            field(
                "let_go",
                "when the other instructions that hold it release it, by barrier and reason",
                HOLD,
                role=Role.TIME,
            ),
        ),
        "row": (
            field(
                "stall_count",
                "control code: cycles until the warp's next issue; 0 too where there is no code",
                kind="i1",
            ),
            field("yields", "1: the scheduler may turn to another warp", kind="i1"),
            field("read_barrier", "let go when the sources have been read, -1: none", kind="i1"),
            field("write_barrier", "let go when the result is there, -1: none", kind="i1"),
            field("wait_mask", "mask of the barriers waited for", kind="i1"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "dependence.yield_stall dependence.yield_rest dependence.variable",
            "yield_stall",
            lambda g: bool(g.record.obeys_codes),
            SCOREBOARD,
        ),
        Condition(
            "dependence.yield_stall", "yield_stall", lambda g: bool(g.rows["yields"].any()), "{kernel} yields nowhere"
        ),
        Condition(
            "dependence.yield_rest",
            "yield_rest",
            lambda g: g.record.yield_lasts > 0,
            "the policy {policy} asks nobody when a warp yielded",
        ),
        Condition(
            "dependence.yield_rest",
            "yield_rest",
            lambda g: not g.alone,
            "no scheduler has more than one warp of {kernel}",
        ),
        Condition(
            "dependence.variable",
            "",
            lambda g: not has_codes(g.kernel.program),
            "{kernel} has control codes of its own",
        ),
    ),
    limits={"issue": {"dependence.yield_stall": 0}},
)
