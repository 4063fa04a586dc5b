"""Comparisons of all lanes' values (MATCH): a unit behind the queues compares one different value after the other."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Condition, Declaration, Machine
from gpusim.sm.unit.opcodes import COMPUTE, MATCHES
from gpusim.sm.unit.ranges import Count, Positive
from isa.row import Row
from isa.values.cross_lane import match_all, match_any


class Match(msgspec.Struct, frozen=True):
    """MATCH where shuffles go through memory ports: MATCH.ALL takes one value; without this it is as a shuffle."""

    cycles: Positive  # cycles of the unit for each different value of the active lanes, and each 32 bits of it
    port: Positive  # cycles of its scheduler's port
    latency_32: Positive  # cycles from its service until a dependent instruction may issue, of one value
    latency_64: Positive  # the same cycles of 64 bits
    value_32: Count  # cycles that each further value adds
    value_64: Count  # the same cycles of 64 bits


def costs(row: Columns, form: Row, machine: Machine) -> None:
    """What a comparison takes with one value, and of each further one."""
    match = machine.match
    if match is None or form.across not in (match_any, match_all) or not row["queued"]:
        return
    words = form.words_of("a")
    row["path"], row["port"], row["port_cycles"] = MATCHES, match.port, 0
    row["service"] = match.cycles * words
    row["latency"] = match.latency_64 if words > 1 else match.latency_32
    if form.by_values:
        row["distinct"], row["later"] = row["service"], match.value_64 if words > 1 else match.value_32


UNIT = Declaration(
    "match",
    conditions=(
        Condition(
            "match.*",
            "",
            lambda g: bool(((g.rows["action"] == COMPUTE) & (g.rows["path"] == MATCHES)).any()),
            "{kernel} has no MATCH that goes through the load/store queue",
        ),
    ),
    limits={
        "load/store unit": {"match.cycles": 1, "match.port": 1},
        "latency": {"match.latency_*": 1, "match.value_*": 0},
    },
)
