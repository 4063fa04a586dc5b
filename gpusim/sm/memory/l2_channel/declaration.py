"""L2 channels of an SM, and the slices of the L2, where tags are kept."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gpusim.sm.memory.cache.declaration import FAR, NO_ASKER, NO_TAGS, SHARE_PARTS, tagged, untagged
from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import looks, updates
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import FETCH, LOAD, STORE
from gpusim.sm.unit.ranges import MOST, Count, Positive
from isa.memory import SECTOR_BYTES

Sectors = Annotated[int, msgspec.Meta(ge=1, le=4)]
Parts = Annotated[int, msgspec.Meta(ge=1, le=SHARE_PARTS)]
LOADS, STORES = range(2)  # channels between an SM and the L2, where there are two


class L2Channel(msgspec.Struct, frozen=True):
    """Two L2 channels for each SM, one for loads and one for stores; all SMs share the L2's bandwidth."""

    store_parts: Positive  # 1/64 cycles of an SM's L2 channel for each sector stored; loads: cache.l2_sector_parts
    store_line_parts: Count  # 1/64 cycles besides for each line of a store to parts of sectors; of the L2, as a sector
    store_buffer: Count  # sectors, 32 bytes each, of an SM that may wait for the L2 before its next store does
    spread: Count  # cycles by which the slices near an SM are earlier with loads than the mean; the others are later
    load_bytes: Positive  # bytes per cycle that all SMs together load from the L2, at most
    store_bytes: Positive  # bytes per cycle that they store to it
    load_together: Sectors = 1  # sectors that lie side by side, of which the L2 answers all at once
    merged_parts: Parts = SHARE_PARTS  # 64ths of a load's time in the L2, at least, where SMs of a GPC ask for the same


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The costs of each channel; without this section there is one for both, and nobody shares the L2."""
    cache, channel = machine.cache, machine.l2_channel
    if cache is None or not tagged(machine):
        return
    packed.port_cost[:], packed.port_parts = cache.l2_sector_parts, SHARE_PARTS
    if channel:
        packed.port_cost[STORES], packed.ways_apart = channel.store_parts, 1
        packed.store_line_cost, packed.store_buffer = channel.store_line_parts, channel.store_buffer
        packed.slice_spread, packed.load_together = channel.spread, channel.load_together
        packed.merged_parts = channel.merged_parts


def sector_shares(machine: Machine, sms: int) -> tuple[int, int]:
    """1/64 cycles in which an SM's share of the L2's bandwidth moves a sector, of loads and of stores.

    So many SMs have equal shares; 0 where the bandwidth is unknown.
    """
    whole = machine.l2_channel
    if whole is None:
        return 0, 0
    moved = SHARE_PARTS * SECTOR_BYTES * sms
    return round(moved / whole.load_bytes), round(moved / whole.store_bytes)


def most_loaded(whole: L2Channel) -> float:
    """Return the bytes per cycle that all SMs get from the L2 at most: where many ask for the same lines."""
    return whole.load_bytes * SHARE_PARTS / whole.merged_parts


def _stores(given: Any) -> bool:
    return bool(given.does(STORE)) or updates(given)


def _loads(given: Any) -> bool:
    return bool(given.does(LOAD, FETCH))


ALL = (
    "port_cost port_parts ways_apart slice_spread store_line_cost store_buffer load_together merged_parts shared_cost "
    "shared_parts"
)

UNIT = Declaration(
    "l2_channel",
    fields={
        "machine": (
            field("port_cost", "parts of a cycle in which the L2 channel moves 32 bytes of loads, of stores", 2),
            field("port_parts", "parts of a cycle in which its time counts"),
            field("ways_apart", "1: stores have a channel of their own"),
            field("slice_spread", "cycles by which a slice of the L2 is nearer or further than the mean"),
            field("store_line_cost", "further parts for each line of a store of parts of sectors"),
            field("store_buffer", "sectors that may wait for the L2 before the next store does"),
            field("load_together", "sectors of a line that the L2 answers at once"),
            field("merged_parts", "of 64 parts of that time, those that a load takes that many SMs ask for, at least"),
            field("shared_cost", "parts of a cycle in which the L2 moves 32 bytes of each; 0: it is not known", 2),
            field("shared_parts", "parts of a cycle in which that time counts"),
        ),
        "load_store": (
            field("port", "when each L2 channel is free, in parts of a cycle", 2, role=Role.UNCOMPARED),
            field(
                "shared",
                "when the L2 itself is, for loads and for stores, in parts of a cycle",
                2,
                role=Role.UNCOMPARED,
            ),
            field("moved", "sectors of loads, of stores so far", 2, role=Role.UNCOMPARED),
            field(
                "asked", "of the SM's share of the L2 so far, by loads and by stores, in parts", 2, role=Role.UNCOMPARED
            ),
            field("began", "when the SM asked for the first", 2, role=Role.UNCOMPARED),
        ),
    },
    pack=pack,
    conditions=(
        Condition("l2_channel.*", "", lambda g: tagged(g.machine), NO_TAGS),
        Condition("l2_channel.*", ALL, lambda g: g.cached, NO_ASKER),
        Condition("l2_channel.*", ALL, looks(FAR), "nothing asks the L2"),
        Condition(
            "l2_channel.store_*",
            f"port_cost.{STORES} store_line_cost store_buffer shared_cost.{STORES}",
            _stores,
            "{kernel} stores nothing",
        ),
        Condition(
            "l2_channel.spread l2_channel.load_*",
            f"slice_spread load_together shared_cost.{LOADS}",
            _loads,
            "{kernel} loads nothing",
        ),
    ),
    limits={
        "bandwidth": {
            "l2_channel.store_parts": 1,
            "l2_channel.store_line_parts": 0,
            "l2_channel.store_buffer": MOST,
            "l2_channel.*_bytes": MOST,
            "l2_channel.load_together": 1,
            "l2_channel.merged_parts": 1,
        },
        "latency": {"l2_channel.spread": 0},
    },
    compared=untagged,
)
