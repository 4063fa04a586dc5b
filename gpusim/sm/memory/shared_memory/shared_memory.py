"""Shared memory: turn the addresses of a warp into passes through the banks.

Identical words are broadcast, distinct words in one bank take a pass each. The machine's rule says which lanes are
served together (PG is the CUDA C Programming Guide 4.2):

* `gt200`, 16 banks: each half-warp by itself, wide accesses word by word; a pass broadcasts one word, to as many lanes
  as want it, and serves one lane of every other bank (PG F.3.3);
* `fermi`, 32 banks: 32 bits all lanes together, 64 bits each half-warp by itself (PG F.4.3), 128 bits as two 64-bit
  parts (Tan et al., SC'11), each over half-warps; two half-warps with the same addresses are merged if the machine says
  so. This gives the 16 cycles of RR-7923 for 32 distinct addresses;
* `kepler`, 32 banks that deliver 8 bytes: words in one bank conflict unless they lie in the same 64 words, and 64-bit
  mode (`bank_bytes` = 8) puts neighbours into one bank (PG F.5.3); 128 bits each half-warp by itself, as a pass moves
  at most 256 bytes (Zhang et al., PPoPP'17);
* `volta`, 32 banks, Maxwell and later: a pass moves at most 128 bytes, so that 64 bits are served by half-warps and 128
  bits by quarter-warps; loads serve twice as many lanes together if every lane shares its address with its neighbour,
  or with the lane after the next (an NVIDIA engineer's answer, forum thread 77228; measured on an H200);
* `gcn`, 32 banks: each half of a wave by itself, at most 128 bytes in a pass, so that an access takes 2 passes at best
  and 64 at worst (GCN3 ISA manual, chapter 10); no lanes are merged.

With more banks than in the rule's original chip, a pass serves as many words as there are banks, of at most 32 lanes
(docs/units/shared-memory.md). With fewer banks the same lanes are served together and conflict (`kepler`: fewer lanes).

What-if, on no chip: `conflict-free` and `one-pass` (docs/units/what-if.md).
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.shared_memory.declaration import FERMI, GCN, KEPLER, VOLTA
from gpusim.sm.memory.what_if import BANKS, ONE_PASS
from gpusim.sm.records import Numbers, Scratch, Sm
from gpusim.sm.unit.capacities import LANES

HALF = LANES // 2
ROWS, ROW_WORDS = 8, 4  # of a matrix


@rule
def passes(sm: Sm, active: int, words: int, loads: bool) -> int:
    """Return the passes, at least one, of an access of `words` 32-bit words per lane at the addresses in `scratch`."""
    which = sm.machine.shared_rule
    if sm.machine.shared_ideal == ONE_PASS:
        return 1
    if which == FERMI:
        return max(1, _fermi(sm, active, words))
    if which == VOLTA or which == GCN:  # noqa: SIM109, PLR1714  (compiles to two compares)
        return max(1, _volta(sm, active, words, loads and which == VOLTA))
    return max(1, _kepler(sm, active, words) if which == KEPLER else _gt200(sm, active, words))


@rule
def _fermi(sm: Sm, active: int, words: int) -> int:
    if words == 1:
        return _ways(sm, active, 0, LANES, 0, 1)
    size = min(words, max(LANES, sm.machine.banks) // HALF)  # words of each lane that are served together
    together = LANES if size * LANES <= sm.machine.banks else HALF
    last, total = LANES, 0
    if words == 4 and together == HALF and sm.machine.merge_halves and _halves_agree(sm, active):
        last = HALF
    for part in range(0, words, size):
        for first in range(0, last, together):
            total += _ways(sm, active, first, first + together, part, size)
    return total


@rule
def conflicts(sm: Sm, active: int, words: int) -> int:
    """Return the passes of a load through the L1's banks, as many as shared memory has: 32 words at a time.

    Words of 4 bytes follow each other from bank to bank, whatever the rule of shared memory, and what-ifs lift nothing.
    32 words take the L1's least passes.
    """
    group, total, scratch, banks = LANES // words, 0, sm.scratch, sm.machine.banks
    for first in range(0, LANES, group):
        worst = 0
        for bank in range(banks):
            scratch.depth[bank] = 0
        for lane in range(first, first + group):
            if (active >> lane) & 1:
                for offset in range(words):
                    word = scratch.address[lane] // 4 + offset
                    worst = max(worst, _note(scratch, word % banks, word), sm.machine.near_least)
        total += worst
    return total


@on_demand
def _volta(sm: Sm, active: int, words: int, loads: bool) -> int:
    group, total = min(LANES, max(LANES, sm.machine.banks) // words), 0
    if loads and group < LANES and (_lanes_agree(sm, active, 1) or _lanes_agree(sm, active, 2)):
        group *= 2
    for first in range(0, LANES, group):
        total += _ways(sm, active, first, first + group, 0, words)
    return total


@on_demand
def _kepler(sm: Sm, active: int, words: int) -> int:
    group, total = min(LANES, _row(sm) // words), 0
    for first in range(0, LANES, group):
        total += _ways(sm, active, first, first + group, 0, words)
    return total


@rule
def _row(sm: Sm) -> int:
    """Return the words that Kepler's banks hold side by side."""
    return 2 * sm.machine.banks


@on_demand
def _gt200(sm: Sm, active: int, words: int) -> int:
    size = min(words, max(HALF, sm.machine.banks) // HALF)  # words of each lane that are served together
    together = LANES if size * LANES <= sm.machine.banks else HALF
    total = 0
    for part in range(0, words, size):
        for first in range(0, LANES, together):
            total += _steps(sm, active, first, first + together, part, size)
    return total


@rule
def _steps(sm: Sm, active: int, first: int, last: int, part: int, words: int) -> int:
    """Return the passes for `words` words of each lane: one serves all lanes that want the first, others by bank."""
    scratch, banks, count = sm.scratch, sm.machine.banks, 0
    wanted, waiting = scratch.line, 0
    for lane in range(first, last):
        if (active >> lane) & 1:
            for offset in range(part, part + words):
                wanted[waiting] = scratch.address[lane] // 4 + offset
                waiting += 1
    while waiting:
        count += 1
        waiting = _step(scratch, banks, wanted, waiting)
    return _lifted(sm, count)


@rule
def _step(scratch: Scratch, banks: int, wanted: Numbers, waiting: int) -> int:
    """Do one pass over the waiting words; move those that it does not serve up, and return their number."""
    broadcast, left = wanted[0], 0
    for bank in range(banks):
        scratch.depth[bank] = 0
    for i in range(waiting):
        word = wanted[i]
        bank = word % banks
        if word != broadcast and scratch.depth[bank]:
            wanted[left] = word
            left += 1
        scratch.depth[bank] = 1
    return left


@on_demand
def of_matrices(sm: Sm, active: int, count: int) -> int:
    """Return the passes of so many matrices, the addresses of whose 8 rows of 16 bytes 8 lanes each have.

    Words of 4 bytes follow each other from bank to bank, whatever the rule. Equal rows of a matrix go together, those
    of two matrices do not (measured on an H200).
    """
    total, scratch, banks = 0, sm.scratch, sm.machine.banks
    for first in range(0, ROWS * count, ROWS):
        worst = 0
        for bank in range(banks):
            scratch.depth[bank] = 0
        for lane in range(first, first + ROWS):
            if (active >> lane) & 1:
                for offset in range(ROW_WORDS):
                    word = scratch.address[lane] // 4 + offset
                    worst = max(worst, _note(scratch, word % banks, word))
        total += _lifted(sm, worst)
    return 1 if sm.machine.shared_ideal == ONE_PASS else total


@on_demand
def turns(sm: Sm, active: int) -> int:
    """Return the passes of an atomic whose lanes take turns in each bank, also for different words of it."""
    scratch, banks, worst = sm.scratch, sm.machine.banks, 1
    for bank in range(banks):
        scratch.depth[bank] = 0
    for lane in range(LANES):
        if (active >> lane) & 1:
            word = scratch.address[lane] // 4
            if sm.machine.at_once:
                worst = max(worst, _note(scratch, word % banks, word))
            else:
                scratch.depth[word % banks] += 1
                worst = max(worst, scratch.depth[word % banks])
    return _lifted(sm, worst)


@rule
def _lifted(sm: Sm, passes: int) -> int:
    """Return the passes of lanes that are served together: at most one if banks never conflict."""
    return passes if sm.machine.shared_ideal == BANKS else min(passes, 1)


@rule
def _halves_agree(sm: Sm, active: int) -> bool:
    """Tell whether both half-warps access the same addresses in the same lanes."""
    if (active & 0xFFFF) != (active >> HALF) & 0xFFFF:
        return False
    for lane in range(HALF):
        if (active >> lane) & 1 and sm.scratch.address[lane] != sm.scratch.address[lane + HALF]:
            return False
    return True


@rule
def _lanes_agree(sm: Sm, active: int, distance: int) -> bool:
    """Tell whether each active lane shares its address with the lane `distance` away, if that lane is active."""
    for lane in range(LANES):
        other = lane ^ distance
        both = (active >> lane) & (active >> other) & 1
        if both and sm.scratch.address[lane] != sm.scratch.address[other]:
            return False
    return True


@rule
def _ways(sm: Sm, active: int, first: int, last: int, part: int, words: int) -> int:
    """Return the most distinct words in one bank, over lanes first..last and `words` words from word `part` of each."""
    scratch, banks, worst = sm.scratch, sm.machine.banks, 0
    for bank in range(banks):
        scratch.depth[bank] = 0
    for lane in range(first, last):
        if (active >> lane) & 1:
            for offset in range(part, part + words):
                worst = max(worst, _enter(sm, scratch, banks, scratch.address[lane] // 4 + offset))
    return _lifted(sm, worst)


@rule
def _enter(sm: Sm, scratch: Scratch, banks: int, word: int) -> int:
    """Note a word in its bank, unless an already noted word delivers it; return the count of that bank."""
    wide = sm.machine.shared_rule == KEPLER
    bank = (word // 2 if wide and sm.machine.bank_words == 2 else word) % banks
    delivered = word // _row(sm) if wide else word
    return _note(scratch, bank, delivered)


@rule
def _note(scratch: Scratch, bank: int, delivered: int) -> int:
    """Note what a bank has to deliver, if it is not noted yet; return the count of that bank."""
    for i in range(scratch.depth[bank]):
        if scratch.seen[bank, i] == delivered:
            return int(scratch.depth[bank])
    scratch.seen[bank, scratch.depth[bank]] = delivered
    scratch.depth[bank] += 1
    return int(scratch.depth[bank])
