"""Fences for the chip and the system (MEMBAR): what their warp waits for, and how long they take."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.ranges import Count, Positive
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.rows.control import CHIP, SYSTEM


class Fence(msgspec.Struct, frozen=True):
    """Fences, from the issue of one to that of the next instruction that waits for it."""

    gpu: Positive  # cycles of a fence for the chip, where nothing was accessed since the last
    system: Positive  # cycles of a fence for the system
    loads: Count  # further cycles of one for the chip if the warp has loaded from global memory since its last fence
    stores: Count  # cycles from when the warp's last store has left the SM until a fence behind it is over, at least


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """Fill in how long a fence takes at least."""
    form = instruction.row
    if machine.fence and form.mnemonic.startswith("MEMBAR") and form.code >= CHIP:
        row["fence"] = machine.fence.system if form.code == SYSTEM else machine.fence.gpu


UNIT = Declaration(
    "fence",
    fields={
        "machine": (
            packed_key("fence.gpu", "fence_of_chip"),
            packed_key("fence.loads", "fence_loads"),
            packed_key("fence.stores", "fence_stores"),
        ),
        "row": (field("fence", "cycles for which it holds its warp as a fence, at least", kind="i4"),),
        "warp": (
            field("stored", "when its last store has left the SM", role=Role.TIME),
            field("loaded", "1: it has loaded from global memory since its last fence", role=Role.SAME),
        ),
    },
    decode=decode,
    conditions=(
        Condition("fence.*", "", lambda given: bool(given.rows["fence"].any()), "{kernel} has no fence for the chip"),
    ),
    limits={"barriers": {"fence.gpu": 1, "fence.system": 1, "fence.loads": 0, "fence.stores": 0}},
)
