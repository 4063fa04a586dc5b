"""Barriers of a block."""

from __future__ import annotations

import msgspec

from gpusim.units.declare import Condition, Role, Unit, field, packed_key
from gpusim.units.dimensions import BLOCK_BARRIER, SCHEDULER
from gpusim.units.opcodes import BARRIER
from gpusim.units.ranges import Count


class Barrier(msgspec.Struct, frozen=True):
    """BAR.SYNC."""

    latency: Count  # cycles from the last arrival to the release
    per_warp: Count  # further cycles for each warp released so far, the one in question included


UNIT = Unit(
    "barrier",
    fields={
        "machine": (
            packed_key("barrier.latency", "barrier"),
            packed_key("barrier.per_warp"),
        ),
        "row": (
            field("barrier", "its barrier's number", kind="i4"),
            field("arrivals", "warps that release the barrier", kind="i4"),
        ),
        "block": (field("barriers", "its barriers", BLOCK_BARRIER, kind="barrier"),),
        "barrier": (
            field("arrived", "warps", role=Role.SAME),
            field("expected", "warps that release it, as the first to arrive said", role=Role.SAME),
            field("waiting", "masks of warps", SCHEDULER, role=Role.SAME),
        ),
        "warp": (field("waits_at", "pc of the barrier at which it arrived last", role=Role.FREE),),
    },
    conditions=(
        Condition(
            "barrier.* what_if.barriers",
            "barrier per_warp barriers_pass",
            lambda g: g.does(BARRIER),
            "{kernel} has no barrier",
        ),
        Condition(
            "barrier.*",
            "barrier per_warp",
            lambda g: not g.record.barriers_pass,
            "nobody waits at barriers (what_if.barriers)",
        ),
    ),
)
