"""Constant operands: an instruction waits until the lines of its constants are in the constant cache.

The first warp that reaches an instruction with a constant in a line requests that line; later ones join the request.
A line of the next cache holds several; the first request of any of these takes longer. When a launch begins both caches
are empty, except for parameters in the next one; nothing is evicted.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.records import Sm, Warp
from gpusim.sm.unit.stall import Stall

IMC_MISS = int(Stall.IMC_MISS)


@rule
def commit(sm: Sm, warp: Warp, now: int) -> None:
    """The warp continues at its pc: request the constants of the instruction there, and wait for them."""
    instruction = sm.program[warp.pc]
    lines = instruction.constant_lines
    warp.release_at[IMC_MISS] = _request_all(sm, lines, instruction.constants_near, now) if lines else 0


@rarely
def _request_all(sm: Sm, lines: int, near: int, now: int) -> int:
    """Request those of some lines that nobody has requested; return when the last of all is there."""
    latest = 0
    while lines:
        line = lowest_bit(lines)
        lines &= lines - 1
        if not (sm.constants_asked >> line) & 1:
            turn = _turn(sm, now)
            sm.constants_there[line] = max(turn + sm.machine.constant_latency, 0 if near else _passed_on(sm, line, now))
            sm.constants_asked |= 1 << line
        latest = max(latest, sm.constants_there[line])
    return latest


@rule
def _turn(sm: Sm, now: int) -> int:
    """Return when the next cache serves the line to the last of the schedulers that ask for it.

    The first of them asks earlier than the last by the time that the previous line took to reach all.
    """
    lag = sm.launch.constant_lag
    begin = sm.constants_busy - lag if now < sm.constants_busy else now
    sm.constants_busy = begin + sm.launch.constant_cycles + lag
    return int(begin + lag)


@rule
def _passed_on(sm: Sm, line: int, now: int) -> int:
    """Return when the next cache has the line that holds a line requested at `now`."""
    count = sm.machine.far_lines
    first = line - line % count
    others = ((1 << count) - 1) << first
    if not sm.constants_asked & others:
        sm.constants_far[first] = now + sm.machine.constant_far_latency
    return int(sm.constants_far[first])
