"""Scheduling policies: choose which of a scheduler's eligible warps issues; -1 if the policy lets none issue."""

from __future__ import annotations

from collections.abc import Callable

from gpusim.sm.front.policies.declaration import POLICY_NAMES
from gpusim.sm.front.policies.policy_code import call
from gpusim.sm.jit.rule import NEVER, lowest_bit, rarely, rule, switch
from gpusim.sm.records import Scheduler, Sm
from gpusim.sm.unit.stall import Stall

BARRIER, LONG, DRAIN = int(Stall.BARRIER), int(Stall.LONG_SCOREBOARD), int(Stall.DRAIN)


@rule
def lrr(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Loose round robin: return the next eligible warp after the one that issued last."""
    after = eligible >> (sm.schedulers[k].last + 1) << (sm.schedulers[k].last + 1)
    return lowest_bit(after if after else eligible)


@rarely
def oldest(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Return the eligible warp that was placed, or yielded, first: of the oldest block, where such blocks go first."""
    best, first, oldest_block = 0, NEVER, NEVER
    while eligible:
        j = lowest_bit(eligible)
        eligible &= eligible - 1
        warp = sm.warps[j * sm.machine.schedulers + k]
        block = (warp.age - warp.index) * sm.machine.oldest_first  # the age of its first warp
        if block < oldest_block or (block == oldest_block and warp.order < first):
            best, first, oldest_block = j, warp.order, block
    return best


@rarely
def youngest(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Return the eligible warp that was placed last: of the oldest block, where such blocks go first."""
    best, age, oldest_block = 0, -1, NEVER
    while eligible:
        j = lowest_bit(eligible)
        eligible &= eligible - 1
        warp = sm.warps[j * sm.machine.schedulers + k]
        block = (warp.age - warp.index) * sm.machine.oldest_first  # the age of its first warp
        if block < oldest_block or (block == oldest_block and warp.age > age):
            best, age, oldest_block = j, warp.age, block
    return best


@rarely
def gto(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Greedy then oldest: return the warp that issued last while it can and did not yield, else the oldest."""
    last = sm.schedulers[k].last
    if last >= 0 and (eligible >> last) & 1 and not sm.schedulers[k].yielded:
        return last
    return oldest(sm, k, eligible, 0)


@rule
def cggty(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Greedy then youngest (Huerta et al., MICRO 2025): like gto, but else the youngest that did not yield.

    Where all did when they issued last, the one that issued last goes on, unless another has rested (hopper.md).
    """
    last = sm.schedulers[k].last
    stays = last >= 0 and (eligible >> last) & 1
    return last if stays and not sm.schedulers[k].yielded else _by_age(sm, k, eligible, last)


@rarely
def _by_age(sm: Sm, k: int, eligible: int, last: int) -> int:
    """Return the choice where the warp that issued last does not simply go on."""
    stays = last >= 0 and (eligible >> last) & 1
    fresh, rested = _by_yields(sm, k, eligible)
    if fresh:
        return youngest(sm, k, fresh, 0)
    others = rested & ~(1 << last) if stays else eligible
    return oldest(sm, k, others, 0) if others else last


@rule
def _by_yields(sm: Sm, k: int, eligible: int) -> tuple[int, int]:
    """Return the mask of warps that did not yield when they issued last, and of those whose rest is over."""
    fresh, rested, rest_over = 0, 0, sm.now + sm.machine.yield_lasts - sm.machine.yield_rest
    while eligible:
        j = lowest_bit(eligible)
        eligible &= eligible - 1
        ends = sm.warps[j * sm.machine.schedulers + k].yield_ends
        fresh |= int(ends <= sm.now) << j
        rested |= int(ends <= rest_over) << j
    return fresh, rested


@rarely
def two_level(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Loose round robin among the active warps (Gebhart et al., ISCA 2011).

    A warp that waits for memory or a barrier leaves them, and the oldest of the other eligible warps takes its place.
    """
    scheduler = sm.schedulers[k]
    room = sm.machine.active - _stay(sm, k, scheduler)
    outside = eligible & ~scheduler.active
    while outside and room > 0:
        j = oldest(sm, k, outside, 0)
        outside &= ~(1 << j)
        scheduler.active |= 1 << j
        room -= 1
    inside = eligible & scheduler.active
    return lrr(sm, k, inside, 0) if inside else -1


@rule
def _stay(sm: Sm, k: int, scheduler: Scheduler) -> int:
    """Remove active warps that wait for memory or a barrier, and count the rest; a warp that exits removes itself."""
    left, stay = scheduler.active, 0
    while left:
        j = lowest_bit(left)
        left &= left - 1
        release_at = sm.warps[j * sm.machine.schedulers + k].release_at
        if max(release_at[BARRIER], release_at[LONG], release_at[DRAIN]) > sm.now:
            scheduler.active &= ~(1 << j)
        else:
            stay += 1
    return stay


@rarely
def registered(sm: Sm, k: int, eligible: int, _: int) -> int:
    """Return the choice of a policy registered from Python, or -1 if its answer is not eligible."""
    j = call(sm.machine.policy_code, sm, k, eligible)
    return j if 0 <= j < 64 and (eligible >> j) & 1 else -1


POLICIES: dict[str, Callable[[Sm, int, int, int], int]] = {
    "lrr": lrr,
    "gto": gto,
    "oldest": oldest,
    "cggty": cggty,
    "two_level": two_level,
}
LRR, CGGTY = POLICY_NAMES.index("lrr"), POLICY_NAMES.index("cggty")
_by_index = switch((*(POLICIES[name] for name in POLICY_NAMES), registered))


@rarely
def _other(policy: int, sm: Sm, k: int, eligible: int) -> int:
    """Return the choice of any policy."""
    return _by_index(policy, sm, k, eligible, 0)


@rule
def choose(policy: int, sm: Sm, k: int, eligible: int, _: int) -> int:
    """Return the choice of the policy of that index: the two that most machines have are inlined into the callers."""
    if policy == CGGTY:
        return cggty(sm, k, eligible, 0)
    return lrr(sm, k, eligible, 0) if policy == LRR else _other(policy, sm, k, eligible)
