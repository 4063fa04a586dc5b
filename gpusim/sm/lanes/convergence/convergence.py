"""Convergence: the groups of a warp whose lanes are independent, as from Volta on. One group runs, the others wait.

The running group is the warp's pc and lanes; `sm.parted` has the others (gpusim.sm.lanes.convergence.parted). What they
do says who runs first after a branch, who meets at a convergence barrier, and who comes next.

Time: one group of a warp issues at a time, and the next one goes on where the last one waits, exits or gives way. All
groups of a warp share its dependency barriers, stall counts and place in the scheduler.
"""

from __future__ import annotations

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.lanes.convergence import parted, partners, warpsync
from gpusim.sm.lanes.convergence.parted import (
    ALONE,
    AT_BARRIER,
    AT_COLLECTIVE,
    AT_EXCLUSIVE,
    AT_WARPSYNC,
    IN_COLLECTIVE,
    MARKED,
    READY,
    YIELDED,
)
from gpusim.sm.records import Sm, Warp
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import BARRIERS, LANES

ALL = (1 << LANES) - 1
STUCK = int(Fault.STUCK)


@rule
def begin(sm: Sm, g: int) -> None:
    """All lanes of warp slot g that are threads run together, and no lane belongs to a barrier."""
    warp = sm.warps[g]
    warp.gone, warp.parted, warp.plain = ALL & ~warp.lanes[0], 0, 0
    for barrier in range(BARRIERS):
        warp.convergence[barrier] = 0


@rarely
def branch(sm: Sm, g: int, taken: int, target: int) -> None:
    """Let the lanes `taken` of the running group go to the target, the others on; the smaller group runs first."""
    warp = sm.warps[g]
    rest = warp.lanes[0] & ~taken
    if rest == 0:
        warp.pc = target
    elif count_bits(taken) < count_bits(rest):
        _remember(sm, g, warp.pc, rest)
        _run(warp, target, taken)
    else:
        _remember(sm, g, target, taken)
        _run(warp, warp.pc, rest)


@rarely
def scatter(sm: Sm, g: int, here: int) -> None:
    """Let each lane of the running group go to its place in `sm.places`; those left behind branch again `here`.

    The lowest lane's group parts; if that is the larger part, so does the lowest of the others.
    """
    warp = sm.warps[g]
    lanes = warp.lanes[0]
    first = _together(sm, lanes)
    rest = lanes & ~first
    if rest == 0:
        warp.pc = _place(sm, first)
    elif count_bits(first) <= count_bits(rest):
        _remember(sm, g, _common_place(sm, rest, here), rest)
        _run(warp, _place(sm, first), first)
    else:
        _remember(sm, g, _place(sm, first), first)
        second = _together(sm, rest)
        behind = rest & ~second
        if behind:
            _remember(sm, g, _common_place(sm, behind, here), behind)
        _run(warp, _place(sm, second), second)


@rarely
def expect(sm: Sm, g: int, barrier: int, lanes: int) -> None:
    """BSSY: let a barrier expect these lanes too."""
    warp = sm.warps[g]
    warp.plain &= ~(1 << barrier)
    if warp.convergence[barrier] == 0:
        warp.plain |= 1 << barrier
    warp.convergence[barrier] |= lanes


@rarely
def take_away(sm: Sm, g: int, barrier: int, lanes: int) -> None:
    """BREAK: remove lanes from a barrier; lanes that then wait for nobody run before the others."""
    warp = sm.warps[g]
    warp.convergence[barrier] &= ~lanes
    met = parted.mark(sm, g, barrier, warp.convergence[barrier])
    missed = warp.lanes[0] | _ready(sm, g) | partners.waiting(sm, g, AT_BARRIER)
    if met and warp.convergence[barrier] & ~met & missed == 0:
        warp.convergence[barrier] = 0
        parted.join_marked(sm, g)
        count = parted.stack_marked(sm, g)
        first = sm.parted[g, warp.parted - 1]
        pc, lanes = first.pc, first.lanes
        warp.parted -= 1
        for _ in range(count - 1):
            parted.sink(sm, g, warp.parted - 1)
        parted.append(sm, g, READY, warp.pc, warp.lanes[0])
        _run(warp, pc, lanes)
    else:
        parted.unmark(sm, g, barrier)


@rarely
def meet(sm: Sm, g: int, barrier: int, lanes: int) -> None:
    """BSYNC: let lanes of a barrier wait at it while another of them is ready; other lanes pass."""
    warp = sm.warps[g]
    mask = warp.convergence[barrier]
    if mask & lanes == 0:
        return
    if mask & ~lanes & (warp.lanes[0] | _ready(sm, g)):
        _wait(sm, g, AT_BARRIER, barrier, mask & lanes, -1)
    else:
        _go_on(sm, g, barrier)
    _resume(sm, g)


@rarely
def gather(sm: Sm, g: int, lanes: int, label: int) -> None:
    """WARPSYNC: let lanes of the running group wait for their `partners`; with a label, for a collective."""
    _wait(sm, g, AT_WARPSYNC if label < 0 else AT_COLLECTIVE, -1, lanes, label)
    warpsync.align(sm, g, lanes)
    _resume(sm, g)


@rarely
def part_by_mask(sm: Sm, g: int, lanes: int) -> None:
    """WARPSYNC.EXCLUSIVE: let lanes of the running group wait for their `partners`, and go on with these only."""
    _wait(sm, g, AT_EXCLUSIVE, -1, lanes, -1)
    warpsync.align(sm, g, lanes)
    _resume(sm, g)


@rarely
def disperse(sm: Sm, g: int) -> None:
    """ENDCOLLECTIVE: let the running group go on where each of its lanes came from."""
    warp = sm.warps[g]
    for i in range(warp.parted):
        one = sm.parted[g, i]
        mine = one.lanes & warp.lanes[0]
        if one.state == IN_COLLECTIVE and mine:
            one.lanes &= ~mine
            parted.append(sm, g, MARKED, one.label, mine)
            warp.lanes[0] &= ~mine
    parted.stack_marked(sm, g)
    _resume(sm, g)


@rarely
def give_way(sm: Sm, g: int) -> None:
    """YIELD, NANOSLEEP: let other groups run before this one, as a whole, goes on."""
    _wait(sm, g, YIELDED, -1, sm.warps[g].lanes[0], -1)
    _resume(sm, g)


@rarely
def leave(sm: Sm, g: int, lanes: int) -> None:
    """EXIT: lanes of the running group exit; no lane is left if the warp is done."""
    warp = sm.warps[g]
    warp.lanes[0] &= ~lanes
    warp.gone |= lanes
    for i in range(warp.parted):
        if sm.parted[g, i].state == IN_COLLECTIVE:
            sm.parted[g, i].lanes &= ~lanes
    parted.tidy(sm, g)
    _let_go(sm, g)
    warpsync.align(sm, g, 0)
    _resume(sm, g)


@rule
def _run(warp: Warp, pc: int, lanes: int) -> None:
    warp.pc, warp.lanes[0] = pc, lanes


@rarely
def _remember(sm: Sm, g: int, pc: int, lanes: int) -> None:
    """Put a group that has just parted on top; it is the one that is remembered."""
    for i in range(sm.warps[g].parted):
        sm.parted[g, i].old = 1
    parted.append(sm, g, READY, pc, lanes)


@rarely
def _wait(sm: Sm, g: int, state: int, barrier: int, lanes: int, label: int) -> None:
    """Let lanes of the running group wait at the warp's pc."""
    warp = sm.warps[g]
    warp.lanes[0] &= ~lanes
    parted.append(sm, g, state, warp.pc, lanes)
    one = sm.parted[g, warp.parted - 1]
    one.barrier, one.label = barrier, label


@rule
def _together(sm: Sm, lanes: int) -> int:
    """Return those of the lanes that go where the lowest of them goes."""
    found, place = 0, _place(sm, lanes)
    for lane in range(LANES):
        if lanes >> lane & 1 and sm.places[lane] == place:
            found |= 1 << lane
    return found


@rule
def _place(sm: Sm, lanes: int) -> int:
    """Return where the lowest lane goes."""
    for lane in range(LANES):
        if lanes >> lane & 1:
            return int(sm.places[lane])
    return -1


@rule
def _common_place(sm: Sm, lanes: int, here: int) -> int:
    """Return where lanes go if all go to one place, else `here`."""
    return int(_place(sm, lanes)) if _together(sm, lanes) == lanes else here


@rule
def _ready(sm: Sm, g: int) -> int:
    """Return the lanes of the groups that are ready."""
    return int(partners.waiting(sm, g, READY) | partners.waiting(sm, g, ALONE))


@rarely
def _away(sm: Sm, g: int) -> int:
    """Return the lanes for which nobody waits at a BSYNC: they have exited, have yielded or wait at a WARPSYNC."""
    away = sm.warps[g].gone | partners.waiting(sm, g, YIELDED) | partners.waiting(sm, g, AT_WARPSYNC)
    return int(away | partners.waiting(sm, g, AT_EXCLUSIVE) | partners.waiting(sm, g, AT_COLLECTIVE))


@rarely
def _go_on(sm: Sm, g: int, barrier: int) -> None:
    """Let the running group go on with those that wait at the same BSYNC; others of the barrier's lanes look again."""
    warp = sm.warps[g]
    mask, plain = warp.convergence[barrier], warp.plain >> barrier & 1
    warp.convergence[barrier] = 0
    for i in range(warp.parted):
        one = sm.parted[g, i]
        if one.state == AT_BARRIER and one.lanes & mask:
            if one.barrier == barrier and (plain or one.pc == warp.pc):
                warp.lanes[0] |= one.lanes
                one.lanes = 0
            else:
                one.state = MARKED
    parted.tidy(sm, g)
    _look_again(sm, g)


@rarely
def _look_again(sm: Sm, g: int) -> None:
    """Let marked groups come to their BSYNCs once more, the lowest lane's first, when those that are ready have run.

    Those that wait at one BSYNC come to it together.
    """
    parted.join_marked(sm, g)
    place = parted.lowest(sm, g, MARKED)
    while place >= 0:
        sm.parted[g, place].pc -= 1
        sm.parted[g, place].state = READY
        parted.sink(sm, g, place)
        place = parted.lowest(sm, g, MARKED)


@rarely
def _let_go(sm: Sm, g: int) -> None:
    """Release, as separate groups, lanes at barriers of which no other lane is ready or waits elsewhere."""
    warp, away = sm.warps[g], _away(sm, g)
    for barrier in range(BARRIERS):
        mask = warp.convergence[barrier]
        there = parted.mark(sm, g, barrier, mask)
        if mask & ~(there | away) or there == 0:
            parted.unmark(sm, g, barrier)
        else:
            warp.convergence[barrier] = 0
    parted.join_marked(sm, g)
    parted.stack_marked(sm, g)


@rarely
def _resume(sm: Sm, g: int) -> None:
    """If no lane runs, let the topmost ready group run, else the first that has yielded; it is a fault if none can."""
    warp = sm.warps[g]
    if warp.lanes[0] or warp.parted == 0:
        return
    if _ready(sm, g) == 0:
        _move_on(sm, g)
    chosen = _topmost(sm, g)
    if chosen < 0:
        stop(sm, STUCK, g, warp.pc - 1)
        return
    pc, along = sm.parted[g, chosen].pc, sm.parted[g, chosen].state == READY and sm.parted[g, chosen].old
    lanes = sm.parted[g, chosen].lanes
    sm.parted[g, chosen].lanes = 0
    if along:
        lanes |= _others_there(sm, g, pc)
    parted.tidy(sm, g)
    _run(warp, pc, lanes)


@rarely
def _move_on(sm: Sm, g: int) -> None:
    """Release lanes that miss nobody; else the lowest lane, of those in their barrier's mask if any, looks again."""
    _let_go(sm, g)
    if _ready(sm, g):
        return
    for barrier in range(BARRIERS):
        parted.mark(sm, g, barrier, sm.warps[g].convergence[barrier])
    place = parted.lowest(sm, g, MARKED)
    if place < 0:
        place = parted.lowest(sm, g, AT_BARRIER)
        if place < 0:
            return
        sm.warps[g].convergence[sm.parted[g, place].barrier] = 0
    sm.parted[g, place].pc -= 1
    sm.parted[g, place].state = READY
    for barrier in range(BARRIERS):
        parted.unmark(sm, g, barrier)
    parted.sink(sm, g, place)


@rule
def _topmost(sm: Sm, g: int) -> int:
    """Return the last group that is ready, else the first that has yielded; -1: neither."""
    ready, away = -1, -1
    for i in range(sm.warps[g].parted):
        if sm.parted[g, i].state in (READY, ALONE):
            ready = i
        elif sm.parted[g, i].state == YIELDED and away < 0:
            away = i
    return ready if ready >= 0 else away


@rule
def _others_there(sm: Sm, g: int, pc: int) -> int:
    """Take up the groups that are ready at a pc, or wait at the BSYNC there; return their lanes."""
    lanes = 0
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if (one.state == READY and one.pc == pc) or (one.state == AT_BARRIER and one.pc == pc + 1):
            lanes |= one.lanes
            one.lanes = 0
    return lanes
