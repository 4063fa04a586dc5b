"""SIMT stack: the paths of a warp whose lanes have diverged."""

from __future__ import annotations

from gpusim.units.capacities import GROUPS, PATHS, WARPS
from gpusim.units.declare import Role, Unit, field
from gpusim.units.dimensions import LANE_GROUP

UNIT = Unit(
    "simt_stack",
    fields={
        "row": (field("reconvergence", "pc where lanes meet that part here, -1: none do", kind="i4"),),
        "sm": (
            field("diverges", "1: lanes of a warp may part", role=Role.FIXED),
            field("simt_stack", "paths that wait, by warp slot", WARPS, PATHS, kind="path", role=Role.FREE),
        ),
        "path": (
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
            field("depth", "paths that wait", role=Role.FREE),
        ),
    },
)
