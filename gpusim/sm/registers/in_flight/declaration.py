"""Instructions in flight, where results are written when they are there."""

from __future__ import annotations

from gpusim.sm.unit.capacities import GROUPS, HAZARDS, LANES
from gpusim.sm.unit.declare import Role, Unit, field
from gpusim.sm.unit.dimensions import IN_FLIGHT, WARP

UNIT = Unit(
    "in_flight",
    fields={
        "sm": (
            field(
                "defers",
                "1: results are written when they are there (sm/registers/in_flight/in_flight.py)",
                role=Role.FIXED,
            ),
            field("hazardous", "hazards noted", role=Role.FIXED),
            field(
                "in_flight",
                "instructions in flight, by warp slot",
                WARP,
                IN_FLIGHT,
                kind="in_flight_entry",
                role=Role.FIXED,
            ),
            field("hazards", "the hazards noted", HAZARDS, kind="hazard", role=Role.FIXED),
        ),
        "in_flight_entry": (
            field("pc", "the instruction"),
            field("order", "counts up"),
            field("mask", "active lanes, by lane group", GROUPS),
            field("written", "when its result is written"),
            field("read", "when its sources are read"),
            field("access", "number of its access, once it has been served"),
            field("written_back", "1: the result has been written"),
            field("stale", "1: a source was overwritten before it was read"),
            field("truth", "its predicate, as masks of lanes", GROUPS),
            field("second_truth", "its other predicate", GROUPS),
            field("values", "its registers", GROUPS, 4, LANES, kind="u4"),
        ),
        "hazard": (
            field("kind", "as in sm/registers/in_flight/in_flight.py"),
            field("pc", "the instruction that has it"),
            field("name", "register; or REGISTERS and the index of a predicate"),
            field("other", "pc of the instruction that it has it with"),
            field("times", "how often"),
        ),
        "warp": (
            field("in_flight_count", "instructions in flight, where they are followed", role=Role.FIXED),
            field("deferred", "instructions followed so far", role=Role.FIXED),
        ),
    },
)
