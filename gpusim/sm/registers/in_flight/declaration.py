"""Results in flight: whether results are effects on registers, and the hazards found among them."""

from __future__ import annotations

from gpusim.sm.unit.capacities import HAZARDS
from gpusim.sm.unit.declare import Declaration, Role, field

UNIT = Declaration(
    "in_flight",
    fields={
        "sm": (
            field(
                "defers",
                "1: results are written when they are there (sm/registers/in_flight/in_flight.py)",
                role=Role.FIXED,
            ),
            field("hazardous", "hazards noted", role=Role.FIXED),
            field("hazards", "the hazards noted", HAZARDS, kind="hazard", role=Role.FIXED),
        ),
        "hazard": (
            field("kind", "as in sm/registers/in_flight/in_flight.py"),
            field("pc", "the instruction that has it"),
            field("name", "register; or REGISTERS and the index of a predicate"),
            field("other", "pc of the instruction that it has it with"),
            field("times", "how often"),
        ),
    },
)
