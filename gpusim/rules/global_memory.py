"""Global memory as an SM sees it: requests, a channel of some bandwidth that moves transactions, then a latency.

The machine's rule of coalescing says which lanes are served together, and what is transferred (PG is the CUDA C
Programming Guide):

* `fermi`: a request of 4 bytes per thread is resolved over the warp, of 8 bytes over half-warps, of 16 bytes over
  quarter-warps; each distinct line is one request and one transaction (PG 4.2, F.4.2);
* `sectors`, Maxwell and later: the same requests, but only the touched 32-byte sectors of a line are transferred, each
  as a transaction (PG 6.5, G.5.2);
* `gt200`: over half-warps; the segment that holds the first waiting lane's address serves all lanes within, and is
  halved, down to 32 bytes, while only one half is used (PG 4.2, F.3.2.2); a transaction is 32 bytes of it.

If the loads hit a cache (then all loads of a launch do), each request of a load after the first delays its result. The
L1 transfers nothing; the L2 transfers sectors, and the channel is the SM's to the L2.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import lowest_bit, rarely, rule
from gpusim.units.capacities import LANES
from gpusim.units.global_memory import LINES, SEGMENTS
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES

HALF = LANES // 2


@rule
def transactions(sm: Any, active: int, words: int) -> tuple[int, int]:
    """Return requests and transactions of an access of `words` 32-bit words per lane, at the addresses in `scratch`."""
    which, line_bytes = sm.machine.global_rule, sm.machine.line_bytes
    if which == SEGMENTS:
        return _segments(sm, active, 4 * words)
    lines = _distinct(sm, active, words, line_bytes)
    return lines, lines if which == LINES else _distinct(sm, active, words, SECTOR_BYTES)


@rule
def sectors(sm: Any, active: int) -> int:
    """Return the number of distinct 32-byte sectors at the addresses in `sm.scratch`, one of each lane."""
    return _distinct(sm, active, 1, SECTOR_BYTES)


@rule
def words(sm: Any, active: int) -> int:
    """Return the number of distinct words at the addresses in `sm.scratch`."""
    return _distinct(sm, active, 1, WORD_BYTES)


@rule
def _distinct(sm: Any, active: int, words: int, line_bytes: int) -> int:
    """Return the number of distinct lines touched, summed over the groups of lanes that are resolved together."""
    count, group = 0, LANES // words
    line = sm.scratch.line
    for first in range(0, LANES, group):
        begin = count
        for lane in range(first, first + group):
            if (active >> lane) & 1:
                mine = sm.scratch.address[lane] // line_bytes
                if not _contains(line, begin, count, mine):
                    line[count] = mine
                    count += 1
    return count


@rarely
def _segments(sm: Any, active: int, size: int) -> tuple[int, int]:
    """Return the segments of both half-warps, and the sectors transferred for them; a lane accesses `size` bytes."""
    segments = sectors = 0
    for half in range(2):
        waiting = active & (0xFFFF << half * HALF)
        while waiting:
            wanted = sm.scratch.address[lowest_bit(waiting)] // sm.machine.line_bytes
            low, high = sm.machine.line_bytes, 0
            for lane in range(LANES):
                address = sm.scratch.address[lane]
                if (waiting >> lane) & 1 and address // sm.machine.line_bytes == wanted:
                    offset = int(address % sm.machine.line_bytes)
                    low, high = min(low, offset), max(high, offset + size - 1)
                    waiting &= ~(1 << lane)
            segments += 1
            sectors += _reduced(sm.machine.line_bytes, low, high) // SECTOR_BYTES
    return segments, sectors


@rule
def _reduced(size: int, low: int, high: int) -> int:
    """Return the bytes of the transaction for a segment: halved while one half contains all bytes from low to high."""
    while size > SECTOR_BYTES and low // (size // 2) == high // (size // 2):
        size //= 2
    return size


@rule
def _contains(line: Any, begin: int, end: int, wanted: int) -> bool:
    for i in range(end - 1, begin - 1, -1):  # noqa: SIM110  (neighbours share lines: the latest first, compiled)
        if line[i] == wanted:
            return True
    return False


@rule
def commit(sm: Any, lines: int, now: int) -> int:
    """The channel moves the transactions one by one; return the cycle at which the last has left."""
    return moved(sm, lines * sm.machine.line_cost, now) if lines else now


@rule
def moved(sm: Any, cost: int, now: int) -> int:
    """The channel moves what takes it `cost` parts of a cycle, after all before it; return when the last has left."""
    unit, parts = sm.load_store, sm.machine.channel_parts
    unit.channel = max(unit.channel, now * parts) + cost
    return (unit.channel + parts - 1) // parts
