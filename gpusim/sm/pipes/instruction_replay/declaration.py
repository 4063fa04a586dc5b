"""Instruction replay: issue slots that an access with conflicts takes again."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import NO_GLOBAL, NO_SHARED, accesses
from gpusim.sm.unit.declare import Condition, Declaration, Machine, field, packed_key
from gpusim.sm.unit.ranges import Count
from isa.row import Unit as UnitClass


class InstructionReplay(msgspec.Struct, frozen=True):
    """Issue slots that an access takes again beyond what its width needs without conflicts."""

    pass_slots: Count  # slots for each pass beyond the free ones through shared memory
    request_slots: Count  # slots for each request to global memory beyond one for each word of a lane


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Tell whether accesses take issue slots again."""
    replay = machine.instruction_replay
    packed.replays = replay is not None and replay.pass_slots + replay.request_slots > 0


UNIT = Declaration(
    "instruction_replay",
    fields={
        "machine": (
            field("replays", "1: accesses may take issue slots again"),
            packed_key("instruction_replay.pass_slots"),
            packed_key("instruction_replay.request_slots"),
        ),
    },
    pack=pack,
    conditions=(
        Condition("instruction_replay.pass_slots", "pass_slots", accesses(UnitClass.SHARED), NO_SHARED),
        Condition("instruction_replay.request_slots", "request_slots", accesses(UnitClass.GLOBAL), NO_GLOBAL),
    ),
    limits={"load/store unit": {"instruction_replay.*": 0}},
)
