"""WARPSYNC: when the lanes of a warp that wait for their partners go on, and which of them do so together."""

from __future__ import annotations

from gpusim.sm.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.sm.lanes.convergence import parted, partners
from gpusim.sm.lanes.convergence.parted import ALONE, AT_COLLECTIVE, AT_EXCLUSIVE, AT_WARPSYNC, IN_COLLECTIVE, READY
from gpusim.sm.records import Sm


@rarely
def align(sm: Sm, g: int, arrived: int) -> None:
    """Release lanes at a WARPSYNC or a collective that miss nobody; `arrived`: the lanes that just came."""
    for state in (AT_WARPSYNC, AT_EXCLUSIVE):
        pc = parted.next_place(sm, g, state, -1)
        while pc >= 0:
            if state == AT_WARPSYNC:
                _go_on_at(sm, g, pc)
            else:
                _go_on_by_mask(sm, g, state, pc, arrived)
            pc = parted.next_place(sm, g, state, pc)
    _go_on_by_mask(sm, g, AT_COLLECTIVE, -1, arrived)


@rarely
def _go_on_at(sm: Sm, g: int, pc: int) -> None:
    """Let those that wait at the WARPSYNC before pc, and miss nobody, be ready in the place of the first of them."""
    warp, place = sm.warps[g], -1
    waiting = parted.waiting_at(sm, g, AT_WARPSYNC, pc)
    free = partners.free(warp, waiting, waiting)
    if free == 0:
        return
    for i in range(warp.parted):
        one = sm.parted[g, i]
        if one.state == AT_WARPSYNC and one.pc == pc and one.lanes & free:
            if place < 0:
                place = i
            one.lanes &= ~free
    parted.insert(sm, g, place, READY, pc, free)
    parted.tidy(sm, g)


@rarely
def _go_on_by_mask(sm: Sm, g: int, state: int, pc: int, arrived: int) -> None:
    """Let those that miss nobody go on mask by mask, each apart; pc -1: wherever they wait.

    The lowest lane's part from the others; if they are the larger part, those of the next mask run first.
    """
    warp = sm.warps[g]
    waiting, parts = parted.waiting_at(sm, g, state, pc), 0
    free = partners.free(warp, waiting, waiting)
    while free:
        mine = partners.alike(warp, free)
        free &= ~mine
        if free and count_bits(mine) > count_bits(free):
            _free_one_mask(sm, g, state, mine, arrived)
            mine = partners.alike(warp, free)
            free &= ~mine
        sm.places[parts] = mine
        parts += 1
    for part in range(parts - 1, -1, -1):
        _free_one_mask(sm, g, state, sm.places[part], arrived)
    if parts:
        parted.tidy(sm, g)


@rarely
def _free_one_mask(sm: Sm, g: int, state: int, mine: int, arrived: int) -> None:
    """Let lanes go on together; a collective where the last of them arrived, if none the lowest, notes the others."""
    first, pc = sm.warps[g].parted, -1
    leader = mine & arrived if mine & arrived else 1 << lowest_bit(mine)
    for i in range(first):
        one = sm.parted[g, i]
        if one.state == state and one.lanes & leader:
            pc = one.pc
    for i in range(first):
        one = sm.parted[g, i]
        lanes = one.lanes & mine if one.state == state else 0
        if lanes:
            one.lanes &= ~lanes
            if state == AT_COLLECTIVE and (lanes & arrived == 0 if mine & arrived else one.pc != pc):
                _note(sm, g, first, one.pc, one.label, lanes)
    parted.append(sm, g, ALONE, pc, mine)


@rule
def _note(sm: Sm, g: int, first: int, pc: int, label: int, lanes: int) -> None:
    """Note where lanes go on after a collective, with those noted from `first` on that came to it at the same place."""
    for i in range(first, sm.warps[g].parted):
        if sm.parted[g, i].pc == pc:
            sm.parted[g, i].lanes |= lanes
            return
    parted.append(sm, g, IN_COLLECTIVE, pc, lanes)
    sm.parted[g, sm.warps[g].parted - 1].label = label
