"""Which dependency barrier tells of what: where six are not enough, those share one whom it costs least.

A *signal* is what a barrier tells of: that an instruction's result is written, or that its sources have been read. Who
waits for a barrier waits for all signals on it that are under way, for those too that it does not need. What that costs
is estimated for each two signals, at each instruction that needs one of them while the other may be under way: the
cycles that it waits longer than for its own, or those until somebody needs the other one anyhow if these are fewer;
ten times as many with each loop around it. What comes from far away, global memory above all, comes nobody knows when,
and shares with what is near, such as results of shared memory, last of all.

Each signal then takes the barrier that costs least, the dearest places first, and changes it as long as that saves a
cycle; the one that it disturbs most there may go elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from isa.control import BARRIERS
from isa.dataflow.loops import loops
from isa.program import Program
from isa.table import Unit

READ, WRITE = 0, 1
PER_LOOP = 10  # how often a loop turns is not in the program
FINE = 64  # parts of a cycle: sharing that should cost nothing still costs one, or
UNLIKE = 8  # these, if the two are not of the same kind and unit class, which take turns
APART = 1 << 64  # what it costs if one of two is far: more than all that a program can wait


@dataclass(frozen=True, slots=True)
class Signal:
    """What a barrier may tell of: that sources have been read, or a result is written, of the instruction at `pc`.

    `far`: it is a result of far away. `cycles`: from issue, an estimate.
    """

    pc: int
    kind: int
    unit: Unit
    far: bool
    cycles: int


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of a program, by their place in `all`, which is their bit in the masks; masks by pc.

    `needed`: whom the instruction must wait for if they are under way; `over`: who is over once it has issued, as it
    waited for them or for what comes later still.
    """

    all: Sequence[Signal]
    needed: Sequence[int]
    over: Sequence[int]
    given: Sequence[int]


def under_way(signals: Signals, after: Sequence[Sequence[int]]) -> list[int]:
    """Return by pc the mask of signals that may be under way before it, on some path, if nobody waits for more."""
    before = [0] * len(after)
    todo = list(range(len(after)))[::-1]
    while todo:
        pc = todo.pop()
        behind = before[pc] & ~signals.over[pc] | signals.given[pc]
        for target in after[pc]:
            if behind & ~before[target]:
                before[target] |= behind
                todo.append(target)
    return before


def waited_for(signals: Signals | _About, before: Sequence[int]) -> int:
    """Return the mask of signals for which some instruction must wait."""
    mask = 0
    for pc, pending in enumerate(before):
        mask |= pending & signals.needed[pc]
    return mask


def barriers(program: Program, signals: Signals, before: Sequence[int]) -> dict[int, int]:
    """Return for each signal that somebody waits for, by its bit's place, its barrier. `before`: as `under_way`."""
    about = _About(tuple(loops(program)), len(program), tuple(signals.all), tuple(signals.needed), tuple(before))
    return dict(_barriers(about))


class _About(NamedTuple):
    """What the choice is made from: the program's loops and length, its signals, whom each pc needs and may meet."""

    loops: tuple[frozenset[int], ...]
    length: int
    all: tuple[Signal, ...]
    needed: tuple[int, ...]
    before: tuple[int, ...]


@lru_cache(maxsize=8)
def _barriers(about: _About) -> Mapping[int, int]:
    """The same, kept for the next launches: few settings of a machine change it, and large programs take seconds."""
    told, weights = list(bits(waited_for(about, about.before))), _weights(about)
    shared = _Shared(_costs(about, weights), [[0] * BARRIERS for _ in about.all], {})
    for one in sorted(told, key=lambda one: (-weights[about.all[one].pc], one)):
        _put(shared, one, _least(shared.prices[one]))
    while sum(_moved(shared, one) for one in told):
        pass
    return _renumbered(shared.given)


def kept() -> int:
    """Return how often a choice was known from before."""
    return _barriers.cache_info().hits


def bits(mask: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _weights(about: _About) -> list[int]:
    """Return by pc how often it may execute, as one in another."""
    weights = [1] * about.length
    for body in about.loops:
        for pc in body:
            weights[pc] *= PER_LOOP
    return weights


def _costs(signals: _About, weights: Sequence[int]) -> list[dict[int, int]]:
    """Return by signal what sharing a barrier with each other one costs; nothing with those that it does not have."""
    costs: list[dict[int, int]] = [{} for _ in signals.all]
    told, ways, needed_at = waited_for(signals, signals.before), _ways(signals), _needed_at(signals)
    for pc, pending in enumerate(signals.before):
        needed = pending & signals.needed[pc]
        if not needed:
            continue
        others = [(other, _rest(signals, ways, other, pc)) for other in bits(pending & told & ~needed)]
        for one in bits(needed):
            of_one, own, signal = costs[one], _rest(signals, ways, one, pc), signals.all[one]
            for other, rest in others:
                cost = _apart(signal, signals.all[other])
                if rest > own:
                    cost += FINE * min(rest - own, _until(ways, pc, needed_at[other]))
                of_one[other] = costs[other][one] = of_one.get(other, 0) + weights[pc] * cost
    return costs


def _apart(one: Signal, other: Signal) -> int:
    """Return what it costs that two signals come when they do, and not when they should."""
    return APART if one.far != other.far else UNLIKE if (one.kind, one.unit) != (other.kind, other.unit) else 1


def _needed_at(signals: _About) -> list[list[int]]:
    """Return by signal where somebody waits for it."""
    places: list[list[int]] = [[] for _ in signals.all]
    for pc, pending in enumerate(signals.before):
        for one in bits(pending & signals.needed[pc]):
            places[one].append(pc)
    return places


@dataclass(frozen=True, slots=True)
class _Ways:
    """By pc the loops around it, the smallest first; and the length of the program."""

    loops: Sequence[Sequence[frozenset[int]]]
    length: int


def _ways(about: _About) -> _Ways:
    around: list[list[frozenset[int]]] = [[] for _ in range(about.length)]
    for body in sorted(about.loops, key=len):
        for pc in body:
            around[pc].append(body)
    return _Ways(around, about.length)


def _distance(ways: _Ways, start: int, end: int) -> int:
    """Return the instructions from one to another: straight on, or once around the smallest loop of both."""
    if end > start:
        return end - start
    return end - start + next((len(body) for body in ways.loops[start] if end in body), ways.length)


def _rest(signals: _About, ways: _Ways, one: int, pc: int) -> int:
    """Return the cycles that a signal still takes at an instruction, if one issues each cycle."""
    return max(0, signals.all[one].cycles - _distance(ways, signals.all[one].pc, pc))


def _until(ways: _Ways, pc: int, places: Sequence[int]) -> int:
    """Return the instructions until the first of some places, which are in order."""
    back = places[: bisect_right(places, pc)]
    straight = [places[len(back)] - pc] if len(back) < len(places) else []
    return min(straight + [_distance(ways, pc, place) for place in back if ways.loops[pc] or not straight])


@dataclass(frozen=True, slots=True)
class _Shared:
    """What sharing with each other signal costs, by signal; what each barrier would; and which one it has."""

    costs: Sequence[Mapping[int, int]]
    prices: Sequence[list[int]]
    given: dict[int, int]


def _put(shared: _Shared, one: int, barrier: int) -> None:
    """Give a signal a barrier, the one that it has no longer."""
    before = shared.given.get(one)
    for other, cost in shared.costs[one].items():
        shared.prices[other][barrier] += cost
        if before is not None:
            shared.prices[other][before] -= cost
    shared.given[one] = barrier


def _least(prices: Sequence[int]) -> int:
    return prices.index(min(prices))


def _moved(shared: _Shared, one: int) -> bool:
    """Move a signal, and the one that it disturbs most, if that saves a cycle; tells whether it does."""
    if shared.prices[one][shared.given[one]] < FINE:
        return False
    dearest = _dearest(shared, one)
    saved, moves = max((_tried(shared, one, at, dearest[at]) for at in range(BARRIERS)), key=itemgetter(0))
    if saved < FINE:
        return False
    for moving, barrier in moves.items():
        _put(shared, moving, barrier)
    return True


def _dearest(shared: _Shared, one: int) -> list[int | None]:
    """Return by barrier the signal that has it, and with which this one shares at the highest cost."""
    found: list[int | None] = [None] * BARRIERS
    most = [-1] * BARRIERS
    for other, cost in shared.costs[one].items():
        at = shared.given.get(other)
        if at is not None and cost > most[at]:
            found[at], most[at] = other, cost
    return found


def _tried(shared: _Shared, one: int, at: int, other: int | None) -> tuple[int, dict[int, int]]:
    """Return what moving a signal to a barrier saves, and the moves: that of the `other` it disturbs most is one."""
    now, costs = shared.given[one], shared.costs[one]
    saved = shared.prices[one][now] - shared.prices[one][at]
    if at == now or other is None:
        return saved, {one: at}
    prices = shared.prices[other].copy()
    prices[now] -= costs[other]
    prices[at] += costs[other]
    return saved + prices[at] - min(prices), {one: at, other: _least(prices)}


def _renumbered(given: Mapping[int, int]) -> dict[int, int]:
    """Return the barriers numbered in the order in which the program first gives them."""
    order = list(dict.fromkeys(given[one] for one in sorted(given)))
    return {one: order.index(barrier) for one, barrier in sorted(given.items())}
