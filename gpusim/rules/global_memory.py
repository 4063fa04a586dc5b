"""Global memory as an SM sees it: transactions of whole lines, a channel of some bandwidth, then a latency.

Fermi (CUDA C Programming Guide 4.2, F.4.2): a request of 4 bytes per thread is resolved over the warp, of 8 bytes over
half-warps, of 16 bytes over quarter-warps; each distinct 128-byte line is one transaction.
"""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule
from gpusim.state import LANES


@rule
def transactions(sm: Any, active: int, words: int) -> int:
    """Lines that a warp's access of `words` 32-bit words per lane touches, at the addresses in `sm.scratch`."""
    count, group = 0, LANES // words
    line = sm.scratch.line
    for first in range(0, LANES, group):
        begin = count
        for lane in range(first, first + group):
            if (active >> lane) & 1:
                mine = sm.scratch.address[lane] // sm.machine.line_bytes
                if not _contains(line, begin, count, mine):
                    line[count] = mine
                    count += 1
    return count


@rule
def _contains(line: Any, begin: int, end: int, wanted: int) -> bool:
    for i in range(end - 1, begin - 1, -1):  # noqa: SIM110  (neighbours share lines: the latest first, compiled)
        if line[i] == wanted:
            return True
    return False


@rule
def commit(sm: Any, lines: int, now: int) -> int:
    """The channel moves the lines one by one; returns the cycle at which the last has gone."""
    unit, parts = sm.load_store, sm.machine.channel_parts
    if lines == 0:
        return now
    unit.channel = max(unit.channel, now * parts) + lines * sm.machine.line_cost
    return (unit.channel + parts - 1) // parts
