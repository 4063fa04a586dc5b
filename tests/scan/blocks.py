"""When a block of the scan of every cycle begins, and when the chip hands out the next."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from scan.state import Scan


def handed_at(sm: Scan, slot: int, now: int) -> int:
    """The cycle at which the first warp of a block that takes the slot now begins."""
    launch, last_warp = sm.machine.launch, sm.kernel.warps - 1
    if sm.placed < sm.resident:
        gaps = [launch.block_skew, last_warp * launch.warp_skew + launch.block_gap if launch.block_gap else 0]
        return known_at(sm, now) + slot * max(gaps)
    of_all_sms = Fraction(launch.refill_parts * sm.machine.chip.sms, 64)
    whole = of_all_sms if sm.machine.chip.sms == 1 else round(of_all_sms)
    begin = max(now, floor(sm.handed_until))
    sm.handed_until = max(Fraction(now), sm.handed_until) + whole
    return begin + launch.block_latency


def known_at(sm: Scan, now: int) -> int:
    """The cycle at which the first instructions of a block are asked for that is placed now."""
    return now + (sm.machine.launch.begin if sm.placed < sm.resident else 0)


def warp_slots(sm: Scan, slot: int) -> list[int]:
    """The warp slot of each warp of a block: in turn; each row of all schedulers may begin at another one."""
    warps, count = sm.kernel.warps, sm.machine.schedulers.count
    in_turn = list(range(slot * warps, (slot + 1) * warps))
    if not sm.machine.launch.rotates or warps % count:
        return in_turn
    rows = [in_turn[begin : begin + count] for begin in range(0, warps, count)]
    return [row[(k + slot) % count] for row in rows for k in range(count)]


def updated(sm: Scan) -> int:
    """The cycle at which the L2 has done all atomics so far, or as good as that where a launch takes as long to end."""
    rules = sm.machine.l2_atomic
    return sm.caches.slices.done - rules.ending if sm.caches and sm.caches.slices and rules else 0
