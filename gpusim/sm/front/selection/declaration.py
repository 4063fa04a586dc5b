"""Selection: a selected warp that can't dispatch issues next."""

from __future__ import annotations

import msgspec

from gpusim.sm.pipes.pipe.declaration import pipes_of
from gpusim.sm.records import MachineNumbers
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.registers.register_file.declaration import register_banks
from gpusim.sm.unit.asks import ON_TIME, SCOREBOARD
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import UNIT_CODE
from gpusim.sm.unit.ranges import Flag


class Selection(msgspec.Struct, frozen=True):
    """A selected warp that can't dispatch is the next to go; without this section the policy chooses anew."""

    keeps: str  # unit classes whose pipe is looked at only when a warp has been selected; or `none`
    freezes: Flag  # 1: a stall for operands alone stops the stall counts of all warps of the scheduler
    full_yields: Flag  # 1: a warp that fills its scheduler's memory queue lets others go first, as one that yields


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """What may hold a selected warp; only a machine that obeys codes has stall counts to freeze."""
    if machine.selection:
        packed.selects, packed.freezes = 1, machine.selection.freezes and by_codes(machine)
        packed.full_yields = machine.selection.full_yields and by_codes(machine)
    packed.selection_may_wait = machine.selection is not None or register_banks(machine) > 0
    for unit, code in UNIT_CODE.items():
        has_pipes = bool(pipes_of(machine, unit))
        packed.units[code].asked = has_pipes and not (machine.selection and unit in machine.selection.keeps.split())


UNIT = Declaration(
    "selection",
    fields={
        "machine": (
            field("selects", "1: a selected warp that can't go at once is the next to go"),
            field("freezes", "1: a stall for operands stops the stall counts of the scheduler's warps"),
            field("full_yields", "1: a warp that fills its queue lets others go first"),
            field("selection_may_wait", "1: a selected warp may have to wait"),
        ),
        "unit_class": (field("asked", "1: it has pipes, and they must be free before a warp is selected"),),
        "scheduler": (field("selected", "warp that was selected and could not go yet, -1: none", role=Role.SAME),),
    },
    pack=pack,
    conditions=(
        Condition("selection.freezes selection.full_yields", "", lambda g: bool(g.record.obeys_codes), SCOREBOARD),
        Condition("selection.freezes", "freezes", lambda g: g.record.register_banks > 0, ON_TIME),
        Condition(
            "selection.full_yields",
            "full_yields",
            lambda g: g.policy != "lrr" and not g.alone,
            "the policy {policy} asks nobody who filled a queue",
        ),
    ),
)
