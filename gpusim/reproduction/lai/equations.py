"""Equations 1 to 12 of Lai and Seznec, "Bound the Peak Performance of SGEMM on GPU", RR-7923, INRIA, 2012.

They bound one kernel on one kind of machine; bounds.py bounds any program. Symbols are those of the
report's table 2: T_B threads of a block, T_SM threads of an SM, R_T registers of a thread, B_R register blocking, L
depth of a tile along k, Blk blocks of an SM. The report's text uses equation 7's prefetch term with the root over
the whole product (section 4.1); equation 7 itself gives the 12 registers that it counts, and is used here.
"""

from __future__ import annotations

from math import ceil, sqrt

from isa.kernel import WARP_SIZE
from isa.program import WORD_BYTES


def threads_needed(pipeline_latency: float, issue_latency: float) -> float:
    """Equation 1: threads of an SM that hide the latency of a math instruction, 32 latency / issue interval.

    Both in cycles of the same clock.
    """
    return WARP_SIZE * pipeline_latency / issue_latency


def registers_fit_thread(registers: int, limit: int) -> bool:
    """Equation 2: R_T <= R_Max, in 32-bit registers per thread."""
    return registers <= limit


def registers_fit_sm(threads: int, registers: int, sm_registers: int) -> bool:
    """Equation 3: T_SM R_T <= R_SM, in 32-bit registers."""
    return threads * registers <= sm_registers


def blocking_fits_loosely(blocking: int, registers: int) -> bool:
    """Equation 4: B_R^2 + B_R + 1 < R_T: C, one line of A or B, one register for the other."""
    return blocking**2 + blocking + 1 < registers


def tile_divides(threads: int, blocking: int, depth: int) -> bool:
    """Equation 5: sqrt(T_B) B_R L is a multiple of T_B: each thread fetches equally many elements of a tile."""
    return sqrt(threads) * blocking * depth % threads == 0


def shared_fits(blocks: int, threads: int, blocking: int, depth: int, shared_bytes: int) -> bool:
    """Equation 6: Blk 2 sqrt(T_B) B_R L words of tiles fit the SM's shared memory, here given in bytes."""
    return WORD_BYTES * blocks * 2 * sqrt(threads) * blocking * depth <= shared_bytes


def prefetch_registers(threads: int, blocking: int, depth: int) -> float:
    """Term of equation 7: 2 sqrt(T_B) B_R L / T_B registers of a thread for the next tiles of A and B."""
    return 2 * sqrt(threads) * blocking * depth / threads


def registers_needed(blocking: int, threads: int, depth: int, index_registers: int) -> float:
    """Left side of equation 7: B_R^2 + prefetch + B_R + 1 + R_index registers of a thread."""
    return blocking**2 + prefetch_registers(threads, blocking, depth) + blocking + 1 + index_registers


def blocking_fits_tightly(blocking: int, threads: int, depth: int, index_registers: int, registers: int) -> bool:
    """Equation 7: with prefetch and addresses the thread needs no more than R_T registers."""
    return registers_needed(blocking, threads, depth, index_registers) <= registers


def shared_blocking(threads: int, blocking: int) -> float:
    """Equation 8: B_Sh = sqrt(T_B B_R^2), rows and columns of the block's tile of C."""
    return sqrt(threads * blocking**2)


def throughput_factor(blocking: int, width_words: int, mixed_rate: float, issue_rate: float = 32) -> float:
    """Equation 9: the issue slots that a shared load costs per word when mixed with FFMAs.

    The report gives f as measurements (figure 2): `mixed_rate` thread instructions per shader cycle of an SM when
    B_R^2 FFMAs go with 2 B_R / width loads of `width_words` words, against the `issue_rate` without interference.
    Equation 11 needs the factor per loaded word: 1 / width at full rate, plus the slots that are lost. The
    numbers at blocking 6: 31.3 at 1 word, 30.4 at 2, 24.5 at 4.
    """
    slots = (blocking**2 + 2 * blocking / width_words) * issue_rate / mixed_rate
    return (slots - blocking**2) / (2 * blocking)


def memory_bound(bandwidth_gbs: float, shared_block: float) -> float:
    """Equation 10: GFLOP/s that global memory of that many GB/s can feed, words per second times B_Sh.

    The report omits the unit; it is words of 4 bytes: 2 B_Sh^2 operations per 2 B_Sh words.
    """
    return bandwidth_gbs / WORD_BYTES * shared_block


def sm_bound(blocking: int, factor: float, theoretical: float) -> float:
    """Equation 11: B_R^2 / (B_R^2 + 2 B_R factor) of the theoretical peak, in its unit; factor as equation 9."""
    return blocking**2 / (blocking**2 + 2 * blocking * factor) * theoretical


def potential(memory: float, sm: float) -> float:
    """Equation 12: the lower of the two bounds."""
    return min(memory, sm)


def ffma_share(blocking: int, width_words: int, whole_loads: bool = False) -> float:
    """Figure 1: share of FFMAs, 0 to 1, among the instructions of the main loop with loads of `width_words` words.

    The figure allows fractions of loads; with `whole_loads` a line of B_R words takes a whole number of them.
    """
    line = ceil(blocking / width_words) if whole_loads else blocking / width_words
    return blocking**2 / (blocking**2 + 2 * line)
