"""Tag stage of the L1: where accesses look up their lines, one after the other; accesses to shared memory don't."""

from __future__ import annotations

from typing import Any

import msgspec

from gpusim.sm.memory.cache.declaration import NEAR, NO_TAGS, SHARE_PARTS, tagged, untagged
from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import asks, loads_from
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import RETURN
from gpusim.sm.unit.opcodes import STORE
from gpusim.sm.unit.ranges import Count, Positive
from isa.row import Unit as UnitClass


class TagStage(msgspec.Struct, frozen=True):
    """What accesses take of the L1's tag stage: loads whose lines are late, and stores, more than a load that hits."""

    late_parts: Count  # 1/64 cycles of a load for each group of neighbouring lines that is not there yet
    late_lines: Positive  # neighbouring lines that count as one such group
    late_most: Positive  # groups of lines that count for a load, at most
    store_parts: Count  # 1/64 cycles of a store
    store_word_parts: Count  # 1/64 cycles of a store besides, for each 32-bit word of a lane
    store_sector_parts: Count  # 1/64 cycles of a store for each sector, if these are more
    late_asks: Count = 0  # cycles of the unit for a load whose lines are late: it is served when they come; 0: at once
    late_words: Count = 0  # least 32-bit words of a lane of such a load; one of fewer takes its passes at once


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """What loads and stores take; without this section nothing waits for the stage."""
    stage = machine.tag_stage
    if stage and machine.l1 and tagged(machine):
        packed.tag_stages = 1
        packed.late_cost, packed.late_lines = stage.late_parts, stage.late_lines
        packed.late_most, packed.late_asks = stage.late_most, stage.late_asks
        packed.late_words = stage.late_words
        packed.store_cost, packed.store_word_cost = stage.store_parts, stage.store_word_parts
        packed.store_sector_cost = stage.store_sector_parts


def _stores(given: Any) -> bool:
    stores = given.does(STORE, unit=UnitClass.GLOBAL) or given.does(STORE, unit=UnitClass.LOCAL)
    return bool(given.levels["sets"][NEAR]) and stores


def _passed(given: Any) -> bool:
    """Some access takes the stage."""
    return _stores(given) or asks(NEAR)(given)


STORES = "store_cost store_word_cost store_sector_cost"
LATE = "late_cost late_lines late_most late_asks late_words"
ALL = f"tag_stages {LATE} {STORES}"

UNIT = Declaration(
    "tag_stage",
    fields={
        "machine": (
            field("tag_stages", "1: accesses take the tag stage one after the other"),
            field("late_cost", "parts of a cycle of a load for each group of lines that is late"),
            field("late_lines", "neighbouring lines of a group"),
            field("late_most", "groups of a load that count, at most"),
            field("late_asks", "cycles of the unit for a load that is served when its lines come; 0: it is at once"),
            field("late_words", "least words of a lane of such a load"),
            field("store_cost", "parts of a cycle of a store"),
            field("store_word_cost", "parts of a cycle of a store for each word of a lane"),
            field("store_sector_cost", "parts of a cycle of a store for each sector, if these are more"),
        ),
        "load_store": (
            field(
                "tagged", "when the tag stage is free, in parts of a cycle", role=Role.UNCOMPARED, parts=(SHARE_PARTS,)
            ),
            field("late", "groups of lines of the last load that were late", role=Role.UNCOMPARED),
            field("late_last", "the last of them", role=Role.UNCOMPARED),
            field("returns", "loads whose lines have not come, or not passed", role=Role.UNCOMPARED),
            field(
                "return_at", "when those of each come, the first ones first", RETURN, role=Role.UNCOMPARED, parts=(1,)
            ),
            field("return_entries", "and the entries that they had", RETURN, kind="entry"),
        ),
    },
    pack=pack,
    conditions=(
        Condition("tag_stage.*", "", lambda g: tagged(g.machine), NO_TAGS),
        Condition("tag_stage.*", ALL, _passed, "no access of {kernel} goes through the L1"),
        Condition("tag_stage.late_*", LATE, loads_from(NEAR), "no load of {kernel} asks the L1"),
        Condition("tag_stage.store_*", STORES, _stores, "{kernel} stores nothing through the L1"),
    ),
    limits={"bandwidth": {"tag_stage.*_parts": 0}, "load/store unit": {"tag_stage.late_asks": 1}},
    compared=untagged,
)
