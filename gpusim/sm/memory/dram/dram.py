"""Reads of the DRAM where tags are kept: a line occupies it at least so long, some places are late, and a queue waits.

* A read of few sectors of a line occupies the channel as long as one of `least_bytes`, if the L2 has nothing of it
  and of the other line of its pair (256 bytes where lines have 128).
* SMs without blocks leave their shares of the bandwidth to the others.
* The latency of a place is that of the machine in the mean, and varies as exponentially distributed numbers do: of many
  places read together the last one comes late. A hash of the place's number, the model's own, says its latency.
* A read waits as in a queue of one server, random arrivals and constant service (Pollaczek and Khinchine): used / (2 (1
  - used)) services, where `used` is the fraction of the DRAM's bandwidth asked for in the last `window` cycles.
* A write takes the time of a turn besides, if the DRAM was read in the window or in the one before.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.memory.dram.declaration import USED_PARTS
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_share.declaration import SPREADING
from gpusim.sm.records import MachineNumbers, Sm

WORD, MOST_HALVINGS = (1 << 31) - 1, 8
FRACTION = 6  # bits of a place's hash that say how far it is between two halvings
LOG_2, SHIFT = 11, 10  # the natural logarithm of 2 is nearly 11/16
MEAN = 95  # of halvings (at most 8: 63.75) and fractions (31.5), in 64ths


@rarely
def read(sm: Sm, line: int, sectors: int, alone: bool, now: int) -> int:
    """Let the channel move so many sectors of a line; return when they are there.

    `alone`: the L2 has nothing of the line, nor of its neighbour.
    """
    cost = _shared(sm, max(sectors * sm.machine.line_cost, int(sm.machine.dram_least) if alone else 0))
    gone = global_memory.move_line(sm, line, cost, now)
    _note_read(sm, now)
    return gone + waited(sm, cost, now) + latency(sm.machine, line)


@rule
def _note_read(sm: Sm, now: int) -> None:
    """Note that the DRAM reads now: writes take the time of a turn."""
    sm.load_store.dram_turns = max(sm.load_store.dram_turns, 2 + now // sm.machine.dram_span)


@rule
def _shared(sm: Sm, cost: int) -> int:
    """Return the time of the channel for what takes an equal share of all SMs so long, if only some have blocks."""
    sharers, sms = sm.launch.sharers, sm.machine.dram_sms
    return int((cost * sharers + sms - 1) // sms) if 0 < sharers < sms else int(cost)


@rule
def awaited(sm: Sm, line: int, now: int) -> int:
    """Return when a line is there that another SM brings: it may have asked before, so half as late or early."""
    _note_read(sm, now)
    return now + waited(sm, 0, now) + (int(sm.machine.memory_latency) + latency(sm.machine, line)) // 2


@rarely
def write(sm: Sm, line: int, sectors: int, now: int) -> None:
    """Let the channel move so many sectors of a line that the L2 writes."""
    turns = now // sm.machine.dram_span < sm.load_store.dram_turns
    cost = _shared(sm, sectors * int(sm.machine.written_cost if turns else sm.machine.written_alone_cost))
    global_memory.move_line(sm, line, cost, now)
    waited(sm, cost, now)


@rule
def least_latency(machine: MachineNumbers) -> int:
    """Return the latency of the places that are there first."""
    return max(0, int(machine.memory_latency + (machine.dram_varies * -MEAN * LOG_2 >> SHIFT)))


@rule
def latency(machine: MachineNumbers, line: int) -> int:
    """Return the latency of a line's place."""
    if machine.dram_varies == 0:
        return int(machine.memory_latency)
    mixed = np.int64(line // machine.dram_together & WORD) * SPREADING & WORD
    mixed = (mixed ^ mixed >> 16) * SPREADING >> 12 & WORD
    halvings = lowest_bit(int(mixed >> FRACTION | 1 << MOST_HALVINGS))
    late = (halvings << FRACTION) + int(mixed & (1 << FRACTION) - 1) - MEAN
    return max(0, int(machine.memory_latency + (machine.dram_varies * late * LOG_2 >> SHIFT)))


@rule
def waited(sm: Sm, cost: int, now: int) -> int:
    """Return the cycles for which a request that costs the channel so many parts waits for others, and count it."""
    unit, machine = sm.load_store, sm.machine
    if machine.dram_queue == 0:
        return 0
    window, length = now // machine.dram_span, machine.dram_span
    if window > unit.dram_window:
        unit.dram_before = unit.dram_asked if window == unit.dram_window + 1 else 0
        unit.dram_asked, unit.dram_window = 0, window
    left = length - min(length, max(0, now - unit.dram_window * length))
    asked = unit.dram_asked + unit.dram_before * left // length
    unit.dram_asked += cost
    used = min(machine.dram_most_used, int(asked * USED_PARTS // (length * machine.channel_parts)))
    return int(machine.dram_queue * used // (2 * (USED_PARTS - used)))
