"""The groups of a warp whose lanes are independent, as from Volta on: convergence barriers say who meets whom.

One group of lanes runs; the others wait, the last to wait on top. A mask is an integer, lane i its bit i.

* At a branch lanes part into groups. The smaller one runs first; of two alike, the one that does not branch. At an
  indirect branch, lanes that go where the lowest lane goes part from the others, who branch again.
* A convergence barrier is a mask of lanes: BSSY adds those that run, BREAK takes lanes away, BMOV replaces the mask. At
  BSYNC lanes of the mask wait while another of it is ready. Lanes that have exited, have yielded, or wait at a WARPSYNC
  or another BSYNC are not waited for. Those that wait at the same BSYNC go on with the last to come, and the mask is
  empty. Others of the mask come to their BSYNC once more, those at one BSYNC together.
* At WARPSYNC a lane waits until those of its mask wait at the same one, for it, or have exited. After
  WARPSYNC.EXCLUSIVE lanes with one mask go on together, and apart from those with another. WARPSYNC.COLLECTIVE does so
  too, also for lanes from several places, until ENDCOLLECTIVE. Behind it those go on that came last, the others at
  their labels.
* A group that yields or sleeps lets others run, also those that wait at a BSYNC.
* When a group waits or exits, the topmost that is ready runs. If there is none, those go on whose barrier misses
  nobody; else the lowest lane that waits at a BSYNC comes to it once more; else the first that has yielded runs.
* Only the last group that parted is remembered as such; an older one is found by its pc, with all lanes that are there.

All of this was measured on an H200, by what lanes are active where (test_interpreted_convergence.py and
test_convergence_measured.py in tests/interpreted; docs/units/convergence.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interpreter.lanes import warpsync
from interpreter.lanes.groups import (
    ALONE,
    AT_BARRIER,
    AT_COLLECTIVE,
    AT_EXCLUSIVE,
    AT_WARPSYNC,
    EVERY,
    IN_COLLECTIVE,
    READY,
    YIELDED,
    Groups,
    Waiting,
    joined,
    lanes_in,
    lanes_together,
    lowest,
    remove,
)


class StuckError(Exception):
    """All lanes of a warp wait for each other."""


def begin(lanes: int) -> Groups:
    """Return a warp at its start, with so many lanes in use."""
    return Groups(0, lanes, EVERY & ~lanes)


def branch(groups: Groups, taken: int, target: int) -> None:
    """Let the lanes `taken` of the running group go to the target; `groups.pc` is where the others go."""
    rest = groups.lanes & ~taken
    if not rest:
        groups.pc = target
    elif taken:
        _part(groups, Waiting(groups.pc, rest), Waiting(target, taken))


def scatter(groups: Groups, places: Mapping[int, int], here: int) -> None:
    """Let each lane of the running group go to its place; `places` have the lanes by pc, the lowest lane's first.

    At most three groups part at once: the lowest lane's, if that is the larger part the lowest of the others', and the
    rest, which branches again `here`.
    """
    (pc, lanes), *others = places.items()
    rest = sum(mask for _, mask in others)
    if not rest:
        groups.pc = pc
    elif lanes.bit_count() <= rest.bit_count():
        _remember(groups, Waiting(*_remaining(others, here)))
        groups.pc, groups.lanes = pc, lanes
    else:
        _remember(groups, Waiting(pc, lanes))
        (groups.pc, groups.lanes), *behind = others
        if behind:
            _remember(groups, Waiting(*_remaining(behind, here)))


def expect(groups: Groups, barrier: int, lanes: int) -> None:
    """Let a barrier expect these lanes too: BSSY."""
    groups.plain[barrier] = groups.barriers[barrier] == 0
    groups.barriers[barrier] |= lanes


def put(groups: Groups, barrier: int, lanes: int) -> None:
    """Let a barrier expect these lanes, and no others: BMOV. Nobody looks at once."""
    groups.plain[barrier] = False
    groups.barriers[barrier] = lanes


def take_away(groups: Groups, barrier: int, lanes: int) -> None:
    """Take lanes away from a barrier: BREAK. Those that wait for nobody else any more run before the others."""
    groups.barriers[barrier] &= ~lanes
    met = _inside(groups, barrier)
    expected = groups.barriers[barrier] & ~lanes_together(met)
    if met and not expected & (groups.lanes | lanes_in(groups, READY, ALONE, AT_BARRIER)):
        groups.barriers[barrier] = 0
        *later, first = _freed(groups, met)
        groups.others = [*later, *groups.others, Waiting(groups.pc, groups.lanes), first]
        groups.lanes = 0
        _resume(groups)


def meet(groups: Groups, barrier: int, lanes: int) -> None:
    """Let lanes of the running group wait at a barrier while one that it has is ready: BSYNC. Others pass."""
    mask = groups.barriers[barrier]
    if not mask & lanes:
        return
    if mask & ~lanes & (groups.lanes | lanes_in(groups, READY, ALONE)):
        _wait(groups, mask & lanes, Waiting(groups.pc, mask & lanes, AT_BARRIER, barrier))
    else:
        _go_on(groups, barrier)
    _resume(groups)


def gather(groups: Groups, lanes: int, masks: Sequence[int]) -> None:
    """Let lanes of the running group wait for those of their masks: WARPSYNC."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_WARPSYNC, masks=masks))
    warpsync.align(groups)
    _resume(groups)


def part_by_mask(groups: Groups, lanes: int, masks: Sequence[int]) -> None:
    """Let lanes of the running group wait for those of their masks, and go on with these only: WARPSYNC.EXCLUSIVE."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_EXCLUSIVE, masks=masks))
    warpsync.align(groups)
    _resume(groups)


def collect(groups: Groups, lanes: int, masks: Sequence[int], label: int) -> None:
    """Let lanes of the running group wait to execute a collective together; they go on at `label` after it."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_COLLECTIVE, masks=masks, label=label))
    warpsync.align(groups, arrived=lanes)
    _resume(groups)


def disperse(groups: Groups) -> None:
    """Let the running group, which executed a collective, go on where each lane came from: ENDCOLLECTIVE."""
    came = [replace(one, lanes=one.lanes & groups.lanes) for one in groups.others if one.state == IN_COLLECTIVE]
    came = joined([one for one in came if one.lanes])
    _take_away(groups, IN_COLLECTIVE, groups.lanes)
    groups.lanes &= ~lanes_together(came)
    groups.others += [Waiting(one.label, one.lanes) for one in sorted(came, key=lowest, reverse=True)]
    _resume(groups)


def give_way(groups: Groups) -> None:
    """Let other groups run before this one, as a whole, goes on: YIELD, NANOSLEEP."""
    _wait(groups, groups.lanes, Waiting(groups.pc, groups.lanes, YIELDED))
    _resume(groups)


def leave(groups: Groups, lanes: int) -> None:
    """Let lanes of the running group exit; none are left if the warp is done."""
    groups.lanes &= ~lanes
    groups.gone |= lanes
    _take_away(groups, IN_COLLECTIVE, lanes)
    _let_go(groups)
    warpsync.align(groups)
    _resume(groups)


def waiting_at(groups: Groups) -> list[tuple[int, int]]:
    """Return the pc and lanes of each group that waits."""
    return [(one.pc, one.lanes) for one in groups.others]


def _part(groups: Groups, first: Waiting, second: Waiting) -> None:
    """Run the smaller of two groups, the first if they are alike; the other is ready."""
    if second.lanes.bit_count() < first.lanes.bit_count():
        first, second = second, first
    _remember(groups, second)
    groups.pc, groups.lanes = first.pc, first.lanes


def _remember(groups: Groups, parted: Waiting) -> None:
    """Put a group that has just parted on top; it is the one that is remembered."""
    for one in groups.others:
        one.old = True
    groups.others.append(parted)


def _remaining(others: Sequence[tuple[int, int]], here: int) -> tuple[int, int]:
    """Return where several groups go on together, and their lanes."""
    return (others[0][0] if len(others) == 1 else here), sum(mask for _, mask in others)


def _wait(groups: Groups, lanes: int, waiting: Waiting) -> None:
    groups.lanes &= ~lanes
    groups.others.append(waiting)


def _take_away(groups: Groups, state: int, lanes: int) -> None:
    """Take lanes away from the groups in a state."""
    for one in groups.others:
        if one.state == state:
            one.lanes &= ~lanes
    groups.others = [one for one in groups.others if one.lanes]


def _inside(groups: Groups, barrier: int) -> list[Waiting]:
    """Return the groups that wait at a barrier which has them."""
    mask = groups.barriers[barrier]
    return [one for one in groups.others if one.state == AT_BARRIER and one.barrier == barrier and one.lanes & mask]


def _go_on(groups: Groups, barrier: int) -> None:
    """Let the running group go on with those that wait at the same BSYNC; others of the barrier's lanes look again."""
    mask = groups.barriers[barrier]
    groups.barriers[barrier] = 0
    met = [one for one in groups.others if one.state == AT_BARRIER and one.lanes & mask]
    here = [one for one in met if one.barrier == barrier and (groups.plain[barrier] or one.pc == groups.pc)]
    groups.lanes |= lanes_together(here)
    remove(groups, here)
    _look_again(groups, [one for one in met if not any(one is other for other in here)])


def _let_go(groups: Groups) -> None:
    """Let those go on, apart, that wait at barriers of which nobody else is ready, or waits elsewhere."""
    away = groups.gone | lanes_in(groups, YIELDED, AT_WARPSYNC, AT_EXCLUSIVE, AT_COLLECTIVE)
    done = list[Waiting]()
    for barrier, mask in enumerate(groups.barriers):
        met = _inside(groups, barrier)
        if met and not mask & ~(away | lanes_together(met)):
            groups.barriers[barrier] = 0
            done += met
    freed = _freed(groups, done)
    groups.others += freed


def _freed(groups: Groups, some: Sequence[Waiting]) -> list[Waiting]:
    """Take groups away; return them ready, those at one pc as one, the lowest lane's last."""
    remove(groups, some)
    return sorted(joined([Waiting(one.pc, one.lanes) for one in some]), key=lowest, reverse=True)


def _look_again(groups: Groups, some: Sequence[Waiting]) -> None:
    """Let groups that wait at BSYNCs come to them once more, together, when the others that are ready have run."""
    remove(groups, some)
    again = sorted(joined(some), key=lowest, reverse=True)
    groups.others[:0] = [replace(one, pc=one.pc - 1, state=READY) for one in again]


def _resume(groups: Groups) -> None:
    """If no lane runs, let the topmost ready group run, else the first that has yielded; StuckError if none can."""
    if groups.lanes or not groups.others:
        return
    if not lanes_in(groups, READY, ALONE):
        _move_on(groups)
    if not lanes_in(groups, READY, ALONE, YIELDED):
        raise StuckError
    ready = [one for one in groups.others if one.state in (READY, ALONE)]
    chosen = ready[-1] if ready else next(one for one in groups.others if one.state == YIELDED)
    looks = chosen.state == READY and chosen.old  # who else is there
    along = [one for one in groups.others if one is chosen or (looks and _is_there(one, chosen.pc))]
    remove(groups, along)
    groups.pc, groups.lanes = chosen.pc, sum(one.lanes for one in along)


def _move_on(groups: Groups) -> None:
    """Let those go on that miss nobody; else the lowest lane looks again, of those whose barrier has them if it can."""
    _let_go(groups)
    waiting = [one for one in groups.others if one.state == AT_BARRIER]
    if waiting and not lanes_in(groups, READY):
        inside = [one for one in waiting if one.lanes & groups.barriers[one.barrier]]
        first = min(inside or waiting, key=lowest)
        if not inside:
            groups.barriers[first.barrier] = 0
        _look_again(groups, [first])


def _is_there(one: Waiting, pc: int) -> bool:
    """Tell whether a group is at a pc: ready, or waiting at the BSYNC there."""
    return (one.state == READY and one.pc == pc) or (one.state == AT_BARRIER and one.pc == pc + 1)
