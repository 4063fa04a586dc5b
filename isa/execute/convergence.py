"""The groups of a warp whose lanes are independent, as from Volta on: convergence barriers say who meets whom.

One group of lanes runs; the others wait, the last to wait on top. A mask is an integer, lane i its bit i.

* At a branch lanes part into groups. The smaller one runs first; of two alike, the one that does not branch. At an
  indirect branch, lanes that go where the lowest lane goes part from the others, who branch again.
* A convergence barrier is a mask of lanes: BSSY makes it those that run, BREAK takes lanes away. At BSYNC a group waits
  until each lane of the mask waits there too, has exited or has yielded; then all that wait go on together, and none
  are left.
* At WARPSYNC a lane waits until those of its mask wait at one as well, for it, or have exited. After WARPSYNC.EXCLUSIVE
  lanes with one mask go on together, and apart from those with another. WARPSYNC.COLLECTIVE does so too, also for lanes
  from several places, until ENDCOLLECTIVE. Behind it each goes to its label.
* A group that yields or sleeps lets others run, also those that wait at a BSYNC for nobody but lanes that have yielded.
* When a group waits or exits, the topmost that is ready runs; if there is none, the first that has yielded. If all wait
  at BSYNCs for each other, the last to wait goes on without the others, as if it broke out of the barrier.
* Only the last group that parted is remembered as such; an older one is found by its pc, with all lanes that are there.
  So lanes that wait at the same BSYNC for lanes of another call come along, and no longer wait.

Most of this was measured on an H200, by what lanes are active where (tests/isa/execute/test_convergence_measured.py).
Guesses are that a BSSY forgets whom the barrier had, and that the last to wait goes on (docs/units/convergence.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BARRIERS = 16
EVERY = (1 << 32) - 1
READY, YIELDED, AT_WARPSYNC, AT_COLLECTIVE, IN_COLLECTIVE, AT_BARRIER, AT_EXCLUSIVE, ALONE = range(8)


@dataclass(slots=True)
class Waiting:
    """Lanes that do not run, the pc at which they go on, and for what they wait; ALONE ones are ready, but join nobody.

    `barrier` is that of AT_BARRIER. `masks` are those of a WARPSYNC, lane by lane; `label` is where the lanes of a
    collective go on after it.
    """

    pc: int
    lanes: int
    state: int = READY
    barrier: int = -1
    masks: Sequence[int] = ()
    label: int = -1
    old: bool = False  # another group has parted since


@dataclass(slots=True)
class Groups:
    """The groups of a warp: the running one's pc and lanes, the others, who has exited, the barriers' masks."""

    pc: int
    lanes: int
    gone: int
    others: list[Waiting] = field(default_factory=list)
    barriers: list[int] = field(default_factory=lambda: [0] * BARRIERS)


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
    """Let a barrier expect these lanes, and no others: BSSY."""
    groups.barriers[barrier] = lanes


def take_away(groups: Groups, barrier: int, lanes: int) -> None:
    """Take lanes away from a barrier: BREAK. Those that wait for nobody else any more become ready."""
    groups.barriers[barrier] &= ~lanes
    _let_go(groups)


def meet(groups: Groups, barrier: int, lanes: int) -> None:
    """Let lanes of the running group wait at a barrier: BSYNC. Lanes that it does not have pass."""
    if not groups.barriers[barrier] & lanes:
        return
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_BARRIER, barrier))
    if _is_complete(groups, barrier):
        _go_on(groups, _at(groups, barrier), barrier)
    _resume(groups)


def gather(groups: Groups, lanes: int, masks: Sequence[int]) -> None:
    """Let lanes of the running group wait for those of their masks: WARPSYNC."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_WARPSYNC, masks=masks))
    _align(groups)
    _resume(groups)


def part_by_mask(groups: Groups, lanes: int, masks: Sequence[int]) -> None:
    """Let lanes of the running group wait for those of their masks, and go on with these only: WARPSYNC.EXCLUSIVE."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_EXCLUSIVE, masks=masks))
    _align(groups)
    _resume(groups)


def collect(groups: Groups, lanes: int, masks: Sequence[int], label: int) -> None:
    """Let lanes of the running group wait to execute a collective together; they go on at `label` after it."""
    _wait(groups, lanes, Waiting(groups.pc, lanes, AT_COLLECTIVE, masks=masks, label=label))
    _align(groups)
    _resume(groups)


def disperse(groups: Groups) -> None:
    """Let the running group, which executed a collective, go on where each lane came from: ENDCOLLECTIVE."""
    mine = [one for one in groups.others if one.state == IN_COLLECTIVE and one.lanes & groups.lanes]
    ready = [Waiting(one.label, one.lanes & groups.lanes) for one in mine]
    _take_away(groups, IN_COLLECTIVE, groups.lanes)
    groups.lanes = 0
    _become_ready(groups, ready, ())
    _resume(groups)


def give_way(groups: Groups) -> None:
    """Let other groups run before this one, as a whole, goes on: YIELD, NANOSLEEP."""
    _wait(groups, groups.lanes, Waiting(groups.pc, groups.lanes, YIELDED))
    _let_go(groups)
    _resume(groups)


def leave(groups: Groups, lanes: int) -> None:
    """Let lanes of the running group exit; none are left if the warp is done."""
    groups.lanes &= ~lanes
    groups.gone |= lanes
    _take_away(groups, IN_COLLECTIVE, lanes)
    _let_go(groups)
    _align(groups)
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


def _at(groups: Groups, barrier: int) -> list[Waiting]:
    """Return the groups that wait at a barrier and belong to it."""
    mask = groups.barriers[barrier]
    return [one for one in groups.others if one.state == AT_BARRIER and one.barrier == barrier and one.lanes & mask]


def _is_complete(groups: Groups, barrier: int) -> bool:
    """Tell whether a barrier misses nobody."""
    there = sum(one.lanes for one in groups.others if one.state == AT_BARRIER and one.barrier == barrier)
    away = sum(one.lanes for one in groups.others if one.state == YIELDED)
    return not groups.barriers[barrier] & ~(there | away | groups.gone)


def _let_go(groups: Groups) -> None:
    """Let those go on that wait at barriers which miss nobody any more."""
    for barrier in sorted({one.barrier for one in groups.others if one.state == AT_BARRIER}):
        if _is_complete(groups, barrier):
            _go_on(groups, _at(groups, barrier), barrier)


def _go_on(groups: Groups, met: Sequence[Waiting], barrier: int) -> None:
    """Let groups that have met at a barrier go on; those at one place do so together, the last to come on top."""
    groups.barriers[barrier] = 0
    _become_ready(groups, [Waiting(one.pc, one.lanes) for one in met], met)


def _align(groups: Groups) -> None:
    """Let those lanes go on that wait at a WARPSYNC, or for a collective, and miss nobody."""
    for state in (AT_WARPSYNC, AT_EXCLUSIVE, AT_COLLECTIVE):
        there = [one for one in groups.others if one.state == state]
        masks = {lane: one.masks[lane] for one in there for lane in lanes_of(one.lanes)}
        free = [(one, _free(one, masks, groups.gone)) for one in there]
        done = [(one, lanes) for one, lanes in free if lanes]
        if done and state == AT_WARPSYNC:
            _become_ready(groups, [Waiting(one.pc, lanes) for one, lanes in done], _without(done))
        for mask in _masks(done):
            mine = [(one, found) for one, lanes in done if (found := _with_mask(one, lanes, mask))]
            if state == AT_EXCLUSIVE:
                groups.others += [Waiting(one.pc, lanes, ALONE) for one, lanes in mine]
            elif state == AT_COLLECTIVE:
                _execute_together(groups, mine)
        if done and state != AT_WARPSYNC:
            _remove(groups, _without(done))


def _masks(done: Sequence[tuple[Waiting, int]]) -> list[int]:
    """Return the masks of lanes that go on, the last to run first.

    The lowest lane's part from the others; if they are the larger part, those of the next mask run first.
    """
    of_lanes = {lane: one.masks[lane] for one, lanes in done for lane in lanes_of(lanes)}
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
    return sum(1 << lane for lane in lanes_of(lanes) if one.masks[lane] == mask)


def _execute_together(groups: Groups, mine: Sequence[tuple[Waiting, int]]) -> None:
    """Let lanes of one mask execute a collective where the last of them came to it; note where they go on."""
    parts = [Waiting(one.pc, lanes, IN_COLLECTIVE, label=one.label) for one, lanes in mine]
    groups.others += [*parts, Waiting(parts[-1].pc, sum(one.lanes for one in parts), ALONE)]


def _free(one: Waiting, masks: Mapping[int, int], gone: int) -> int:
    """Return the lanes of a group all of whose partners wait for them, too, or have exited; `masks` of who waits."""
    return sum(
        1 << lane
        for lane in lanes_of(one.lanes)
        if all(masks.get(other, 0) >> lane & 1 for other in lanes_of(one.masks[lane] & ~gone))
    )


def _without(done: Sequence[tuple[Waiting, int]]) -> list[Waiting]:
    """Take away the lanes that go on; return the groups of which none are left."""
    for one, lanes in done:
        one.lanes &= ~lanes
    return [one for one, _ in done if not one.lanes]


def _become_ready(groups: Groups, ready: Sequence[Waiting], instead_of: Sequence[Waiting]) -> None:
    """Put ready groups on top in the place of others; those at one pc are one group, where the last of them is."""
    _remove(groups, instead_of)
    together = dict[int, int]()
    for one in ready:
        together[one.pc] = together.pop(one.pc, 0) | one.lanes
    groups.others += [Waiting(pc, lanes) for pc, lanes in together.items()]


def _remove(groups: Groups, gone: Sequence[Waiting]) -> None:
    groups.others = [one for one in groups.others if not any(one is other for other in gone)]


def _resume(groups: Groups) -> None:
    """If no lane runs, let the topmost ready group run, else the first that has yielded; StuckError if none can."""
    if groups.lanes or not groups.others:
        return
    if all(one.state not in (READY, ALONE, YIELDED) for one in groups.others):
        _give_up(groups)
    ready = [one for one in groups.others if one.state in (READY, ALONE)]
    chosen = ready[-1] if ready else next(one for one in groups.others if one.state == YIELDED)
    looks = chosen.state == READY and chosen.old  # who else is there
    along = [one for one in groups.others if one is chosen or (looks and _is_there(one, chosen.pc))]
    _remove(groups, along)
    groups.pc, groups.lanes = chosen.pc, sum(one.lanes for one in along)


def _give_up(groups: Groups) -> None:
    """If all wait at BSYNCs, let the last group go on without the others; StuckError if one waits at a WARPSYNC."""
    last = groups.others[-1]
    if any(one.state != AT_BARRIER for one in groups.others):
        raise StuckError
    last.state = READY
    take_away(groups, last.barrier, last.lanes)


def _is_there(one: Waiting, pc: int) -> bool:
    """Tell whether a group is at a pc: ready, or waiting at the BSYNC there."""
    return (one.state == READY and one.pc == pc) or (one.state == AT_BARRIER and one.pc == pc + 1)


def lanes_of(mask: int) -> list[int]:
    """Return the lanes of a mask."""
    return [lane for lane in range(mask.bit_length()) if mask >> lane & 1]
