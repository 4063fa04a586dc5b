"""An access to memory: what its addresses cost, and what is remembered of that."""

from __future__ import annotations

from gpusim.units.capacities import BANKS, FEED, LANE_GROUPS, LANES
from gpusim.units.declare import Role, Unit, field

UNIT = Unit(
    "memory_access",
    fields={
        "outcome": (
            field("cycles", "of the load/store unit; of shared memory as many as if no cycle had several passes"),
            field("extra", "cycles on top of the latency"),
            field("transactions", "lines it moves to or from global memory; sectors of a texture fetch"),
            field("requests", "lines that it asks caches for"),
            field("ready", "when what a cache that is only read was asked for is there"),
        ),
        "row": (
            field(
                "feed",
                "place among the accesses, comparisons and coordinates whose range is remembered (-1: none)",
                kind="i4",
            ),
        ),
        "sm": (
            field("memory_feeds", "memory instructions of the program", role=Role.FIXED),
            field("coordinate_feeds", "those, and comparisons that move with the block", role=Role.FIXED),
            field("feeds", "and two for each texture fetch that does: its column and its row", role=Role.FIXED),
            field(
                "feed",
                "what the addresses of each lane group's memory instructions cost",
                LANE_GROUPS,
                FEED,
                kind="feed",
                role=Role.FREE,
            ),
            field("scratch", "room for what one access is reckoned with", kind="scratch", role=Role.FREE),
        ),
        "feed": (
            field("version", "of the address register behind the remembered outcome (0: none)"),
            field("mask", "lanes it was computed for"),
            field("cycles", "the access's, as in outcome", kind="i4"),
            field("transactions", "the access's, as in outcome", kind="i4"),
            field("low", "lowest byte accessed"),
            field("high", "behind the highest"),
            field("residue", "place of the first active lane's address in a row of banks and lines"),
            field("step", "each active lane's distance from that address", LANES, kind="i4"),
        ),
        "scratch": (
            field("seen", "words seen per bank", BANKS, LANES),
            field("depth", "how many", BANKS),
            field("line", "lines, or words, seen so far", 4 * LANES),
            field("address", "a 32-bit number of each lane", LANES, kind="u4"),
            field("flag", "a 32-bit number of each lane", LANES, kind="u4"),
            field("a", "a 32-bit number of each lane", LANES, kind="u4"),
            field("b", "a 32-bit number of each lane", LANES, kind="u4"),
            field("c", "a 32-bit number of each lane", LANES, kind="u4"),
            field("d", "a 32-bit number of each lane", LANES, kind="u4"),
            field("a64", "a 64-bit number of each lane", LANES, kind="u8"),
            field("b64", "a 64-bit number of each lane", LANES, kind="u8"),
            field("c64", "a 64-bit number of each lane", LANES, kind="u8"),
            field("d64", "a 64-bit number of each lane", LANES, kind="u8"),
        ),
    },
)
