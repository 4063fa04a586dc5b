"""WARPSYNC: when lanes that wait for others of their mask go on, and which of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interpreter.lanes.groups import (
    ALONE,
    AT_COLLECTIVE,
    AT_EXCLUSIVE,
    AT_WARPSYNC,
    IN_COLLECTIVE,
    Groups,
    Waiting,
    joined,
    lane_numbers,
    lowest,
    remove,
)


def align(groups: Groups, arrived: int = 0) -> None:
    """Let those go on that wait at a WARPSYNC, or for a collective, and miss nobody; `arrived`: who has just come."""
    for pc in sorted({one.pc for one in groups.others if one.state == AT_WARPSYNC}):
        if done := _done(groups, AT_WARPSYNC, pc):
            place = next(i for i, one in enumerate(groups.others) if one is done[0][0])
            groups.others.insert(place, Waiting(pc, sum(lanes for _, lanes in done)))
            remove(groups, _without(done))
    for pc in sorted({one.pc for one in groups.others if one.state == AT_EXCLUSIVE}):
        _go_on_by_mask(groups, _done(groups, AT_EXCLUSIVE, pc), arrived)
    _go_on_by_mask(groups, _done(groups, AT_COLLECTIVE), arrived)


def _done(groups: Groups, state: int, pc: int = -1) -> list[tuple[Waiting, int]]:
    """Return the groups in a state, at a pc or anywhere, with those of their lanes that miss nobody."""
    there = [one for one in groups.others if one.state == state and pc in (-1, one.pc)]
    masks = {lane: one.masks[lane] for one in there for lane in lane_numbers(one.lanes)}
    return [(one, free) for one in there if (free := _free(one, masks, groups.gone))]


def _go_on_by_mask(groups: Groups, done: Sequence[tuple[Waiting, int]], arrived: int) -> None:
    """Let lanes go on mask by mask, each apart; those of a collective execute it together."""
    for mask in _masks(done):
        mine = [(one, found) for one, lanes in done if (found := _with_mask(one, lanes, mask))]
        if mine[0][0].state == AT_COLLECTIVE:
            _execute_together(groups, mine, arrived)
        else:
            groups.others.append(Waiting(mine[0][0].pc, sum(lanes for _, lanes in mine), ALONE))
    remove(groups, _without(done))


def _masks(done: Sequence[tuple[Waiting, int]]) -> list[int]:
    """Return the masks of lanes that go on, the last to run first.

    The lowest lane's part from the others; if they are the larger part, those of the next mask run first.
    """
    of_lanes = {lane: one.masks[lane] for one, lanes in done for lane in lane_numbers(lanes)}
    sizes = dict[int, int]()
    for lane in sorted(of_lanes):
        sizes[of_lanes[lane]] = sizes.get(of_lanes[lane], 0) + 1
    first, last = list[int](), list[int]()
    while sizes:
        mask = next(iter(sizes))
        size = sizes.pop(mask)
        if sizes and size > sum(sizes.values()):
            last.append(mask)
            mask = next(iter(sizes))
            del sizes[mask]
        first.append(mask)
    return last + first[::-1]


def _with_mask(one: Waiting, lanes: int, mask: int) -> int:
    return sum(1 << lane for lane in lane_numbers(lanes) if one.masks[lane] == mask)


def _execute_together(groups: Groups, mine: Sequence[tuple[Waiting, int]], arrived: int) -> None:
    """Let lanes of one mask execute a collective where the last arrived, or else the lowest is; note the others."""
    parts = joined([replace(one, lanes=lanes, state=IN_COLLECTIVE) for one, lanes in mine if not lanes & arrived])
    last = [Waiting(one.pc, lanes) for one, lanes in mine if lanes & arrived]
    if not last:
        parts.sort(key=lowest, reverse=True)
        last = [parts.pop()]
    groups.others += [*parts, Waiting(last[0].pc, sum(lanes for _, lanes in mine), ALONE)]


def _free(one: Waiting, masks: Mapping[int, int], gone: int) -> int:
    """Return the lanes of a group all of whose partners wait for them, too, or have exited; `masks` of who waits."""
    return sum(
        1 << lane
        for lane in lane_numbers(one.lanes)
        if all(masks.get(other, 0) >> lane & 1 for other in lane_numbers(one.masks[lane] & ~gone))
    )


def _without(done: Sequence[tuple[Waiting, int]]) -> list[Waiting]:
    """Take away the lanes that go on; return the groups of which none are left."""
    for one, lanes in done:
        one.lanes &= ~lanes
    return [one for one, _ in done if not one.lanes]
