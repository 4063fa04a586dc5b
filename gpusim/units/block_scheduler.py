"""Block scheduler: places blocks on the SM, and retires them."""

from __future__ import annotations

import msgspec

from gpusim.units.declare import Condition, Role, Unit, field, packed_key
from gpusim.units.dimensions import BLOCK, WARP
from gpusim.units.ranges import Count


class LaunchTimes(msgspec.Struct, frozen=True):
    """How blocks start on an SM."""

    block_latency: Count  # cycles from a block's retirement to the start of the one that takes its place
    warp_skew: Count  # cycles between the starts of successive warps of a block
    block_skew: Count  # cycles between the starts of successive blocks at the beginning


FREE, RUNNING, DONE = range(3)  # states of a block slot


UNIT = Unit(
    "block_scheduler",
    fields={
        "machine": (
            packed_key("launch.block_latency"),
            packed_key("launch.warp_skew"),
            packed_key("launch.block_skew"),
        ),
        "launch": (
            field("grid", "blocks of the grid in x, y, z", 3),
            field("block", "threads of a block in x, y, z", 3),
            field("threads", "threads of a block"),
            field("warps", "warps of a block"),
            field("meets", "1: they meet at barriers"),
            field("resident", "blocks that fit at once"),
            field("next", "id of the next block to place", role=Role.TOTAL),
            field("stride", "from one block of this SM to its next"),
            field("end", "block ids end here"),
        ),
        "sm": (
            field("placed", "blocks so far", role=Role.TOTAL),
            field("aged", "warps so far", role=Role.TOTAL),
            field("empty", "warp-slot cycles without a block", role=Role.TOTAL),
            field("empty_since", "since when each warp slot has no block", WARP, role=Role.STAMP),
            field("warp_slots", "warp slots that the resident blocks have", role=Role.FIXED),
            field("blocks", "resident blocks, by slot", BLOCK, kind="block"),
            field("warps", "resident warps, by slot", WARP, kind="warp"),
        ),
        "block": (
            field("id", "its number in the grid", role=Role.NUMBER, of="launch.next"),
            field("live", "warps that have not exited", role=Role.SAME),
            field("state", "FREE, RUNNING or DONE", role=Role.SAME),
            field("finished", "when the last warp left", role=Role.TIME),
        ),
        "warp": (
            field("block", "block slot", role=Role.SAME),
            field("index", "warp within the block", role=Role.SAME),
            field("scheduler", "its warp scheduler", role=Role.SAME),
            field("place", "its bit in that scheduler's masks", role=Role.SAME),
            field("live", "1: resident and not exited", role=Role.SAME),
            field("age", "order of placement, smaller is older", role=Role.NUMBER, of="aged"),
            field("threads", "how many those are", role=Role.SAME),
        ),
    },
    conditions=(
        Condition(
            "launch.block_latency", "block_latency", lambda g: g.share > g.resident, "all blocks of an SM start at once"
        ),
        Condition("launch.warp_skew", "warp_skew", lambda g: g.kernel.warps > 1, "a block of {kernel} is one warp"),
        Condition(
            "launch.block_skew", "block_skew", lambda g: g.resident > 1, "an SM has one block of {kernel} at a time"
        ),
    ),
    limits={"starts of blocks": {"launch.*": 0}},
)
