"""Instruction fetch in the scan of every cycle: caches as dictionaries from line to arrival, in order of use."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from gpusim.machine.occupancy import occupancy
from scan.state import Scan, Warp

OWN, MEMORY = "l0", "memory"


def _levels(sm: Scan) -> tuple[str, ...]:
    fetch = sm.machine.fetch
    return (OWN, "l1", *(("l15",) if fetch and fetch.l15_lines else ()), MEMORY)


def _count(sm: Scan) -> int:
    """Lines of the program, including the place after its end."""
    return -(-(len(sm.code) + 1) // sm.machine.fetch.line) if sm.machine.fetch else 0


def walk(sm: Scan) -> None:
    """Use each line of the program once, by every scheduler, before the first cycle."""
    for line in range(_count(sm)):
        for k in range(sm.machine.schedulers.count):
            for level in _levels(sm)[:-1]:
                _use(sm, k, level, line, 0)


def fetch(sm: Scan, warp: Warp, now: int) -> None:
    """The warp goes on at its pc: if this is in another line, it asks for the line and looks ahead."""
    if sm.machine.fetch is None or warp.pc // sm.machine.fetch.line == warp.line:
        return
    k, before, warp.line = warp.slot % sm.machine.schedulers.count, warp.line, warp.pc // sm.machine.fetch.line
    warp.fetched = _line(sm, k, warp.line, now)
    ahead = range(warp.line + 1, warp.line + 1 + sm.machine.fetch.ahead)
    ahead = ahead[-1:] if warp.line == before + 1 else ahead
    asked = [line for line in ahead if _look_ahead(sm, k, line, now)]
    if not asked:
        _look_ahead(sm, k, warp.line + 1 + sm.machine.fetch.ahead, now)


def _look_ahead(sm: Scan, k: int, line: int, now: int) -> bool:
    """Ask for the line if the program has it and scheduler k's cache has not; return whether it was asked for."""
    lacks = line < _count(sm) and line not in _set(sm, k, OWN, line)
    if lacks:
        _line(sm, k, line, now)
    return lacks


def _line(sm: Scan, k: int, line: int, now: int) -> int:
    """The cycle at which the line is in scheduler k's cache."""
    asked, passed = now, []
    for level in _levels(sm):
        if level != OWN:
            free = max(sm.passed.get(level, Fraction(0)), Fraction(asked))
            sm.passed[level] = free + Fraction(_parts(sm, level), 64)
            asked = floor(free)
        if level == MEMORY or line in _set(sm, k, level, line):
            break
        passed.append(level)
    latency = 0 if level == OWN else getattr(sm.machine.fetch, f"{level}_latency")
    came = 0 if level == MEMORY else _set(sm, k, level, line)[line]
    there = max(came, asked + latency)
    if level != MEMORY:
        _use(sm, k, level, line, came)
    for nearer in passed:
        _use(sm, k, nearer, line, there)
    return there


def _parts(sm: Scan, level: str) -> int:
    """1/64 cycles for which a line keeps the port. All SMs share that of the L1.5, and are apart in longer grids."""
    fetch, machine = sm.machine.fetch, sm.machine
    wave = machine.chip.sms * occupancy(sm.kernel, machine).blocks
    if level == "l15" and sm.kernel.blocks > wave:
        return max(fetch.l15_parts, fetch.l15_apart_parts)
    return getattr(fetch, f"{level}_parts")


def _set(sm: Scan, k: int, level: str, line: int) -> dict[int, int]:
    """The lines of the set that the line belongs to."""
    lines, ways = (getattr(sm.machine.fetch, f"{level}_{key}") for key in ("lines", "ways"))
    place = line % (lines // ways)
    return sm.instruction_caches.setdefault((f"{level} of {k}" if level == OWN else level, place), {})


def _use(sm: Scan, k: int, level: str, line: int, came: int) -> None:
    """Make the line the one used last in its set; the one used longest ago leaves a full set."""
    held = _set(sm, k, level, line)
    held.pop(line, None)
    held[line] = came
    if len(held) > getattr(sm.machine.fetch, f"{level}_ways"):
        del held[next(iter(held))]
