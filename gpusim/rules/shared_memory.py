"""Shared memory: from the addresses of a warp to passes through the banks.

Fermi, 32 banks of 4 bytes; identical words are broadcast, distinct words in one bank take a pass each:

* 32 bits: all lanes together (CUDA C Programming Guide 4.2, F.4.3);
* 64 bits: each half-warp by itself (F.4.3);
* 128 bits: two 64-bit parts (Tan et al., SC'11), each over half-warps; two half-warps with the same addresses are
  merged where the machine says so. This gives the 16 cycles of RR-7923 for 32 distinct addresses.
"""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule
from gpusim.state import LANES

HALF = LANES // 2


@rule
def passes(sm: Any, active: int, words: int) -> int:
    """Passes of an access of `words` 32-bit words per lane at the addresses in `sm.scratch`; at least one."""
    if words == 1:
        return max(1, _ways(sm, active, 0, LANES, 0, 1))
    if words == 2:
        return max(1, _ways(sm, active, 0, HALF, 0, 2) + _ways(sm, active, HALF, LANES, 0, 2))
    halves = 1 if sm.machine.merge_halves and _halves_agree(sm, active) else 2
    total = 0
    for part in range(0, words, 2):
        for half in range(halves):
            total += _ways(sm, active, half * HALF, (half + 1) * HALF, part, 2)
    return max(1, total)


@rule
def _halves_agree(sm: Any, active: int) -> bool:
    """Whether both half-warps access the same addresses in the same lanes."""
    if (active & 0xFFFF) != (active >> HALF) & 0xFFFF:
        return False
    for lane in range(HALF):
        if (active >> lane) & 1 and sm.scratch.address[lane] != sm.scratch.address[lane + HALF]:
            return False
    return True


@rule
def _ways(sm: Any, active: int, first: int, last: int, part: int, words: int) -> int:
    """Most distinct words in one bank, over lanes first..last and `words` words from word `part` of each."""
    scratch, banks, worst = sm.scratch, sm.machine.banks, 0
    for bank in range(banks):
        scratch.depth[bank] = 0
    for lane in range(first, last):
        if (active >> lane) & 1:
            for offset in range(part, part + words):
                worst = max(worst, _enter(scratch, banks, scratch.address[lane] // 4 + offset))
    return worst


@rule
def _enter(scratch: Any, banks: int, word: int) -> int:
    """Note a word in its bank unless it is there already; returns the number of words in that bank."""
    bank = word % banks
    for i in range(scratch.depth[bank]):
        if scratch.seen[bank, i] == word:
            return int(scratch.depth[bank])
    scratch.seen[bank, scratch.depth[bank]] = word
    scratch.depth[bank] += 1
    return int(scratch.depth[bank])
