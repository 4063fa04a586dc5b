"""Warp schedulers: each issues from the warp slots that equal its number modulo their count."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.capacities import PORTS, SCHEDULERS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import SCHEDULER, UNIT_CLASS
from gpusim.sm.unit.ranges import Count, Positive


class Schedulers(msgspec.Struct, frozen=True):
    """Warp schedulers of one SM; scheduler k owns the warp slots that equal k modulo `count`."""

    count: Annotated[int, msgspec.Meta(ge=1, le=SCHEDULERS)]  # warp schedulers
    interval: Positive  # cycles between issue slots of one scheduler
    stagger: Count  # cycles by which scheduler k's slots lag behind those of scheduler 0, times k
    dispatch_ports: Annotated[int, msgspec.Meta(ge=1, le=PORTS)]  # most instructions of a scheduler in one turn
    issue_interval: Positive  # cycles between the turns in which one warp issues, at least
    policy: str  # one of gpusim.sm.front.policies.declaration.POLICY_NAMES, or registered from Python
    active: Positive  # warps of one scheduler among which `two_level` chooses


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in the binary logarithm of the interval."""
    interval = machine.schedulers.interval
    packed.shift = interval.bit_length() - 1 if interval.bit_count() == 1 else -1


UNIT = Declaration(
    "warp_scheduler",
    fields={
        "machine": (
            packed_key("schedulers.count", "schedulers"),
            packed_key("schedulers.interval"),
            field("shift", "its binary logarithm, which saves costly divisions; -1: it is no power of two"),
            packed_key("schedulers.stagger"),
            packed_key("schedulers.issue_interval"),
        ),
        "sm": (field("schedulers", "the warp schedulers", SCHEDULER, kind="scheduler"),),
        "scheduler": (
            field("waiting", "warps that are not ready", role=Role.SAME),
            field("ready", "warps past all own reasons", role=Role.SAME),
            field("units", "unit classes that ready warps need", role=Role.SAME),
            field("ready_for", "ready warps by the unit class they need", UNIT_CLASS, role=Role.SAME),
            field("issued", "warp instructions", role=Role.TOTAL),
            field("used_until", "end of the last issue slot that was used", role=Role.MOMENT),
            field("issued_at", "cycle of the last issue", role=Role.MOMENT),
        ),
        "warp": (
            field("pc", "its next instruction", role=Role.SAME),
            field("unit", "unit class of that instruction", role=Role.SAME),
            field("ready_at", "slot at which it became ready", role=Role.MOMENT),
            field("issued_at", "cycle of its last issue", role=Role.FREE),
        ),
    },
    pack=pack,
    conditions=(
        Condition("schedulers.stagger", "stagger", lambda g: g.machine.schedulers.count > 1, "there is one scheduler"),
        Condition(
            "schedulers.active", "active", lambda g: g.policy == "two_level", "the policy {policy} has no active warps"
        ),
        Condition(
            "schedulers.policy schedulers.active",
            "policy active",
            lambda g: not g.alone,
            "no scheduler has more than one warp of {kernel}",
        ),
    ),
    limits={
        "issue": {
            "schedulers.interval": 1,
            "schedulers.stagger": 0,
            "schedulers.issue_interval": 1,
            "schedulers.dispatch_ports": PORTS,
        }
    },
)
