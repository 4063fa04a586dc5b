"""A barrier in shared memory: two words with the counts of a phase, which are real bits that programs may copy.

From the lowest bit: 1 free, 20 of arrivals that are still to come, 22 of bytes that are, 20 of arrivals that a phase
waits for, the phase. Arrivals are kept negative. (Read off what ptxas stores to begin with, sm_90; the places of bytes
and phase are a guess.) A phase ends when nothing is still to come. Bytes may come before they are announced.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely
from gpusim.sm.records import Memory

ONE = np.uint64(1)
LOW = np.uint64(0xFFFFFFFF)
UPPER = np.uint64(32)
ARRIVALS, BYTES = np.uint64((1 << 20) - 1), np.uint64((1 << 22) - 1)
COMING, STILL, WANTED, PHASE = np.uint64(1), np.uint64(21), np.uint64(43), np.uint64(63)  # lowest bits of the parts


@rarely
def signal(memory: Memory, place: int, arrivals: int, tx_bytes: int) -> bool:
    """Let arrivals and bytes come to the barrier at that place of memory; return whether its phase ends.

    Bytes that are announced count as negative.
    """
    word = np.uint64(memory[place]) | np.uint64(memory[place + 1]) << UPPER
    coming = (word >> COMING) + np.uint64(arrivals) & ARRIVALS
    still = np.uint64(np.int64(word >> STILL) - tx_bytes & np.int64(BYTES))
    wanted, phase = word >> WANTED & ARRIVALS, word >> PHASE
    ends = coming == 0 and still == 0
    if ends:
        coming, phase = wanted, phase ^ ONE
    word = coming << COMING | still << STILL | wanted << WANTED | phase << PHASE
    memory[place], memory[place + 1] = np.uint32(word & LOW), np.uint32(word >> UPPER)
    return bool(ends)
