"""Selection as a scan of every cycle (`every_cycle.py`) sees it: the other warps wait for a chosen one that waits."""

from __future__ import annotations

from itertools import count

from executed import holds

from gpusim.machine.machine import Machine
from gpusim.sm.registers.control_code.declaration import by_codes
from scan.apart import goes_apart
from scan.matrices import making_way
from scan.memory import full, queued
from scan.pipes import takes
from scan.state import Scan, Warp

FORGOTTEN = 65536  # cycles after a yield


def offset(machine: Machine, k: int) -> int:
    """The cycle of each interval in which scheduler k has its slot."""
    return k * machine.schedulers.stagger % machine.schedulers.interval


def turns(machine: Machine, now: int) -> list[int]:
    """The schedulers in order: the first one changes from slot to slot; of four or eight, its neighbour is second."""
    count = machine.schedulers.count
    turn = now // machine.schedulers.interval % count if machine.issue.rotate else 0
    if count in (4, 8):
        first = [0, 1, 3, 2, 6, 7, 5, 4][turn]  # neighbours take turns, and so do pairs and fours
        return sorted(range(count), key=lambda k: [k // of % 2 != first // of % 2 for of in (4, 2, 1)])
    return [(k + turn) % count for k in range(count)]


def keeps(sm: Scan, kind: str) -> bool:
    """Whether a warp may be chosen for an instruction of this kind while its pipes are busy."""
    return sm.machine.selection is not None and kind in sm.machine.selection.keeps.split()


def goes(sm: Scan, k: int, warp: Warp, kind: str, now: int) -> bool:
    """Whether the chosen warp goes now; if not, no warp goes before the cycle noted, and then this one."""
    selection, scheduler = sm.machine.selection, sm.schedulers[k]
    scheduler.selected = None
    if warp.pc < len(sm.kernel.program) and not holds(sm.kernel, warp.frame, warp.group, warp.pc):
        return True
    if not takes(sm, k, kind, now):
        scheduler.stalled = next(t for t in count(now) if takes(sm, k, kind, t))
    elif queued(sm, kind) and full(sm, k, now, apart=apart(sm, warp)) and not sm.machine.issue.refused_wastes_slot:
        scheduler.stalled = now + 1
    elif (when := making_way(sm, k, warp, now)) > now:
        scheduler.stalled = when
        if selection and selection.freezes and by_codes(sm.machine):
            _freeze(sm, k, scheduler.stalled - now, now)
    else:
        return True
    scheduler.selected = warp if selection else None
    return False


def order_of(sm: Scan, warp: Warp) -> tuple[int, int]:
    """The key by which the older of two warps is found: its block first, if the machine says so."""
    blocks_count = sm.machine.block_order is not None and sm.machine.block_order.oldest_first
    return (warp.block if blocks_count else 0), warp.order


def oldest(sm: Scan, eligible: list[Warp], _stays: Warp | None, _now: int) -> Warp:
    """The warp that came, or yielded, first."""
    return min(eligible, key=lambda warp: order_of(sm, warp))


def by_yields(sm: Scan, eligible: list[Warp], stays: Warp | None, now: int) -> Warp:
    """The youngest that did not yield, or else the oldest of those that have rested, or who issued last."""
    since = {warp.slot: now - warp.yielded for warp in eligible}
    fresh = [warp for warp in eligible if since[warp.slot] >= FORGOTTEN]
    if fresh:
        return min(fresh, key=lambda warp: (order_of(sm, warp)[0], -warp.age))
    rest = sm.machine.dependence.yield_rest if sm.machine.dependence else 0
    others = [warp for warp in eligible if not stays or (warp is not stays and since[warp.slot] >= rest)]
    return oldest(sm, others or [warp for warp in (stays,) if warp], stays, now)


def apart(sm: Scan, warp: Warp) -> bool:
    """Whether a warp's next instruction goes to a unit apart from the load/store unit."""
    code = sm.kernel.program.instructions
    return warp.pc < len(code) and goes_apart(sm.machine, code[warp.pc])


def _freeze(sm: Scan, k: int, cycles: int, now: int) -> None:
    for warp in sm.warps[k :: sm.machine.schedulers.count]:
        if warp is not None and warp.counted > now:
            warp.counted += cycles
