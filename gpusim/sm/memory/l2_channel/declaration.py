"""L2 channels of an SM, and the slices of the L2, where tags are kept."""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any

import msgspec

from gpusim.sm.memory.cache.declaration import FAR, NO_ASKER, NO_TAGS, SHARE_PARTS, tagged, untagged
from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import looks, updates
from gpusim.sm.unit.capacities import HELD_LINES
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import HELD_LINE, STORE_SLICE
from gpusim.sm.unit.opcodes import FETCH, LOAD, STORE
from gpusim.sm.unit.ranges import MOST, Count, Positive
from isa.memory import SECTOR_BYTES

LOADS, STORES = range(2)  # channels between an SM and the L2, where there are two
OWN_PARTS = 64  # in which an SM's own part of what a slice gets counts
GROUPS = 8  # of the SMs for which one stands: where each stores there is one slice
ANSWERS = 2  # what the L2 sends, of lines for which several SMs ask to each of them


class L2Channel(msgspec.Struct, frozen=True):
    """Two L2 channels for each SM, one for loads and one for stores; all SMs share the L2's bandwidth."""

    store_parts: Positive  # 1/64 cycles of an SM's L2 channel for each sector stored; loads: cache.l2_sector_parts
    store_line_parts: Count  # 1/64 cycles besides for each line of a store to parts of sectors; of the L2, as a sector
    store_buffer: Count  # sectors, 32 bytes each, of an SM that may wait for the L2 before its next store does
    spread: Count  # cycles by which the slices near an SM are earlier with loads than the mean; the others are later
    load_bytes: Positive  # bytes per cycle that all SMs together load from the L2, at most
    store_bytes: Positive  # bytes per cycle that they store to it
    store_lines: Annotated[int, msgspec.Meta(ge=0, le=HELD_LINES)] = 0  # lines stored to last, to be joined; 0: none
    store_wait: Count = 0  # cycles for which a line waits at least
    store_line_wait: Count = 0  # cycles of the same for each line of its store, if that is longer
    slice_ahead: Count = 0  # cycles of stores by which a slice may be ahead of the mean, or behind; 0: all are equal
    load_line_parts: Count = 0  # 1/64 cycles of an SM's channel for each line of a load, at least
    load_least_bytes: Count = 0  # bytes for whose time the L2 is busy with what a load wants of a line, at least
    furthest: Count = 0  # cycles by which loads of the SM furthest from the L2 are later than those of the mean SM
    least_share: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1000  # thousandths of an equal share, of it
    merged: Count = 0  # multiprocessors of a GPC, at most, that get by one read what they want at once
    merged_blocks: Count = 0  # further blocks of an SM that halve how many SMs want it at the same time; 0: none do
    answer_bytes: Count = 0  # bytes per cycle that SMs get where those of a GPC ask for the same; 0: as load_bytes


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The costs of each channel; without this section there is one for both, and nobody shares the L2."""
    cache, channel = machine.cache, machine.l2_channel
    if cache is None or not tagged(machine):
        return
    packed.port_cost[:], packed.port_parts = cache.l2_sector_parts, SHARE_PARTS
    if channel:
        packed.port_cost[STORES], packed.ways_apart = channel.store_parts, 1
        packed.store_line_cost, packed.store_buffer = channel.store_line_parts, channel.store_buffer
        packed.store_lines, packed.store_wait = channel.store_lines, channel.store_wait
        packed.store_line_wait = channel.store_line_wait
        packed.slice_spread, packed.load_least = channel.spread, channel.load_least_bytes
        packed.load_line_cost = channel.load_line_parts
    if channel and channel.slice_ahead and machine.l2_atomic:
        slices = machine.l2_atomic
        packed.slice_ahead, packed.store_slices = channel.slice_ahead, slices.slices
        packed.store_slice_lines = max(1, slices.bytes // machine.global_memory.line_bytes)
        packed.store_groups, packed.own_slice = own_slices(machine, 1)


def sector_shares(machine: Machine, sms: int) -> tuple[int, int, int]:
    """1/64 cycles in which an SM's share of the L2's bandwidth moves a sector, of loads, stores and shared answers.

    So many SMs have equal shares; 0 where the bandwidth is unknown.
    """
    whole = machine.l2_channel
    if whole is None:
        return 0, 0, 0
    moved = SHARE_PARTS * SECTOR_BYTES * sms
    return round(moved / whole.load_bytes), round(moved / whole.store_bytes), round(moved / most_loaded(whole))


def own_slices(machine: Machine, sms: int) -> tuple[int, int]:
    """In how many slices are the lines of so many SMs for which one stands, and what its own stores take one of these.

    That in parts of the SM's share of the L2. If n SMs store in slices of their own, chance gives one of S slices what
    is S / sqrt(n) shares more than the mean; if these are in g groups, each of them S / sqrt(n g).
    """
    slices, groups = machine.l2_atomic.slices if machine.l2_atomic else 0, min(GROUPS, sms)
    return groups, round(OWN_PARTS * slices / sqrt(sms * groups))


def most_loaded(whole: L2Channel) -> int:
    """Return the bytes per cycle that all SMs get from the L2 at most: where many ask for the same lines."""
    return max(whole.load_bytes, whole.answer_bytes)


def merges(machine: Machine) -> bool:
    """Tell whether requests of the SMs of a GPC for the same lines are merged before the L2."""
    whole = machine.l2_channel
    return bool(whole and tagged(machine) and whole.answer_bytes > whole.load_bytes)


def _stores(given: Any) -> bool:
    return bool(given.does(STORE)) or updates(given)


def _loads(given: Any) -> bool:
    return bool(given.does(LOAD, FETCH))


SLICED = "slice_ahead store_slices store_slice_lines store_groups own_slice"
STORED = f"store_line_cost store_buffer store_lines store_wait store_line_wait {SLICED}"
ALL = f"port_cost port_parts ways_apart slice_spread {STORED} load_line_cost load_least shared_cost shared_parts"

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
            field("store_lines", "lines stored to, the last ones, that wait for stores that join them"),
            field("store_wait", "cycles for which such a line waits at least"),
            field("store_line_wait", "the same for each line of its store, if that is longer"),
            field("slice_ahead", "cycles by which a slice may have more stores to do than the mean, or fewer"),
            field("store_slices", "slices of the L2 that do stores; 0: all are equally busy"),
            field("store_slice_lines", "neighbouring lines of one slice"),
            field("store_groups", "groups of SMs for which one stands, each with slices of its own"),
            field("own_slice", "parts of its share of the L2 that a store takes one slice beyond the mean"),
            field(
                "load_line_cost",
                "parts of a cycle in which the channel of loads moves what a load wants of a line, at least",
            ),
            field("load_least", "bytes for whose time the L2 is busy with what a load wants of a line, at least"),
            field("shared_cost", "parts of a cycle in which the L2 moves them, and shared ones; 0: it is not known", 3),
            field("shared_parts", "parts of a cycle in which that time counts"),
        ),
        "load_store": (
            field(
                "port",
                "when each L2 channel is free, in parts of a cycle",
                2,
                role=Role.UNCOMPARED,
                parts=("port_parts",),
            ),
            field(
                "shared",
                "when the L2 itself is, for loads, for stores and for shared answers, in parts of a cycle",
                3,
                role=Role.UNCOMPARED,
                parts=("shared_parts",),
            ),
            field("held_line", "1 and each line stored to that may be joined", HELD_LINE, role=Role.UNCOMPARED),
            field("held_sectors", "what stores wrote of it, a mask", HELD_LINE, role=Role.UNCOMPARED),
            field("held_until", "when it leaves", HELD_LINE, role=Role.UNCOMPARED, parts=(1,)),
            field("joined", "1: the line stored to last waited already", role=Role.FREE),
            field("sent", "of that line's store, the sectors that joined none, a mask", role=Role.FREE),
            field("held", "the place of the line stored to last", role=Role.FREE),
            field("held_next", "the place of the next such line", role=Role.UNCOMPARED),
            field(
                "slices_even",
                "work that all slices have got, in parts of a cycle",
                role=Role.UNCOMPARED,
                parts=("shared_parts", "store_slices"),
            ),
            field("of_last", "what the last store took the L2, in parts of a cycle", role=Role.FREE),
            field("ahead", "when each slice has done its own work besides", STORE_SLICE, role=Role.UNCOMPARED),
            field("asked", "of the SM's share of the L2 so far, by each of these, in parts", 3, role=Role.TOTAL),
            field("began", "when the SM asked for the first", 3, role=Role.UNCOMPARED),
        ),
    },
    pack=pack,
    conditions=(
        Condition("l2_channel.*", "", lambda g: tagged(g.machine), NO_TAGS),
        Condition("l2_channel.*", ALL, lambda g: g.cached, NO_ASKER),
        Condition("l2_channel.*", ALL, looks(FAR), "nothing asks the L2"),
        Condition(
            "l2_channel.store_*",
            f"port_cost.{STORES} {STORED} shared_cost.{STORES}",
            _stores,
            "{kernel} stores nothing",
        ),
        Condition("l2_channel.slice_ahead", SLICED, _stores, "{kernel} stores nothing"),
        Condition(
            "l2_channel.spread l2_channel.load_*",
            f"slice_spread load_line_cost load_least shared_cost.{LOADS}",
            _loads,
            "{kernel} loads nothing",
        ),
        Condition("l2_channel.answer_bytes", f"shared_cost.{ANSWERS}", _loads, "{kernel} loads nothing"),
    ),
    limits={
        "bandwidth": {
            "l2_channel.store_parts": 1,
            "l2_channel.store_line_parts": 0,
            "l2_channel.store_buffer": MOST,
            "l2_channel.store_lines": HELD_LINES,
            "l2_channel.store_*wait": MOST,
            "l2_channel.slice_ahead": 0,
            "l2_channel.load_bytes": MOST,
            "l2_channel.store_bytes": MOST,
            "l2_channel.answer_bytes": MOST,
            "l2_channel.load_line_parts": 0,
            "l2_channel.load_least_bytes": 0,
        },
        "latency": {"l2_channel.spread": 0, "l2_channel.furthest": 0},
    },
    compared=untagged,
)
