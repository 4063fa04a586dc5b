"""Convergence: the groups of a warp whose lanes are independent, as from Volta on. One group runs, the others wait.

The running group is the warp's pc and lanes; `sm.parted` has the others, the last to wait on top. What they do is what
`isa.execute.convergence` says: who runs first after a branch, who meets at a convergence barrier, and who comes next.

Time: one group of a warp issues at a time, and the next one goes on where the last one waits, exits or gives way. All
groups of a warp share its dependency barriers, stall counts and place in the scheduler.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import count_bits, rarely, rule
from gpusim.rules import partners
from gpusim.state.fault import Fault
from gpusim.units.capacities import BARRIERS, LANES

ALL = (1 << LANES) - 1
READY, YIELDED, AT_WARPSYNC, AT_COLLECTIVE, IN_COLLECTIVE, AT_BARRIER, AT_EXCLUSIVE, ALONE = range(8)
STUCK = int(Fault.STUCK)


@rule
def begin(sm: Any, g: int) -> None:
    """All lanes of warp slot g that are threads run together, and no lane belongs to a barrier."""
    warp = sm.warps[g]
    warp.gone, warp.parted = ALL & ~warp.lanes[0], 0
    for barrier in range(BARRIERS):
        warp.convergence[barrier] = 0


@rarely
def branch(sm: Any, g: int, taken: int, target: int) -> None:
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
def scatter(sm: Any, g: int, here: int) -> None:
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
def expect(sm: Any, g: int, barrier: int, lanes: int) -> None:
    """BSSY: let a barrier expect these lanes, and no others."""
    sm.warps[g].convergence[barrier] = lanes


@rarely
def take_away(sm: Any, g: int, barrier: int, lanes: int) -> None:
    """BREAK: take lanes away from a barrier; who waits for nobody else any more becomes ready."""
    sm.warps[g].convergence[barrier] &= ~lanes
    _let_go(sm, g)


@rarely
def meet(sm: Any, g: int, barrier: int, lanes: int) -> None:
    """BSYNC: let lanes of the running group wait at a barrier; lanes that it does not have pass."""
    if sm.warps[g].convergence[barrier] & lanes == 0:
        return
    _wait(sm, g, AT_BARRIER, barrier, lanes, -1)
    if _is_complete(sm, g, barrier):
        _go_on(sm, g, barrier)
    _resume(sm, g)


@rarely
def gather(sm: Any, g: int, lanes: int, label: int) -> None:
    """WARPSYNC: let lanes of the running group wait for their `partners`; with a label, for a collective."""
    _wait(sm, g, AT_WARPSYNC if label < 0 else AT_COLLECTIVE, -1, lanes, label)
    _align(sm, g)
    _resume(sm, g)


@rarely
def part_by_mask(sm: Any, g: int, lanes: int) -> None:
    """WARPSYNC.EXCLUSIVE: let lanes of the running group wait for their `partners`, and go on with these only."""
    _wait(sm, g, AT_EXCLUSIVE, -1, lanes, -1)
    _align(sm, g)
    _resume(sm, g)


@rarely
def disperse(sm: Any, g: int) -> None:
    """ENDCOLLECTIVE: let the running group go on where each of its lanes came from."""
    warp = sm.warps[g]
    first = warp.parted
    for i in range(first):
        one = sm.parted[g, i]
        mine = one.lanes & warp.lanes[0]
        if one.state == IN_COLLECTIVE and mine:
            one.lanes &= ~mine
            _append(sm, g, READY, one.label, mine)
    warp.lanes[0] = 0
    _tidy(sm, g, first)
    _resume(sm, g)


@rarely
def give_way(sm: Any, g: int) -> None:
    """YIELD, NANOSLEEP: let other groups run before this one, as a whole, goes on."""
    _wait(sm, g, YIELDED, -1, sm.warps[g].lanes[0], -1)
    _let_go(sm, g)
    _resume(sm, g)


@rarely
def leave(sm: Any, g: int, lanes: int) -> None:
    """EXIT: lanes of the running group exit; no lane is left if the warp is done."""
    warp = sm.warps[g]
    warp.lanes[0] &= ~lanes
    warp.gone |= lanes
    for i in range(warp.parted):
        if sm.parted[g, i].state == IN_COLLECTIVE:
            sm.parted[g, i].lanes &= ~lanes
    _tidy(sm, g, warp.parted)
    _let_go(sm, g)
    _align(sm, g)
    _resume(sm, g)


@rule
def _run(warp: Any, pc: int, lanes: int) -> None:
    warp.pc, warp.lanes[0] = pc, lanes


@rule
def _append(sm: Any, g: int, state: int, pc: int, lanes: int) -> None:
    """Put a group on top."""
    one = sm.parted[g, sm.warps[g].parted]
    sm.warps[g].parted += 1
    one.pc, one.lanes, one.state, one.barrier, one.label, one.old = pc, lanes, state, -1, -1, 0


@rarely
def _remember(sm: Any, g: int, pc: int, lanes: int) -> None:
    """Put a group that has just parted on top; it is the one that is remembered."""
    for i in range(sm.warps[g].parted):
        sm.parted[g, i].old = 1
    _append(sm, g, READY, pc, lanes)


@rarely
def _wait(sm: Any, g: int, state: int, barrier: int, lanes: int, label: int) -> None:
    """Let lanes of the running group wait at the warp's pc."""
    warp = sm.warps[g]
    warp.lanes[0] &= ~lanes
    _append(sm, g, state, warp.pc, lanes)
    one = sm.parted[g, warp.parted - 1]
    one.barrier, one.label = barrier, label


@rule
def _together(sm: Any, lanes: int) -> int:
    """Return those of the lanes that go where the lowest of them goes."""
    found, place = 0, _place(sm, lanes)
    for lane in range(LANES):
        if lanes >> lane & 1 and sm.places[lane] == place:
            found |= 1 << lane
    return found


@rule
def _place(sm: Any, lanes: int) -> int:
    """Return where the lowest lane goes."""
    for lane in range(LANES):
        if lanes >> lane & 1:
            return int(sm.places[lane])
    return -1


@rule
def _common_place(sm: Any, lanes: int, here: int) -> int:
    """Return where lanes go if all go to one place, else `here`."""
    return int(_place(sm, lanes)) if _together(sm, lanes) == lanes else here


@rarely
def _is_complete(sm: Any, g: int, barrier: int) -> bool:
    """Tell whether a barrier misses nobody: its lanes wait there, have yielded or have exited."""
    warp = sm.warps[g]
    there = warp.gone
    for i in range(warp.parted):
        one = sm.parted[g, i]
        if one.state == YIELDED or (one.state == AT_BARRIER and one.barrier == barrier):
            there |= one.lanes
    return bool(warp.convergence[barrier] & ~there == 0)


@rarely
def _let_go(sm: Any, g: int) -> None:
    """Let those go on that wait at barriers which miss nobody any more."""
    for barrier in range(BARRIERS):
        waited_for = False
        for i in range(sm.warps[g].parted):
            one = sm.parted[g, i]
            waited_for |= bool(one.state == AT_BARRIER and one.barrier == barrier)
        if waited_for and _is_complete(sm, g, barrier):
            _go_on(sm, g, barrier)


@rarely
def _go_on(sm: Any, g: int, barrier: int) -> None:
    """Let groups that have met at a barrier go on; those at one place do so together, the last to come on top."""
    warp = sm.warps[g]
    mask, first = warp.convergence[barrier], warp.parted
    for i in range(first):
        one = sm.parted[g, i]
        if one.state == AT_BARRIER and one.barrier == barrier and one.lanes & mask:
            _append(sm, g, READY, one.pc, one.lanes)
            one.lanes = 0
    warp.convergence[barrier] = 0
    _tidy(sm, g, first)


@rarely
def _align(sm: Any, g: int) -> None:
    """Let those lanes go on that wait at a WARPSYNC, or for a collective, and miss nobody."""
    warp = sm.warps[g]
    first, waiting = warp.parted, partners.waiting(sm, g, AT_WARPSYNC)
    for i in range(first):
        one = sm.parted[g, i]
        free = partners.free(warp, one.lanes, waiting) if one.state == AT_WARPSYNC else 0
        if free:
            _append(sm, g, READY, one.pc, free)
            one.lanes &= ~free
    _tidy(sm, g, first)
    _go_on_by_mask(sm, g, AT_EXCLUSIVE)
    _go_on_by_mask(sm, g, AT_COLLECTIVE)


@rarely
def _go_on_by_mask(sm: Any, g: int, state: int) -> None:
    """Let those that miss nobody go on mask by mask, each apart.

    The lowest lane's part from the others; if they are the larger part, those of the next mask run first.
    """
    warp = sm.warps[g]
    first, waiting, parts = warp.parted, partners.waiting(sm, g, state), 0
    free = partners.free(warp, waiting, waiting)
    while free:
        mine = partners.alike(warp, free)
        free &= ~mine
        if free and count_bits(mine) > count_bits(free):
            _free_one_mask(sm, g, state, first, mine)
            mine = partners.alike(warp, free)
            free &= ~mine
        sm.places[parts] = mine
        parts += 1
    for part in range(parts - 1, -1, -1):
        _free_one_mask(sm, g, state, first, sm.places[part])
    if parts:
        _tidy(sm, g, warp.parted)


@rarely
def _free_one_mask(sm: Any, g: int, state: int, first: int, mine: int) -> None:
    """Let lanes go on; those of a collective together, where the last of them came to it, which notes where from."""
    warp, pc = sm.warps[g], -1
    for i in range(first):
        one = sm.parted[g, i]
        lanes = one.lanes & mine if one.state == state else 0
        if lanes:
            pc = one.pc
            one.lanes &= ~lanes
            _append(sm, g, IN_COLLECTIVE if state == AT_COLLECTIVE else ALONE, pc, lanes)
            sm.parted[g, warp.parted - 1].label = one.label
    if state == AT_COLLECTIVE:
        _append(sm, g, ALONE, pc, mine)


@rarely
def _tidy(sm: Any, g: int, first: int) -> None:
    """Join the groups from `first` on that are at one pc, in the place of the last; drop those without lanes."""
    warp = sm.warps[g]
    for i in range(first, warp.parted):
        for j in range(i + 1, warp.parted):
            if sm.parted[g, j].pc == sm.parted[g, i].pc:
                sm.parted[g, j].lanes |= sm.parted[g, i].lanes
                sm.parted[g, i].lanes = 0
    kept = 0
    for i in range(warp.parted):
        if sm.parted[g, i].lanes:
            if kept < i:
                _copy(sm.parted[g, kept], sm.parted[g, i])
            kept += 1
    warp.parted = kept


@rule
def _copy(to: Any, of: Any) -> None:
    to.pc, to.lanes, to.state, to.barrier, to.label, to.old = of.pc, of.lanes, of.state, of.barrier, of.label, of.old


@rarely
def _resume(sm: Any, g: int) -> None:
    """If no lane runs, let the topmost ready group run, else the first that has yielded; it is a fault if none can."""
    warp = sm.warps[g]
    if warp.lanes[0] or warp.parted == 0:
        return
    chosen = _topmost(sm, g)
    if chosen < 0:
        _give_up(sm, g)
        chosen = _topmost(sm, g)
    if chosen < 0:
        sm.fault.code, sm.fault.pc, sm.fault.warp = STUCK, warp.pc - 1, g
        return
    pc, along = sm.parted[g, chosen].pc, sm.parted[g, chosen].state == READY and sm.parted[g, chosen].old
    lanes = sm.parted[g, chosen].lanes
    sm.parted[g, chosen].lanes = 0
    if along:
        lanes |= _others_there(sm, g, pc)
    _tidy(sm, g, warp.parted)
    _run(warp, pc, lanes)


@rarely
def _give_up(sm: Any, g: int) -> None:
    """If all groups wait at BSYNCs, let the last one go on without the others."""
    warp = sm.warps[g]
    for i in range(warp.parted):
        if sm.parted[g, i].state != AT_BARRIER:
            return
    last = sm.parted[g, warp.parted - 1]
    last.state = READY
    take_away(sm, g, last.barrier, last.lanes)


@rule
def _topmost(sm: Any, g: int) -> int:
    """Return the last group that is ready, else the first that has yielded; -1: neither."""
    ready, away = -1, -1
    for i in range(sm.warps[g].parted):
        if sm.parted[g, i].state in (READY, ALONE):
            ready = i
        elif sm.parted[g, i].state == YIELDED and away < 0:
            away = i
    return ready if ready >= 0 else away


@rule
def _others_there(sm: Any, g: int, pc: int) -> int:
    """Take up the groups that are ready at a pc, or wait at the BSYNC there; return their lanes."""
    lanes = 0
    for i in range(sm.warps[g].parted):
        one = sm.parted[g, i]
        if (one.state == READY and one.pc == pc) or (one.state == AT_BARRIER and one.pc == pc + 1):
            lanes |= one.lanes
            one.lanes = 0
    return lanes
