"""L2 channels: one for an SM's loads and one for its stores, if the machine has two; all SMs share the L2 behind them.

* Each 32 bytes occupy the SM's channel for some parts of a cycle, and the L2 for their share of what all SMs may move.
  What a load wants of a line occupies both at least for as long as its request takes; for that long the L2 takes no
  store.
* Requests of neighbouring SMs for the same lines are merged before the L2 (gpusim/engines/line_share.py), which sends
  what it answers to each of them.
* A store to parts of sectors occupies its channel and the L2 longer for each line.
* A store does not wait for the L2 until so many sectors wait there; then the next one does. Warps may exit meanwhile,
  but the launch ends when all have gone. A store to a sector that still waits joins it (held_stores.py).
* A slice of the L2 is near an SM or far from it. The parity of some bits of a line's number chooses the slice; the
  chip's hash is unknown.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory.cache.declaration import FAR, SHARE_PARTS
from gpusim.sm.memory.l2_channel import slices
from gpusim.sm.memory.l2_channel.declaration import ANSWERS, LOADS, STORES
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.l2_share.declaration import PARTS
from gpusim.sm.records import Sm
from isa.memory import SECTOR_BYTES


@rule
def loaded(sm: Sm, copies: int, units: int, now: int) -> int:
    """Return when these sectors of a line, a mask, have come to the SM; `copies`: they go to shared memory."""
    found, machine = count_bits(units), sm.machine
    parts = max(found * machine.port_cost[LOADS], machine.load_line_cost)
    if copies and machine.copied_line:
        parts = machine.copied_line
    gone = max(_ported(sm, _asked(sm, units), LOADS, int(parts), now), _looked_for(sm, now))
    return max(gone, _answers(sm, found, now)) if sm.load_store.differing else gone


@rule
def loaded_by_engine(sm: Sm, units: int, now: int) -> int:
    """Return the same for the copy engine, whose sectors have a way of their own from the L2."""
    found, cost = count_bits(units), _asked(sm, units)
    gone = max(_shared(sm, cost, LOADS, now) if cost else now, _looked_for(sm, now))
    return max(gone, _answers(sm, found, now)) if sm.load_store.differing else gone


@rule
def _asked(sm: Sm, units: int) -> int:
    """Return for how many parts of the SM's share the L2 is busy that is asked for these sectors of a line."""
    return _of_share(sm, max(count_bits(units) * SECTOR_BYTES, int(sm.machine.load_least)))


@rule
def _of_share(sm: Sm, size: int) -> int:
    """Return in how many parts of the SM's share the L2 moves so many bytes that the SM loads.

    Where neighbours ask for the same lines, each has its part of what they cost.
    """
    parts = size * sm.machine.shared_cost[LOADS] // SECTOR_BYTES
    return int(parts * (sm.load_store.differing or PARTS) // PARTS)


@rule
def _looked_for(sm: Sm, now: int) -> int:
    """Return when the L2 has looked for a line that the SM loads, after the stores that it has been sent before."""
    if _stands(sm) and sm.load_store.asked[STORES] == 0:
        return now
    cost = _of_share(sm, int(sm.machine.load_least))
    return _shared(sm, cost, STORES, now) if cost else now


@rule
def _answers(sm: Sm, units: int, now: int) -> int:
    """Return when the L2 has sent so many sectors to the SM, for which others ask, too."""
    return _shared(sm, int(units * sm.machine.shared_cost[ANSWERS]), ANSWERS, now)


@rule
def ported(sm: Sm, units: int, of_all: int, way: int, now: int) -> int:
    """Return when so many sectors have passed that channel between the SM and the L2.

    The L2 is busy for `of_all` sectors.
    """
    cost, own = int(of_all * sm.machine.shared_cost[way]), way * sm.machine.ways_apart
    return _ported(sm, cost, way, int(units * sm.machine.port_cost[own]), now)


@rule
def _ported(sm: Sm, cost: int, way: int, parts: int, now: int) -> int:
    """Return the same where the channel takes so many parts of a cycle, and the L2 so many of the SM's share."""
    unit, machine = sm.load_store, sm.machine
    own = way * machine.ways_apart
    unit.port[own] = max(unit.port[own], now * machine.port_parts) + parts
    gone = int((unit.port[own] + machine.port_parts - 1) // machine.port_parts)
    return max(gone, _shared(sm, cost, way, now)) if cost else gone


@rarely
def _shared(sm: Sm, parts: int, way: int, now: int) -> int:
    """Return when the L2 has moved for the SM what takes its share so many parts, after those that asked before.

    Where an SM stands for others, these are assumed to ask at other times. A request costs the fraction of the SM's
    share of the L2 that the SM has asked for since its first request.
    """
    unit, machine = sm.load_store, sm.machine
    cost = l2_share.of_all(sm, parts)
    if _stands(sm):
        if unit.asked[way] == 0:
            unit.began[way] = now
        unit.asked[way] += cost
        most = max(unit.asked[way], (now - unit.began[way]) * SHARE_PARTS, 1)
        cost = cost * unit.asked[way] // most
    unit.shared[way] = max(unit.shared[way], now * machine.shared_parts) + cost
    if way == STORES and machine.store_slices:
        slices.even(sm, cost)
    return int((unit.shared[way] + machine.shared_parts - 1) // machine.shared_parts)


@rule
def _stands(sm: Sm) -> bool:
    """Tell whether the SM stands for others, which are not simulated."""
    return bool(sm.launch.sharers > 1 or sm.machine.shared_parts == SHARE_PARTS)


@rarely
def free_for_stores(sm: Sm, lines: int, now: int) -> int:
    """Return when the next store may go to the L2: its channel is free, and few enough sectors wait for the L2.

    Both are busy longer by so many `lines`: those of which the last store wrote parts of sectors.
    """
    unit, machine = sm.load_store, sm.machine
    unit.port[STORES] += lines * machine.store_line_cost
    if lines and machine.store_line_cost and machine.shared_cost[STORES]:
        _shared(sm, lines * int(machine.shared_cost[STORES]), STORES, now)
    own = unit.port[STORES] // machine.port_parts - machine.store_buffer * machine.port_cost[STORES] // SHARE_PARTS
    all_of_them = unit.shared[STORES] // machine.shared_parts
    return int(max(now, own, all_of_them - machine.store_buffer * machine.shared_cost[STORES] // SHARE_PARTS))


@rule
def wait(sm: Sm, lines: int) -> int:
    """Return for how many cycles the lines of a store to so many wait at least for stores that join them."""
    return max(int(sm.machine.store_wait), lines * int(sm.machine.store_line_wait))


@rule
def keeps_stores(sm: Sm) -> bool:
    """Tell whether stores wait for the L2 in a channel of their own: their warp is done with them before they go."""
    return bool(sm.machine.ways_apart and sm.launch.caches[FAR].sets)


@rule
def emptied(sm: Sm) -> int:
    """Return when the L2 has taken all stores that wait in such a channel."""
    unit, machine = sm.load_store, sm.machine
    if not keeps_stores(sm):
        return 0
    own = (unit.port[STORES] + machine.port_parts - 1) // machine.port_parts
    return int(max(own, (unit.shared[STORES] + machine.shared_parts - 1) // machine.shared_parts))


@rule
def distance(sm: Sm, line: int) -> int:
    """Return how many cycles longer than the mean a load of this line takes: its slice is near the SM, or far."""
    if sm.machine.slice_spread == 0:
        return 0
    folded = line ^ line >> 1 ^ line >> 3 ^ line >> 6 ^ line >> 10
    return int(sm.machine.slice_spread if folded & 1 else -sm.machine.slice_spread)
