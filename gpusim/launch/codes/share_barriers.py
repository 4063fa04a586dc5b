"""Choose a dependency barrier for each signal; if six are not enough, the signals that lose least share one.

A *signal* is an event that a barrier announces: an instruction's result is written, or its sources have been read. An
instruction that waits for a barrier waits for all signals in flight on it, also for those that it does not need. The
cost of this is estimated for each pair of signals, at each instruction that needs one of them while the other may be in
flight: the cycles that it waits longer than for its own signal, or until some instruction needs the other signal anyway
if these are fewer, times ten for each enclosing loop. Far signals, above all from
global memory, come at an unknown time; they share with near ones, such as results of shared memory, only as a last
resort.

Each signal then takes the cheapest barrier, the most expensive signals first. It changes its barrier as long as that
saves a cycle; the signal that it disturbs most on the new barrier may move to another one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from isa.dataflow.forward import pending_before
from isa.dataflow.loops import loops
from isa.nvidia.control import BARRIERS
from isa.program import Program
from isa.row import Unit

READ, WRITE = 0, 1
PER_LOOP = 10  # the program does not say how many rounds a loop runs
FINE = 64  # parts of a cycle: even sharing that should cost nothing costs one part, or
UNLIKE = 8  # this many parts, if the two differ in kind or unit class, so that they finish in no fixed order
SEPARATE = 1 << 64  # cost if one of the two is far: more than a whole program can wait


@dataclass(frozen=True, slots=True)
class Signal:
    """An event that a barrier may announce: the instruction at `pc` has read its sources, or its result is written.

    `far`: it is a result from far away. `cycles`: from issue, an estimate.
    """

    pc: int
    kind: int
    unit: Unit
    far: bool
    cycles: int


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of a program; a signal's place in `all` is its bit in the masks, which are by pc.

    `needed`: the signals in flight for which the instruction must wait; `over`: the signals that are over once it has
    issued, because it waited for them or for a later one.
    """

    all: Sequence[Signal]
    needed: Sequence[int]
    over: Sequence[int]
    given: Sequence[int]


def under_way(signals: Signals, after: Sequence[Sequence[int]]) -> list[int]:
    """Return by pc the mask of signals that may be in flight before it on some path, without further waits."""
    return pending_before(after, signals.given, signals.over)


def waited_for(signals: Signals | _About, before: Sequence[int]) -> int:
    """Return the mask of signals for which some instruction must wait."""
    mask = 0
    for pc, pending in enumerate(before):
        mask |= pending & signals.needed[pc]
    return mask


def barriers(program: Program, signals: Signals, before: Sequence[int]) -> dict[int, int]:
    """Return the barrier of each signal for which some instruction waits, by its bit. `before`: as `under_way`."""
    about = _About(tuple(loops(program)), len(program), tuple(signals.all), tuple(signals.needed), tuple(before))
    return dict(_barriers(about))


class _About(NamedTuple):
    """The input of the choice: the program's loops and length, its signals, and those needed and in flight by pc."""

    loops: tuple[frozenset[int], ...]
    length: int
    all: tuple[Signal, ...]
    needed: tuple[int, ...]
    before: tuple[int, ...]


@lru_cache(maxsize=8)
def _barriers(about: _About) -> Mapping[int, int]:
    """Return the same, kept for later launches: few settings of a machine change it, and it may take seconds."""
    awaited, weights = list(bits(waited_for(about, about.before))), _weights(about)
    shared = _Shared(_costs(about, weights), [[0] * BARRIERS for _ in about.all], {})
    for one in sorted(awaited, key=lambda one: (-weights[about.all[one].pc], one)):
        _put(shared, one, _least(shared.prices[one]))
    while sum(_moved(shared, one) for one in awaited):
        pass
    return _renumbered(shared.given)


def kept() -> int:
    """Return how often a choice came from the cache."""
    return _barriers.cache_info().hits


def bits(mask: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _weights(about: _About) -> list[int]:
    """Return by pc how often it may execute, relative to the others."""
    weights = [1] * about.length
    for body in about.loops:
        for pc in body:
            weights[pc] *= PER_LOOP
    return weights


def _costs(signals: _About, weights: Sequence[int]) -> list[dict[int, int]]:
    """Return by signal the cost of sharing a barrier with each other signal; no entry where sharing is free."""
    costs: list[dict[int, int]] = [{} for _ in signals.all]
    awaited, ways, needed_at = waited_for(signals, signals.before), _ways(signals), _needed_at(signals)
    for pc, pending in enumerate(signals.before):
        needed = pending & signals.needed[pc]
        if not needed:
            continue
        others = [(other, _rest(signals, ways, other, pc)) for other in bits(pending & awaited & ~needed)]
        for one in bits(needed):
            of_one, own, signal = costs[one], _rest(signals, ways, one, pc), signals.all[one]
            for other, rest in others:
                cost = _separation(signal, signals.all[other])
                if rest > own:
                    cost += FINE * min(rest - own, _until(ways, pc, needed_at[other]))
                of_one[other] = costs[other][one] = of_one.get(other, 0) + weights[pc] * cost
    return costs


def _separation(one: Signal, other: Signal) -> int:
    """Return the part of the cost of sharing that depends only on the kinds of the two signals."""
    return SEPARATE if one.far != other.far else UNLIKE if (one.kind, one.unit) != (other.kind, other.unit) else 1


def _needed_at(signals: _About) -> list[list[int]]:
    """Return by signal the instructions that wait for it."""
    places: list[list[int]] = [[] for _ in signals.all]
    for pc, pending in enumerate(signals.before):
        for one in bits(pending & signals.needed[pc]):
            places[one].append(pc)
    return places


@dataclass(frozen=True, slots=True)
class _Ways:
    """By pc the loops around it, the smallest first, and the length of the program."""

    loops: Sequence[Sequence[frozenset[int]]]
    length: int


def _ways(about: _About) -> _Ways:
    around: list[list[frozenset[int]]] = [[] for _ in range(about.length)]
    for body in sorted(about.loops, key=len):
        for pc in body:
            around[pc].append(body)
    return _Ways(around, about.length)


def _distance(ways: _Ways, start: int, end: int) -> int:
    """Return the instructions from `start` to `end`: straight on, or once around the smallest loop of both."""
    if end > start:
        return end - start
    return end - start + next((len(body) for body in ways.loops[start] if end in body), ways.length)


def _rest(signals: _About, ways: _Ways, one: int, pc: int) -> int:
    """Return the cycles that a signal still takes at an instruction, if one instruction issues each cycle."""
    return max(0, signals.all[one].cycles - _distance(ways, signals.all[one].pc, pc))


def _until(ways: _Ways, pc: int, places: Sequence[int]) -> int:
    """Return the number of instructions until the first of some places, which are in order."""
    back = places[: bisect_right(places, pc)]
    straight = [places[len(back)] - pc] if len(back) < len(places) else []
    return min(straight + [_distance(ways, pc, place) for place in back if ways.loops[pc] or not straight])


@dataclass(frozen=True, slots=True)
class _Shared:
    """The costs of sharing: by signal with each other one, by signal on each barrier, and the barrier that it has."""

    costs: Sequence[Mapping[int, int]]
    prices: Sequence[list[int]]
    given: dict[int, int]


def _put(shared: _Shared, one: int, barrier: int) -> None:
    """Move a signal to a barrier, away from its present one."""
    before = shared.given.get(one)
    for other, cost in shared.costs[one].items():
        shared.prices[other][barrier] += cost
        if before is not None:
            shared.prices[other][before] -= cost
    shared.given[one] = barrier


def _least(prices: Sequence[int]) -> int:
    return prices.index(min(prices))


def _moved(shared: _Shared, one: int) -> bool:
    """Move a signal, and the signal that it disturbs most, if that saves a cycle; tell whether it does."""
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
    """Return by barrier the signal on it with which this signal shares at the highest cost."""
    found: list[int | None] = [None] * BARRIERS
    most = [-1] * BARRIERS
    for other, cost in shared.costs[one].items():
        at = shared.given.get(other)
        if at is not None and cost > most[at]:
            found[at], most[at] = other, cost
    return found


def _tried(shared: _Shared, one: int, at: int, other: int | None) -> tuple[int, dict[int, int]]:
    """Return what moving a signal to a barrier saves, and the moves, including that of the `other` it disturbs most."""
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
