"""Constant operands: an instruction waits until the lines of its constants are in the constant cache.

The first warp that reaches an instruction with a constant in a line requests that line; later ones join the request.
Lines of the next cache hold several; the first request of any of these takes longer. When a launch begins both caches
are empty, but that the next one may have the parameters, and nothing is evicted later.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import lowest_bit, rarely, rule
from gpusim.units.stall import Stall

IMC_MISS = int(Stall.IMC_MISS)


@rule
def commit(sm: Any, warp: Any, now: int) -> None:
    """The warp continues at its pc: request the constants of the instruction there, and wait for them."""
    instruction = sm.program[warp.pc]
    lines = instruction.constant_lines
    warp.release_at[IMC_MISS] = _request_all(sm, lines, instruction.constants_near, now) if lines else 0


@rarely
def _request_all(sm: Any, lines: int, near: int, now: int) -> int:
    """Request those of some lines that nobody has requested; return when the last of all is there."""
    latest = 0
    while lines:
        line = lowest_bit(lines)
        lines &= lines - 1
        if not (sm.constants_asked >> line) & 1:
            sm.constants_there[line] = now + sm.machine.constant_latency if near else _request(sm, line, now)
            sm.constants_asked |= 1 << line
        latest = max(latest, sm.constants_there[line])
    return latest


@rule
def _request(sm: Any, line: int, now: int) -> int:
    """Return when a requested line is there: the next cache passes it on, but not before it has its own line."""
    count = sm.machine.far_lines
    first = line - line % count
    others = ((1 << count) - 1) << first
    if not sm.constants_asked & others:
        sm.constants_far[first] = now + sm.machine.constant_far_latency
    return max(now + sm.machine.constant_latency, sm.constants_far[first])
