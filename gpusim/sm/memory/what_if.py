"""What no chip does: limits lifted, to learn what they cost."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.declare import Declaration, Machine, field


class WhatIf(msgspec.Struct, frozen=True):
    """What no chip does: limits lifted, to learn what they cost. No machine file has it; `gpusim limits` sets it."""

    # Who shares a pass, `banks` unless set; one-pass: all lanes, all words.
    shared_memory: Literal["banks", "conflict-free", "one-pass"] = "banks"
    # `wait` unless set; pass: nobody waits at a barrier, and values are wrong where one was needed.
    barriers: Literal["wait", "pass"] = "wait"
    # `wait` unless set; there: no wait for groups of copies waits, and values that needed one are wrong.
    copies: Literal["wait", "there"] = "wait"


SHARED_IDEALS = ("banks", "conflict-free", "one-pass")  # what is lifted of the rules of shared memory
BANKS, CONFLICT_FREE, ONE_PASS = range(len(SHARED_IDEALS))


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in which limits are lifted."""
    if machine.what_if:
        packed.shared_ideal = SHARED_IDEALS.index(machine.what_if.shared_memory)
        packed.barriers_pass = machine.what_if.barriers == "pass"


UNIT = Declaration(
    "what_if",
    fields={
        "machine": (
            field("shared_ideal", "index into SHARED_IDEALS"),
            field("barriers_pass", "1: nobody waits at a barrier"),
        ),
    },
    pack=pack,
    limits={
        "bank conflicts": {"what_if.shared_memory": "conflict-free"},
        "shared-memory passes": {"what_if.shared_memory": "one-pass"},
        "barriers": {"what_if.barriers": "pass"},
        "waits for copies": {"what_if.copies": "there"},
    },
)
