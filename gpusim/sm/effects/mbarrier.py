"""A barrier in shared memory: two words with the counts of a phase, which are real bits that programs may copy.

From the lowest bit: 1 free, 20 of arrivals that a phase waits for, 22 of bytes that are still to come, 20 of arrivals
that are, the phase. Arrivals are kept negative. (Read off what ptxas stores to begin with, and where it looks for the
arrivals of a state, sm_90; the places of bytes and phase are a guess.) A phase ends when nothing is still to come.
Bytes may come before they are announced.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Memory
from gpusim.sm.state.fault import Fault
from isa.values.atomic import arrive

ONE = np.uint64(1)
LOW = np.uint64(0xFFFFFFFF)
UPPER = np.uint64(32)
ARRIVALS, BYTES = np.uint64((1 << 20) - 1), np.uint64((1 << 22) - 1)
WANTED, STILL, COMING, PHASE = np.uint64(1), np.uint64(21), np.uint64(43), np.uint64(63)  # lowest bits of the parts
ALL_BYTES = 1 << 22
MOST_BYTES = (1 << 20) - 1  # still to come, or come before they are announced (PTX ISA)
GOES_ON, ENDS, SURPLUS, OVERFLOW = range(4)  # what a signal comes to: the last two leave the barrier as it is

TOO_MANY, TOO_MUCH = int(Fault.SURPLUS), int(Fault.OVERFLOW)


@rarely
def signal(memory: Memory, place: int, arrivals: int, tx_bytes: int, leaving: int = 0) -> int:
    """Let arrivals and bytes come to the barrier at that place of memory; return what that comes to.

    Bytes that are announced count as negative. So many are `leaving`: later phases do not wait for them.
    """
    word = word_at(memory, place)
    if arrivals > arrivals_to_come(word):
        return SURPLUS
    still = bytes_to_come(word) - tx_bytes
    if abs(still) > MOST_BYTES:
        return OVERFLOW
    coming = (word >> COMING) + np.uint64(arrivals) & ARRIVALS
    wanted, phase = (word >> WANTED) + np.uint64(leaving) & ARRIVALS, word >> PHASE
    ends = coming == 0 and still == 0
    if ends:
        coming, phase = wanted, phase ^ ONE
    word = (
        wanted << WANTED
        | (np.uint64(np.int64(still) & np.int64(ALL_BYTES - 1))) << STILL
        | coming << COMING
        | phase << PHASE
    )
    memory[place], memory[place + 1] = np.uint32(word & LOW), np.uint32(word >> UPPER)
    return ENDS if ends else GOES_ON


@rarely
def count(memory: Memory, place: int, arrivals: int) -> None:
    """Let arrivals come to a barrier of sm_80, which programs read themselves (isa.values.atomic.arrive)."""
    for _ in range(arrivals):
        word = arrive(np.uint64(0), np.uint64(0), word_at(memory, place))
        memory[place], memory[place + 1] = np.uint32(word & LOW), np.uint32(word >> UPPER)


@rule
def refusal(found: int) -> int:
    """Return the fault of a signal that a barrier does not take."""
    return TOO_MANY if found == SURPLUS else TOO_MUCH


@rule
def word_at(memory: Memory, place: int) -> np.uint64:
    """Return the 64 bits of a barrier."""
    return np.uint64(memory[place]) | np.uint64(memory[place + 1]) << UPPER


@rule
def arrivals_to_come(word: np.uint64) -> int:
    """Return how many arrivals the phase of a barrier still waits for."""
    return int(np.int64((ARRIVALS + ONE - (word >> COMING & ARRIVALS)) & ARRIVALS))


@rule
def bytes_to_come(word: np.uint64) -> int:
    """Return how many bytes it still waits for; negative, if so many have come before they were announced."""
    still = np.int64(word >> STILL & BYTES)
    return int(still - ALL_BYTES if still > MOST_BYTES + 1 else still)


@rule
def phase_of(memory: Memory, place: int) -> int:
    """Return the parity of the phase that a barrier is in."""
    return int(np.int64(memory[place + 1]) >> 31)
