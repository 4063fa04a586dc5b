"""The groups of a warp that do not run, as a list with a top: `sm.parted`. Marked ones are about to be ready."""

from __future__ import annotations

from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.records import PartedLanes, Sm
from gpusim.sm.unit.capacities import LANES

READY, YIELDED, AT_WARPSYNC, AT_COLLECTIVE, IN_COLLECTIVE, AT_BARRIER, AT_EXCLUSIVE, ALONE, MARKED = range(9)


@rule
def append(sm: Sm, g: int, state: int, pc: int, lanes: int) -> None:
    """Put a group on top."""
    one = sm.parted[g, sm.warps[g].parted]
    sm.warps[g].parted += 1
    one.pc, one.lanes, one.state, one.barrier, one.label, one.old = pc, lanes, state, -1, -1, 0


@rarely
def insert(sm: Sm, g: int, place: int, state: int, pc: int, lanes: int) -> None:
    """Put a group at a place, below those that are there."""
    append(sm, g, state, pc, lanes)
    _rotate(sm, g, sm.warps[g].parted - 1, place)


@rarely
def sink(sm: Sm, g: int, place: int) -> None:
    """Move a group to the bottom."""
    _rotate(sm, g, place, 0)


@rarely
def _rotate(sm: Sm, g: int, top: int, place: int) -> None:
    """Move a group down to a place; those between move up."""
    one = sm.parted[g, top]
    pc, lanes, state, barrier, label, old = one.pc, one.lanes, one.state, one.barrier, one.label, one.old
    for i in range(top, place, -1):
        _copy(sm.parted[g, i], sm.parted[g, i - 1])
    one = sm.parted[g, place]
    one.pc, one.lanes, one.state, one.barrier, one.label, one.old = pc, lanes, state, barrier, label, old


@rule
def _copy(to: PartedLanes, of: PartedLanes) -> None:
    to.pc, to.lanes, to.state, to.barrier, to.label, to.old = of.pc, of.lanes, of.state, of.barrier, of.label, of.old


@rarely
def tidy(sm: Sm, g: int) -> None:
    """Drop the groups without lanes."""
    warp, kept = sm.warps[g], 0
    for i in range(warp.parted):
        if sm.parted[g, i].lanes:
            if kept < i:
                _copy(sm.parted[g, kept], sm.parted[g, i])
            kept += 1
    warp.parted = kept


@rarely
def next_place(sm: Sm, g: int, state: int, after: int) -> int:
    """Return the smallest pc behind another of the groups in a state; -1: there is none."""
    found = -1
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if one.state == state and one.pc > after and (found < 0 or one.pc < found):
            found = one.pc
    return int(found)


@rarely
def waiting_at(sm: Sm, g: int, state: int, pc: int) -> int:
    """Return the lanes in a state that go on at a pc; -1: at any."""
    lanes = 0
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if one.state == state and (pc < 0 or one.pc == pc):
            lanes |= one.lanes
    return lanes


@rarely
def may_run(sm: Sm, g: int) -> bool:
    """Tell whether lanes of the warp could run that do not run with the present ones."""
    for i in range(sm.warps[g].parted):  # noqa: SIM110  (compiled)
        if sm.parted[g, i].state in (READY, YIELDED):
            return True
    return False


@rarely
def mark(sm: Sm, g: int, barrier: int, lanes: int) -> int:
    """Mark the groups that wait at a barrier and have some of the lanes; return their lanes."""
    found = 0
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if one.state == AT_BARRIER and one.barrier == barrier and one.lanes & lanes:
            one.state = MARKED
            found |= one.lanes
    return found


@rarely
def unmark(sm: Sm, g: int, barrier: int) -> None:
    """Let marked groups wait at a barrier again."""
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if one.state == MARKED and one.barrier == barrier:
            one.state = AT_BARRIER


@rarely
def lowest(sm: Sm, g: int, state: int) -> int:
    """Return the place of the group in a state that has the lowest lane; -1: there is none."""
    found, lane = -1, LANES
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if one.state == state and lowest_bit(one.lanes) < lane:
            found, lane = i, int(lowest_bit(one.lanes))
    return found


@rarely
def join_marked(sm: Sm, g: int) -> None:
    """Let marked groups at one pc be one."""
    for i in range(sm.warps[g].parted):
        for j in range(i + 1, sm.warps[g].parted):
            one, other = sm.parted[g, i], sm.parted[g, j]
            if one.state == MARKED and other.state == MARKED and one.pc == other.pc:
                other.lanes |= one.lanes
                one.lanes = 0
    tidy(sm, g)


@rarely
def stack_marked(sm: Sm, g: int) -> int:
    """Put the marked groups on top, ready, the lowest lane's last; return how many there are."""
    count = 0
    place = lowest(sm, g, MARKED)
    while place >= 0:
        one = sm.parted[g, place]
        pc, lanes = one.pc, one.lanes
        one.lanes = 0
        tidy(sm, g)
        insert(sm, g, sm.warps[g].parted - count, READY, pc, lanes)
        count += 1
        place = lowest(sm, g, MARKED)
    return count
