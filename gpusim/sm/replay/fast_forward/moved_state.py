"""Store states of the SM, and move them in time: by whole periods, or by a part of one that is taken again and again.

Each word changes by its role (gpusim/sm/state/recurrence.py): times by the cycles, totals by their growth.
"""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Sm
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.replay.fast_forward.same_state import (
    CHANNEL,
    ISSUED,
    LAPS,
    MARKER,
    NUMBER,
    PLACED,
    READY_AT,
    REFUSED,
    RELEASE_AT,
    SAME,
    SINCE,
    SPECIAL,
    TIME,
    TOTAL,
    WHEN,
    behind,
    word,
)
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.unit.capacities import DEPTHS, LOG
from gpusim.sm.unit.stall import OWN, SHARED


@rarely
def take(sm: Sm, r: Recurrence, row: int, now: int) -> None:
    """Store the present state in a row."""
    for k in range(sm.machine.schedulers):
        stall_accounting.forget(sm.schedulers[k], now)
        if sm.machine.writes_back:
            write_back.settle(sm, sm.schedulers[k], now)
    for i in range(r.places.size):
        r.kept[row, i] = r.words[r.places[i]]
    r.notes[row, WHEN] = now


@rule
def move(sm: Sm, r: Recurrence, before: int, now: int, way: int, n: int, to: int) -> None:
    """Compute the state reached: like the way from `before` to `way`, but n times as far from `before` as `now` is."""
    move_by(sm, r, before, now, way, n, 1, n * (r.notes[now, WHEN] - r.notes[before, WHEN]), to)


@rarely
def move_by(sm: Sm, r: Recurrence, before: int, now: int, way: int, n: int, parts: int, cycles: int, to: int) -> None:
    """Compute the same for so many cycles, with n / parts of what totals grew by from `before` to `now`, rounded down.

    That is exact for whole periods, of one part each.
    """
    kept = r.kept
    r.notes[to, WHEN] = r.notes[way, WHEN] + cycles
    for i in range(r.roles[SAME], r.roles[TIME]):
        kept[to, i] = kept[way, i]
    for i in range(r.roles[TIME], r.roles[TOTAL]):
        kept[to, i] = _moved(kept[before, i], kept[now, i], kept[way, i], cycles)
    for i in range(r.roles[TOTAL], r.roles[NUMBER]):
        kept[to, i] = kept[way, i] + n * (kept[now, i] - kept[before, i]) // parts
    for i in range(r.roles[NUMBER], r.roles[SPECIAL]):
        total = r.source[i - r.roles[NUMBER]]
        more = n * (kept[now, total] - kept[before, total]) // parts
        kept[to, i] = _moved(kept[before, i], kept[now, i], kept[way, i], more)
    channel = r.columns[CHANNEL]
    later = cycles * sm.machine.channel_parts
    kept[to, channel] = _moved(kept[before, channel], kept[now, channel], kept[way, channel], later)
    kept[to, r.columns[MARKER]] = kept[way, r.columns[MARKER]]
    for g in range(sm.warp_slots):
        _move_warp(sm, r, before, now, way, n, parts, cycles, to, g)


@rule
def _moved(before: int, now: int, way: int, distance: int) -> int:
    """Return a word's new value: unchanged if it did not change on the way, else its later value plus `distance`."""
    if way == before:
        return now
    return NEVER if way >= NEVER else way + distance


@rule
def _move_warp(
    sm: Sm, r: Recurrence, before: int, now: int, way: int, n: int, parts: int, cycles: int, to: int, g: int
) -> None:
    kept = r.kept
    for i in range(r.columns[RELEASE_AT] + g * OWN, r.columns[RELEASE_AT] + (g + 1) * OWN):
        settled = kept[way, i] <= word(r, way, SINCE, g)  # and must not be mistaken for a future time
        kept[to, i] = kept[way, i] if settled else _moved(kept[before, i], kept[now, i], kept[way, i], cycles)
    for i in range(r.columns[LAPS] + g * DEPTHS, r.columns[LAPS] + (g + 1) * DEPTHS):
        kept[to, i] = kept[way, i] + n * (kept[now, i] - kept[before, i]) // parts
    stays = word(r, way, READY_AT, g) == word(r, before, READY_AT, g)
    for shared in range(SHARED):
        at = r.columns[REFUSED] + g * SHARED + shared
        kept[to, at] = kept[now, at]
        if not stays:
            kept[to, at] += behind(sm, r, to, g, shared) - behind(sm, r, way, g, shared)


@rule
def put(sm: Sm, r: Recurrence, before: int, here: int, reached: int) -> None:
    """Make the reached state the SM's state; the blocks placed meanwhile have the scripts of one period ago.

    Those that left meanwhile did so a period later than the ones before them.
    """
    retired, issued = sm.retired, 0
    for k in range(sm.machine.schedulers):
        issued += word(r, here, ISSUED, k) - word(r, before, ISSUED, k)
    for i in range(r.places.size):
        r.words[r.places[i]] = r.kept[reached, i]
    for k in range(sm.machine.schedulers):
        wakeup.renew(sm.machine, k, sm.schedulers[k], r.notes[reached, WHEN])
    placed = word(r, here, PLACED, 0)
    period = placed - word(r, before, PLACED, 0)
    for block in range(placed, word(r, reached, PLACED, 0)):
        sm.log[block % LOG] = sm.log[(block - period) % LOG]
    for number in range(retired, sm.retired):
        to, like = number % sm.ended.size, (number - period) % sm.ended.size
        sm.ended[to] = sm.ended[like] + r.notes[here, WHEN] - r.notes[before, WHEN]
        sm.ended_after[to] = sm.ended_after[like] + issued
