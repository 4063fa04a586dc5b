"""The caches through which a launch fetches instructions, packed for the rules, and their initial contents."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpusim.machine.machine import Machine
from gpusim.sm.front.fetch.declaration import OWN_CACHE, Fetch
from gpusim.sm.unit.dimensions import LEVELS


class Level(NamedTuple):
    """A level from which lines come; memory has no sets and holds every line."""

    lines: int
    ways: int
    latency: int
    parts: int


def levels(fetch: Fetch, *, apart: bool = False) -> list[Level]:
    """Return the levels of a machine, from the schedulers' own caches to memory; `apart`: SMs are not in lockstep."""
    parts = max(fetch.l15_parts, fetch.l15_apart_parts) if apart else fetch.l15_parts
    return [
        Level(fetch.l0_lines, fetch.l0_ways, 0, 0),
        Level(fetch.l1_lines, fetch.l1_ways, fetch.l1_latency, fetch.l1_parts),
        *([Level(fetch.l15_lines, fetch.l15_ways, fetch.l15_latency, parts)] if fetch.l15_lines else []),
        Level(0, 1, fetch.memory_latency, fetch.memory_parts),
    ]


def largest(machine: Machine) -> int:
    """Return how many lines the largest cache holds, 0 if there is none."""
    return max((level.lines for level in levels(machine.fetch)), default=0) if machine.fetch else 0


def pack(packed: Any, machine: Machine, rows: int, *, apart: bool) -> None:
    """Pack the levels for a program of so many rows, up to the first that holds all of it: no request goes further.

    SMs are `apart`, not in lockstep, where the grid has more than one wave. If the schedulers' own caches hold all of
    it, no fetch is ever late.
    """
    if machine.fetch is None:
        return
    lines = _lines(machine.fetch, rows)
    for index, level in enumerate(levels(machine.fetch, apart=apart)):
        sets = level.lines // level.ways
        one = packed.levels[index]
        one.latency, one.parts = level.latency, level.parts
        if sets == 0 or -(-lines // sets) <= level.ways:
            break
        one.sets, one.ways = sets, level.ways
    packed.fetches = index > OWN_CACHE


def fill(sm: Any, machine: Machine, rows: int) -> None:
    """Fill the caches with the lines that a walk through the program leaves, as if it had run before."""
    if machine.fetch is None:
        return
    sm.lines = _lines(machine.fetch, rows)
    for index, level in enumerate(sm.machine.levels):
        if level.sets:
            for cache in sm.instruction_caches[_caches(index)]:
                _walk(cache.lines, int(sm.lines), int(level.sets), int(level.ways))


def _lines(fetch: Fetch, rows: int) -> int:
    """Return the lines of a program of so many rows."""
    return -(-rows // fetch.line)


def _caches(level: int) -> slice:
    """Return where the caches of a level lie among all caches."""
    return slice(LEVELS - 1, None) if level == OWN_CACHE else slice(level - 1, level)


def _walk(held: Any, lines: int, sets: int, ways: int) -> None:
    """Fill in the most recently used lines of each set, the latest first."""
    for first in range(min(sets, lines)):
        last = [line + 1 for line in range(first, lines, sets)][-ways:]
        held[first * ways : first * ways + len(last)] = last[::-1]
