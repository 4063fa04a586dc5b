"""Global memory as an SM sees it: requests, a channel of some bandwidth that moves transactions, then a latency.

The machine's rule of coalescing says which lanes are served together, and what is transferred (PG is the CUDA C
Programming Guide):

* `fermi`: a request of 4 bytes per thread is resolved over the warp, of 8 bytes over half-warps, of 16 bytes over
  quarter-warps; each distinct line is one request and one transaction (PG 4.2, F.4.2);
* `sectors`, Maxwell and later: the same requests, but only the touched 32-byte sectors of a line are transferred, each
  as a transaction (PG 6.5, G.5.2);
* `gt200`: over half-warps; the segment that holds the first waiting lane's address serves all lanes within, and is
  halved, down to 32 bytes, while only one half is used (PG 4.2, F.3.2.2); a transaction is 32 bytes of it.

A chip may have several channels. Then each transaction takes that of its address, and the channels don't wait for each
other. They are told apart where several SMs are simulated; an SM by itself has its share of all, as one channel.

If the loads hit a cache (then all loads of a launch do), each request of a load after the first delays its result. The
L1 transfers nothing; the L2 transfers sectors, and the channel is the SM's to the L2.

Atomics go to the L2 in passes: each takes lanes of one line, and of each word one lane. A pass of one lane is a packet;
one of several is a packet, and one for each sector, or two if lanes bring two operands. If the old values come back,
each pass costs as much as one packet more.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.memory.global_memory.declaration import LINES, SEGMENTS
from gpusim.sm.records import Entry, MachineNumbers, Numbers, Outcome, Question, Row, Scratch, Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOAD, STORE
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES

HALF = LANES // 2


@rule
def transactions(sm: Sm, active: int, words: int) -> tuple[int, int]:
    """Return requests and transactions of an access of `words` 32-bit words per lane, at the addresses in `scratch`."""
    which, line_bytes = sm.machine.global_rule, sm.machine.line_bytes
    if which == SEGMENTS:
        return _segments(sm, active, 4 * words)
    lines = _distinct(sm, active, words, line_bytes)
    moved = lines if which == LINES else _distinct(sm, active, words, SECTOR_BYTES)
    if sm.machine.channels > 1:
        _spread(sm, moved, line_bytes if which == LINES else SECTOR_BYTES)
    return lines, moved


@rule
def sectors(sm: Sm, active: int) -> int:
    """Return the number of distinct 32-byte sectors at the addresses in `sm.scratch`, one of each lane."""
    found = _distinct(sm, active, 1, SECTOR_BYTES)
    if sm.machine.channels > 1:
        _spread(sm, found, SECTOR_BYTES)
    return found


@rarely
def _spread(sm: Sm, count: int, size: int) -> None:
    """Add the lines or sectors of that size in `scratch.line` to the transactions of their channels."""
    for i in range(count):
        sm.outcome.moves[channel(sm, sm.scratch.line[i] * size)] += 1


@rule
def channel(sm: Sm, byte: int) -> int:
    """Return the channel of the line or sector that begins at that byte."""
    return int(byte // sm.machine.channel_bytes % sm.machine.channels)


@rarely
def packets(sm: Sm, active: int, instruction: Row) -> int:
    """Return the packets of an atomic at the addresses in `scratch`."""
    number_passes(sm, active)
    count, returned = 0, 1 if instruction.action == LOAD else 0
    for lane in range(LANES):
        if (active >> lane) & 1 and begins_pass(sm, active, lane):
            lanes, sectors = pass_size(sm.scratch, active, lane)
            count += returned + 1 + (sectors * int(instruction.packets) if lanes > 1 else 0)
    return count


@rule
def begins_pass(sm: Sm, active: int, lane: int) -> bool:
    """Tell whether a lane is the first of its pass; passes have been numbered."""
    return not _has_before(sm.scratch, active, 0, lane, 1)


@rule
def number_passes(sm: Sm, active: int) -> None:
    """Store in `scratch.line` a number for each lane's pass: of its line, and of the lanes of its word before it."""
    scratch = sm.scratch
    for lane in range(LANES):
        turn = 0
        for other in range(0 if sm.machine.at_once else lane):
            if (active >> other) & 1 and scratch.address[other] == scratch.address[lane]:
                turn += 1
        scratch.line[lane] = np.int64(scratch.address[lane]) // sm.machine.line_bytes * LANES + turn


@rule
def pass_size(scratch: Scratch, active: int, first: int) -> tuple[int, int]:
    """Return the lanes of a pass that begins with that one, and their sectors."""
    lanes = sectors = 0
    for lane in range(first, LANES):
        if (active >> lane) & 1 and scratch.line[lane] == scratch.line[first]:
            lanes += 1
            if not _has_before(scratch, active, first, lane, SECTOR_BYTES):
                sectors += 1
    return lanes, sectors


@rule
def _has_before(scratch: Scratch, active: int, first: int, lane: int, within: int) -> bool:
    """Tell whether a lane from `first` on, before this one, is of its pass; if `within` > 1, in the same such bytes."""
    place = np.int64(scratch.address[lane]) // within
    for other in range(first, lane):
        if (active >> other) & 1 and scratch.line[other] == scratch.line[lane]:  # noqa: SIM102  (compiled)
            if within == 1 or np.int64(scratch.address[other]) // within == place:
                return True
    return False


@rule
def words(sm: Sm, active: int) -> int:
    """Return the number of distinct words at the addresses in `sm.scratch`."""
    return _distinct(sm, active, 1, WORD_BYTES)


@rule
def places(sm: Sm, active: int, size: int) -> int:
    """Return the number of distinct places of so many bytes at the addresses in `sm.scratch`."""
    return _distinct(sm, active, 1, size)


@rule
def _distinct(sm: Sm, active: int, words: int, line_bytes: int) -> int:
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
def _segments(sm: Sm, active: int, size: int) -> tuple[int, int]:
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
            moved = _reduced(sm.machine.line_bytes, low, high) // SECTOR_BYTES
            sectors += moved
            if sm.machine.channels > 1:
                sm.outcome.moves[channel(sm, wanted * sm.machine.line_bytes)] += moved
    return segments, sectors


@rule
def _reduced(size: int, low: int, high: int) -> int:
    """Return the bytes of the transaction for a segment: halved while one half contains all bytes from low to high."""
    while size > SECTOR_BYTES and low // (size // 2) == high // (size // 2):
        size //= 2
    return size


@rule
def _contains(line: Numbers, begin: int, end: int, wanted: int) -> bool:
    for i in range(end - 1, begin - 1, -1):  # noqa: SIM110  (neighbours share lines: the latest first, compiled)
        if line[i] == wanted:
            return True
    return False


@rule
def commit(sm: Sm, lines: int, now: int) -> int:
    """The channel moves the transactions one by one; return the cycle at which the last has left."""
    return move(sm, lines * sm.machine.line_cost, now) if lines else now


@rule
def move(sm: Sm, cost: int, now: int) -> int:
    """The channel moves what takes it `cost` parts of a cycle, after all before it; return when the last has left."""
    unit, parts = sm.load_store, sm.machine.channel_parts
    unit.channel = max(unit.channel, now * parts) + cost
    return (unit.channel + parts - 1) // parts


@rule
def commit_line(sm: Sm, line: int, sectors: int, now: int) -> int:
    """Do the same with some sectors of one line, on its channel."""
    return move_line(sm, line, sectors * sm.machine.line_cost, now)


@rule
def move_line(sm: Sm, line: int, cost: int, now: int) -> int:
    """Do the same with what costs so much, on a line's channel."""
    if sm.machine.channels == 1:
        return move(sm, cost, now) if cost else now
    return _on(sm, channel(sm, line * sm.machine.line_bytes), cost, now)


@rule
def each_cost(machine: MachineNumbers, instruction: Row) -> int:
    """Return the parts of a cycle for which a transaction of a load or store occupies the channel."""
    return int(machine.written_cost if instruction.action == STORE else machine.line_cost)


@rule
def commit_each(sm: Sm, of: Entry | Question | Outcome, cost: int, now: int) -> int:
    """Do the same with the transactions of an access or fetch, each of that cost, on their channels."""
    if of.transactions == 0:
        return now
    return move(sm, of.transactions * cost, now) if sm.machine.channels == 1 else _each(sm, of.moves, cost, now)


@rarely
def _each(sm: Sm, moves: Numbers, cost: int, now: int) -> int:
    """Let each channel move its transactions; return the cycle at which the last has left."""
    gone = now
    for c in range(sm.machine.channels):
        if moves[c]:
            gone = max(gone, _on(sm, c, moves[c] * cost, now))
    return gone


@rarely
def _on(sm: Sm, c: int, cost: int, now: int) -> int:
    """Let one of several channels move what costs the bandwidth of all together so much; return when it is free."""
    channels, parts = sm.load_store.each_channel, sm.machine.channel_parts
    channels[c] = max(channels[c], now * parts) + cost * sm.machine.channels
    return int((channels[c] + parts - 1) // parts)
