"""Comparisons of all lanes' values (MATCH.ANY): the load/store unit takes one different value after the other."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Condition, Declaration, Machine
from gpusim.sm.unit.opcodes import COMPUTE
from gpusim.sm.unit.ranges import Count, Positive
from isa.row import Row


class Match(msgspec.Struct, frozen=True):
    """MATCH.ANY where shuffles go through memory ports; elsewhere, and without this, it is as a shuffle."""

    cycles: Positive  # cycles of the load/store unit for each different value of the active lanes
    port: Positive  # least cycles of its scheduler's port; else as many as of the unit
    latency: Positive  # cycles from its service until a dependent instruction may issue, of one value
    value_latency: Count  # cycles that each further value adds


def costs(row: Columns, form: Row, machine: Machine) -> None:
    """What MATCH.ANY takes with one value, and of each further one."""
    match = machine.match
    if match is None or not form.by_values or not row["queued"]:
        return
    row["service"], row["distinct"], row["later"] = match.cycles, match.cycles, match.value_latency
    row["port"], row["port_cycles"], row["latency"] = match.port, 1, match.latency


UNIT = Declaration(
    "match",
    conditions=(
        Condition(
            "match.*",
            "",
            lambda g: bool(((g.rows["action"] == COMPUTE) & (g.rows["distinct"] > 0)).any()),
            "{kernel} has no MATCH.ANY that goes through the load/store queue",
        ),
    ),
    limits={
        "load/store unit": {"match.cycles": 1, "match.port": 1},
        "latency": {"match.latency": 1, "match.value_latency": 0},
    },
)
