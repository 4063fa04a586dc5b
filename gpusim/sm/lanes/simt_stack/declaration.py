"""SIMT stack: the paths of a warp whose lanes have diverged."""

from __future__ import annotations

from gpusim.sm.unit.capacities import GROUPS
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import LANE_GROUP, WAITING_PATH, WARP

UNIT = Declaration(
    "simt_stack",
    fields={
        "row": (field("reconvergence", "pc where lanes meet that part here, -1: none do", kind="i4"),),
        "sm": (
            field("diverges", "1: lanes of a warp may part", role=Role.FIXED),
            field(
                "simt_stack",
                "entries that wait, by warp slot",
                WARP,
                WAITING_PATH,
                kind="stack_entry",
                role=Role.FREE,
            ),
        ),
        "stack_entry": (
            field("pc", "where its lanes go on"),
            field("lanes", "masks of its lanes", GROUPS),
            field("reconvergence", "pc where they wait for others"),
        ),
        "warp": (
            field(
                "lanes",
                "masks of the lanes that go on; where none have parted, those that have a thread",
                LANE_GROUP,
                role=Role.SAME,
            ),
            field("reconvergence", "pc where they wait for others, -1: nowhere", role=Role.FREE),
            field("depth", "entries that wait", role=Role.FREE),
        ),
    },
)
