"""Dispatch ports: what a scheduler issues in one turn, and what a refused instruction costs."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import NO_QUEUE
from gpusim.sm.unit.capacities import UNITS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.opcodes import UNIT_CODE
from gpusim.sm.unit.ranges import Flag, Positive
from isa.row import Unit as UnitClass


class Issue(msgspec.Struct, frozen=True):
    """What happens in an issue slot."""

    # Whose instructions the dispatch ports of one turn take; by category: different warps', one of each category.
    pairing: Literal["same-warp", "different-warp", "different-category"]
    rotate: Flag  # 1: the schedulers' rank rotates from slot to slot
    refused_wastes_slot: Flag  # 1: an instruction refused by a full queue costs the slot
    refused_moves_pointer: Flag  # 1: the policy goes on from the refused warp; 0: from the last one that issued
    refused_retry: Positive  # cycles until a refused warp is considered again


def pairs(machine: Machine, unit: UnitClass) -> tuple[UnitClass, ...]:
    """Return the unit classes that a later dispatch port takes after an instruction of this one in the same turn."""
    if machine.issue.pairing == "different-category":
        return tuple(other for other in UnitClass if _category(machine, other) != _category(machine, unit))
    named = machine.pairing.get(unit.value)
    return tuple(UnitClass) if named is None else tuple(other for other in UnitClass if other in named.split())


def _category(machine: Machine, unit: UnitClass) -> str:
    return str(machine.category.get(unit.value, unit.value))


def _meet(given: Any) -> bool:
    """Some two schedulers have slots in the same cycle."""
    schedulers = given.machine.schedulers
    offsets = {k * schedulers.stagger % schedulers.interval for k in range(schedulers.count)}
    return bool(len(offsets) < schedulers.count)


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Whose instructions a turn takes, and which unit classes go beside each other."""
    packed.same_warp = machine.issue.pairing == "same-warp"
    for unit, code in UNIT_CODE.items():
        packed.pairs[code] = sum(1 << UNIT_CODE[other] for other in pairs(machine, unit))


UNIT = Declaration(
    "dispatch",
    fields={
        "machine": (
            packed_key("issue.rotate"),
            packed_key("issue.refused_wastes_slot", "wastes_slot"),
            packed_key("issue.refused_moves_pointer", "moves_pointer"),
            packed_key("issue.refused_retry", "retry"),
            packed_key("schedulers.dispatch_ports", "ports"),
            field("same_warp", "1: all of them from one warp, 0: each from another"),
            field("pairs", "by unit class: mask of those that a later port of the same turn takes", UNITS),
        ),
        "scheduler": (
            field("dispatched", "instructions in the turn of the last issue", role=Role.SAME),
            field("pairable", "unit classes that a later port of that turn takes", role=Role.SAME),
        ),
    },
    pack=pack,
    conditions=(
        Condition("issue.rotate", "rotate", _meet, "no two schedulers have a slot in the same cycle"),
        Condition("issue.rotate", "rotate", lambda g: g.machine.schedulers.count > 1, "there is one scheduler"),
        Condition("issue.pairing", "same_warp", lambda g: g.record.ports > 1, "a turn has one dispatch port"),
        Condition("issue.refused_*", "wastes_slot moves_pointer retry", lambda g: g.queued, NO_QUEUE),
        Condition(
            "issue.refused_moves_pointer issue.refused_retry",
            "moves_pointer retry",
            lambda g: bool(g.record.wastes_slot),
            "a full queue refuses nobody (issue.refused_wastes_slot = 0)",
        ),
        Condition(
            "issue.refused_moves_pointer",
            "moves_pointer",
            lambda g: g.policy != "oldest" and not g.alone,
            "the policy {policy} has no pointer to move",
        ),
        Condition("pairing.* category.*", "", lambda g: g.record.ports > 1, "a turn has one dispatch port"),
        Condition("pairing.* category.*", "", lambda g: g.pairs, "no scheduler has more than one warp of {kernel}"),
        Condition(
            "pairing.*",
            "",
            lambda g: g.machine.issue.pairing != "different-category",
            "categories say what goes together (issue.pairing)",
        ),
        Condition(
            "category.*",
            "",
            lambda g: g.machine.issue.pairing == "different-category",
            "issue.pairing is not different-category",
        ),
    ),
    limits={
        "load/store queue": {"issue.refused_wastes_slot": 0},
        "issue": {"issue.pairing": "different-warp", "pairing.*": " ".join(UnitClass)},
    },
)
