"""The texture path, and the sectors that it moves."""

from __future__ import annotations

from typing import Any

import msgspec

from gpusim.units.asks import accesses
from gpusim.units.cache import L1, SHARE_PARTS, TAGS
from gpusim.units.declare import Condition, Machine, Unit, field
from gpusim.units.global_memory import CHANNEL_KEYS, STILL, line_cycles, transaction_bytes
from gpusim.units.ranges import Positive
from isa.memory import SECTOR_BYTES
from isa.table import Unit as UnitClass


class Texture(msgspec.Struct, frozen=True):
    """The texture path; sectors of 32 bytes come through the memory channel, where no cache has them."""

    pipe: str  # a pipe, or several, as a unit class's
    latency: Positive  # cycles of a fetch


def fetch_cost(machine: Machine) -> int:
    """Parts of a cycle that a sector of a fetch occupies the channel; 0 if fetches hit in the SM, or tags are asked.

    If all loads hit the L2, fetches do, and the channel is the one to the L2.
    """
    hits = machine.cache.hits if machine.cache else "none"
    if machine.cache and hits == "l2":
        return int(machine.cache.l2_sector_parts)
    if hits != "none":
        return 0
    return round(SHARE_PARTS * line_cycles(machine) * SECTOR_BYTES / transaction_bytes(machine))


def _moves(given: Any) -> bool:
    """Whether fetches reach the channel behind the SM, and no cache with tags is in between."""
    return UnitClass.TEXTURE in given.units and given.record.hits not in (L1, TAGS)


def pack(packed: Any, machine: Machine) -> None:
    """What a sector of a fetch costs the channel."""
    packed.fetch_cost = fetch_cost(machine)


UNIT = Unit(
    "texture",
    fields={
        "machine": (field("fetch_cost", "parts of a cycle that a sector of a texture fetch occupies the channel"),)
    },
    pack=pack,
    conditions=(
        Condition("texture.*", "", accesses(UnitClass.TEXTURE), "{kernel} fetches no texture"),
        Condition(CHANNEL_KEYS, "fetch_cost", _moves, STILL),
    ),
    limits={"latency": {"texture.latency": 1}},
)
