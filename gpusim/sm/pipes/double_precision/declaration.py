"""Double precision: when other schedulers may not issue beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import UNIT_CODE
from isa.instruction import Instruction
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class Double(msgspec.Struct, frozen=True):
    """When other schedulers may not issue beside double precision."""

    exclusive: Literal["off", "issue", "flight"]  # nothing; the same slot; all slots while one is in flight


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in for how long, and for which unit class, other schedulers are held off."""
    latency = machine.unit["dp"].latency if "dp" in machine.unit else 0
    cycles = {"off": 0, "issue": machine.schedulers.interval, "flight": latency}
    packed.exclusive = cycles[machine.double.exclusive]
    packed.units[UNIT_CODE[UnitClass.DP]].double = 1


def decode(row: Columns, instruction: Instruction, _machine: Machine, _: Kernel) -> None:
    """Tell whether the instruction is of double precision."""
    row["double"] = instruction.row.unit is UnitClass.DP


UNIT = Declaration(
    "double_precision",
    fields={
        "machine": (
            field("exclusive", "cycles from a DP issue during which the SM issues one instruction per slot (0: off)"),
        ),
        "unit_class": (field("double", "1: double precision"),),
        "row": (field("double", "1: double precision", kind="i1"),),
        "sm": (field("exclusive_until", "one issue per slot for the whole SM until then", role=Role.TIME),),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "double.*", "exclusive", lambda g: UnitClass.DP in g.units, "{kernel} has no instruction of unit class dp"
        ),
    ),
    limits={"issue": {"double.exclusive": "off"}},
)
