"""Decide whether two stored states of the SM are the same except for the cycles between them: word by word, by role.

gpusim/sm/state/recurrence.py and docs/units/fast-forward.md define the roles and when two words are the same.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Sm
from gpusim.sm.replay.stream.stream import FACTOR, MASK
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.unit.capacities import UNITS
from gpusim.sm.unit.stall import OWN, SHARED

SAME, TIME, MOMENT, STAMP, TOTAL, NUMBER, SPECIAL = range(7)  # roles, as in `r.roles`
# Columns, as in `r.columns`.
LIVE, CURSOR, UNIT, READY, SINCE, READY_AT, REFUSALS, ISSUED, PLACED, NEXT, AGE, ORDER = range(12)
LAPS, RELEASE_AT, REFUSED, CHANNEL, MARKER, DOUBT, BROUGHT = range(12, 19)
WHEN, HASH, EVENT = range(3)  # notes of a stored state


@rule
def word(r: Recurrence, row: int, name: int, i: int) -> int:
    """Return the i-th word of that name in a stored state."""
    return int(r.kept[row, r.columns[name] + i])


@rule
def ahead(time: int, now: int) -> int:
    """Return how far ahead a time lies, 0 if it has passed."""
    return NEVER if time >= NEVER else max(0, time - now)


@rule
def channel_ahead(sm: Sm, r: Recurrence, row: int) -> int:
    """Return for how many parts of a cycle the memory channel is still occupied."""
    return max(0, word(r, row, CHANNEL, 0) - r.notes[row, WHEN] * sm.machine.channel_parts)


@rule
def digest(sm: Sm, r: Recurrence, row: int, now: int) -> int:
    """Return a hash of the words that agree in equal states."""
    value = now % (sm.machine.interval * sm.machine.schedulers)
    for i in range(r.roles[SAME], r.roles[TIME]):
        value = (value * FACTOR + (r.kept[row, i] & MASK)) & MASK
    for i in range(r.roles[TIME], r.roles[MOMENT]):
        value = (value * FACTOR + (ahead(r.kept[row, i], now) & MASK)) & MASK
    return int(value * FACTOR + channel_ahead(sm, r, row)) & MASK


@rarely
def agree(sm: Sm, r: Recurrence, before: int, here: int) -> bool:
    """Tell whether two stored states are the same except for the cycles between them."""
    period = r.notes[here, WHEN] - r.notes[before, WHEN]
    if period % (sm.machine.interval * sm.machine.schedulers):
        return False
    for i in range(r.roles[SAME], r.roles[TIME]):
        if r.kept[here, i] != r.kept[before, i]:
            return False
    for i in range(r.roles[TIME], r.roles[MOMENT]):
        if ahead(r.kept[here, i], r.notes[here, WHEN]) != ahead(r.kept[before, i], r.notes[before, WHEN]):
            return False
    if channel_ahead(sm, r, here) != channel_ahead(sm, r, before):
        return False
    return _moments_agree(sm, r, before, here) and _numbers_agree(r, before, here) and _warps_agree(sm, r, before, here)


@rule
def _moments_agree(sm: Sm, r: Recurrence, before: int, here: int) -> bool:
    """Tell whether each moment moved with the clock, or is unchanged and was already too old for other schedulers."""
    period = r.notes[here, WHEN] - r.notes[before, WHEN]
    for i in range(r.roles[MOMENT], r.roles[STAMP]):
        seen = r.kept[before, i]
        moved = r.kept[here, i] - seen
        if moved != period and (moved != 0 or seen + sm.machine.interval > r.notes[before, WHEN]):
            return False
    return True


@rule
def _numbers_agree(r: Recurrence, before: int, here: int) -> bool:
    """Tell whether each number that matters has moved with its total, or has stayed without being set again."""
    for i in range(r.source.size):
        at, total, moment = r.roles[NUMBER] + i, r.source[i], r.renewal[i]
        change = r.kept[here, at] - r.kept[before, at]
        renewed = moment >= 0 and r.kept[here, moment] != r.kept[before, moment]
        idle = r.awaited[i] >= 0 and r.kept[here, r.awaited[i]] < NEVER
        stays = change == 0 and not renewed
        if not idle and not stays and change != r.kept[here, total] - r.kept[before, total]:
            return False
    return True


@rule
def _warps_agree(sm: Sm, r: Recurrence, before: int, here: int) -> bool:
    schedulers = sm.machine.schedulers
    for g in range(sm.warp_slots):
        if not _reasons_agree(r, before, here, g):
            return False
        ready = word(r, here, READY, g % schedulers) >> (g // schedulers) & 1
        if ready and not _sums_agree(sm, r, before, here, g):
            return False
    return _order_agrees(sm, r, AGE, before, here) and _order_agrees(sm, r, ORDER, before, here)


@rule
def _order_agrees(sm: Sm, r: Recurrence, name: int, before: int, here: int) -> bool:
    """Tell whether warps placed in between, or that yielded, come after those that stayed, as their slots' did."""
    stayed, replaced = -1, NEVER
    for g in range(sm.warp_slots):
        seen = word(r, before, name, g)
        if word(r, here, name, g) == seen:
            stayed = max(stayed, seen)
        else:
            replaced = min(replaced, seen)
    return stayed < replaced


@rule
def _reasons_agree(r: Recurrence, before: int, here: int, g: int) -> bool:
    """Tell whether each reason moved with the clock, or was settled both times, or the warp slept all the time."""
    since, seen_since = word(r, here, SINCE, g), word(r, before, SINCE, g)
    for reason in range(g * OWN, (g + 1) * OWN):
        time, seen = word(r, here, RELEASE_AT, reason), word(r, before, RELEASE_AT, reason)
        settled = time <= since and seen <= seen_since
        same = time == seen and (since == seen_since or time >= NEVER)
        if not (settled or same or time - seen == r.notes[here, WHEN] - r.notes[before, WHEN]):
            return False
    return True


@rule
def behind(sm: Sm, r: Recurrence, row: int, g: int, shared: int) -> int:
    """Return how far the sums that a warp remembers lag behind those of its scheduler and unit class."""
    own = (g % sm.machine.schedulers * UNITS + word(r, row, UNIT, g)) * SHARED + shared
    return word(r, row, REFUSALS, own) - word(r, row, REFUSED, g * SHARED + shared)


@rule
def _sums_agree(sm: Sm, r: Recurrence, before: int, here: int, g: int) -> bool:
    """Tell whether a ready warp's remembered sums lag behind its scheduler's by as much, or are unchanged."""
    if word(r, here, READY_AT, g) == word(r, before, READY_AT, g):
        return True
    for shared in range(SHARED):  # noqa: SIM110  (compiled)
        if behind(sm, r, here, g, shared) != behind(sm, r, before, g, shared):
            return False
    return True
