"""Slices of the L2 that have more stores to do than others, and hold the rest up.

Lines side by side are spread over all slices evenly, with those that other SMs store to. Of lines apart chance decides
how many one slice has. It is `slice_ahead` further than the L2 in the mean at most: then it keeps what comes behind
from the L2, as the ways there are in order. One that has had less has room for more, up to the same. Where an SM stands
for others, a line of its own lies in one slice, and the same line of groups of them in others; beyond the mean each of
these gets what chance gives to one slice of the lines of as many SMs.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache.declaration import FAR
from gpusim.sm.memory.l2_atomic.declaration import TURNS
from gpusim.sm.memory.l2_channel.declaration import OWN_PARTS, STORES
from gpusim.sm.memory.l2_share.declaration import SPREADING
from gpusim.sm.records import MachineNumbers, Numbers, Sm

WORD = (1 << 31) - 1  # a product of such a number with SPREADING is below 1 << 63
FIRST, SECOND = 15, 13  # bits by which a number is folded


@rule
def even(sm: Sm, parts: int) -> None:
    """Let all slices have work for so many parts of a cycle more, of a store or beside stores."""
    sm.load_store.slices_even += parts * sm.machine.store_slices
    sm.load_store.of_last = parts


@rarely
def apart(sm: Sm, words: Numbers, row: int, requests: int) -> bool:
    """Tell whether a store's lines do not lie side by side: then chance decides how many of them a slice has."""
    machine = sm.machine
    if machine.store_slices == 0 or machine.at_once or sm.launch.caches[FAR].sets == 0:
        return False
    for i in range(1, requests):
        if abs(words[row + 2 * i] - words[row + 2 * (i - 1)]) > TURNS * machine.store_slice_lines:
            return True
    return False


@rarely
def store(sm: Sm, line: int, sent: int, parted: int, now: int) -> None:
    """Let slices have their part of a store that has just taken the L2 for so many sectors of a line.

    `parted`: one sector more, of which the L2 is told later.
    """
    unit, machine = sm.load_store, sm.machine
    if sent == 0:
        return
    sectors = sent + (parted if machine.store_line_cost else 0)
    own = unit.of_last * sectors // sent * machine.own_slice // OWN_PARTS
    for group in range(machine.store_groups):
        _add(sm, _slice_of(machine, line, group), int(own), now)


@rule
def _add(sm: Sm, slice_: int, own: int, now: int) -> None:
    """Let a slice have so much more to do, and the others together as much less; the L2 waits until it has room."""
    unit, machine = sm.load_store, sm.machine
    slices, mean = machine.store_slices, unit.shared[STORES] * machine.store_slices
    most, since = machine.slice_ahead * machine.shared_parts * slices, now * machine.shared_parts * slices
    busy = max(unit.slices_even + unit.ahead[slice_], mean - most, min(mean, since))
    if busy > mean + most:
        wait = (busy - most - mean + slices - 1) // slices
        unit.shared[STORES] += wait
        if unit.asked[STORES]:  # counted where the SM stands for others
            unit.asked[STORES] += wait
    unit.slices_even -= own
    unit.ahead[slice_] = busy + own * (slices - 1) - unit.slices_even


@rule
def _slice_of(machine: MachineNumbers, line: int, group: int) -> int:
    """Return the slice of a line, of a group of SMs, by a hash of the model's own."""
    piece = line // machine.store_slice_lines
    mixed = (piece // TURNS * 2 + piece % 2 + (group << SECOND)) * SPREADING & WORD
    mixed = (mixed ^ mixed >> FIRST) * SPREADING & WORD
    return int((mixed ^ mixed >> SECOND) % machine.store_slices)
