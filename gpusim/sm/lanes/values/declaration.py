"""Values: registers, predicates and memory, computed as instructions issue."""

from __future__ import annotations

from gpusim.sm.unit.capacities import GROUPS, LANES, PREDICATES
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import BUFFER, EACH_LANE_GROUP, REGISTER

UNIT = Declaration(
    "values",
    fields={
        "sm": (
            field("writes", "register writes so far", role=Role.FREE),
            field("lanes", "values of each lane group", EACH_LANE_GROUP, kind="lanes", role=Role.FREE),
            field("buffers", "where global buffers lie", BUFFER, kind="buffer", role=Role.FIXED),
        ),
        "lanes": (
            field("registers", "of each lane", REGISTER, LANES, kind="u4"),
            field("predicates", "mask of lanes", PREDICATES),
        ),
        "buffer": (
            field("start", "first byte address"),
            field("end", "byte address after its last"),
            field("page_end", "byte address after the last that loads may read"),
        ),
        "launch": (
            field("buffers", "of global memory"),
            field("index", "the SM's number in the chip"),
            field("mhz", "of the clock in which cycles count, for the time in nanoseconds"),
            field("window", "what 64-bit addresses have above those of global memory"),
            field("thread_registers", "registers of a thread; those of the warp follow"),
        ),
        "warp": (field("version", "number of the write that made each register's value", REGISTER, role=Role.FREE),),
        "outcome": (
            field("active", "by lane group, mask of the lanes whose guard holds", GROUPS),
            field("threads", "how many those are"),
        ),
    },
)
