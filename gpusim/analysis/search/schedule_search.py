"""A search for fast orders of a program by simulation.

The static scheduler follows one warp alone; here the cost of an order is the simulated time of the launch, with all
warps, queues and pipes. The best few orders so far are the parents of the next ones. Each child differs from its parent
by one or more moves that keep every dependence (isa.schedule.reorder); copies of an instruction from unrolling often
move together. Of equally good orders the newer one stays, so that the search crosses plateaus. The number of processes
changes nothing: the same seed finds the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import Machine
from gpusim.support.parallel.processes import cores, processes
from isa.kernel import Kernel
from isa.program import Program
from isa.row import LOAD_UNITS, Unit
from isa.schedule.reorder import Disjoint, Region, places, put, regions, reordered

PARENTS = 4
BROOD = 16  # orders drawn before the next simulations
NEAR, FAR = 4, 16  # places that a move covers
TRIES = 100  # to find a new order, or a move that changes something
ALONE = 8  # orders up to which starting processes would take longer
Order = tuple[int, ...]  # old pcs
Judge = Callable[[Sequence[Order]], list[int]]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """The best order, its cycles and those of the program as given, and how many orders have been judged.

    `trail` has, for each improvement, the orders judged so far and the least cycles.
    """

    order: Order
    cycles: int
    given: int
    judged: int
    trail: tuple[tuple[int, int], ...]


def search(
    kernel: Kernel,
    machine: Machine,
    *,
    budget: int,
    seed: int = 0,
    starts: Sequence[Order] = (),
    disjoint: Disjoint = (),
    workers: int | None = None,
    tell: Progress | None = None,
) -> Found:
    """Simulate up to `budget` orders of a kernel's program and return the best; never one worse than the program's own.

    `starts` are tried first; accesses of the pairs `disjoint` may pass each other. Orders are simulated in as many
    processes as there are cores, or `workers`. `tell(judged, budget, best so far)` is called now and then. Raises what
    `run_sm` raises for the kernel as given.
    """
    with _judge(kernel, machine, budget, workers) as judge:
        return climb(kernel.program, judge, budget=budget, seed=seed, starts=starts, disjoint=disjoint, tell=tell)


def climb(
    program: Program,
    judge: Judge,
    *,
    budget: int,
    seed: int = 0,
    starts: Sequence[Order] = (),
    disjoint: Disjoint = (),
    tell: Progress | None = None,
) -> Found:
    """Return the best of up to `budget` orders; `judge` returns the costs of several orders."""
    given = tuple(range(len(program)))
    pool, draw = _Pool([], {}, []), Random(seed)
    moves = _Moves(tuple(regions(program, disjoint)), draw)
    brood = list(dict.fromkeys([given, *starts]))[:budget]
    while brood:
        pool.take(brood, judge(brood))
        if tell:
            tell(len(pool.costs), budget, f"best {pool.best[0]:,} cycles of {pool.costs[given]:,}")
        brood = _brood(pool, moves, budget - len(pool.costs))
    least = min(pool.costs.values())
    order = given if pool.costs[given] == least else pool.best[2]
    return Found(order, least, pool.costs[given], len(pool.costs), tuple(pool.trail))


@dataclass(slots=True)
class _Pool:
    """The parents, best first, as (cost, minus its number, order); the cost of each order; and each improvement."""

    parents: list[tuple[int, int, Order]]
    costs: dict[Order, int]
    trail: list[tuple[int, int]]

    @property
    def best(self) -> tuple[int, int, Order]:
        return self.parents[0]

    def take(self, orders: Sequence[Order], costs: Sequence[int]) -> None:
        """Add judged orders and keep the best."""
        for order, cost in zip(orders, costs, strict=True):
            if cost < min(self.costs.values(), default=cost + 1):
                self.trail.append((len(self.costs) + 1, cost))
            self.parents.append((cost, -len(self.costs), order))
            self.costs[order] = cost
        self.parents = sorted(self.parents)[:PARENTS]


@dataclass(frozen=True, slots=True)
class _Moves:
    """The regions in which instructions may move, and the random generator."""

    regions: tuple[Region, ...]
    draw: Random

    def moved(self, order: Order) -> Order:
        """Return the order after one move, or with falling probability after more."""
        order = self._once(order)
        while self.draw.random() < 0.5:
            order = self._once(order)
        return order

    def _once(self, order: Order) -> Order:
        """Move an instruction of a region, mostly of a loop, or all those like it; half the time an access."""
        for _ in range(TRIES if self.regions else 0):
            (region,) = self.draw.choices(self.regions, [len(r.code) * (9 * r.repeats + 1) for r in self.regions])
            before = [pc - region.first for pc in order[region.first : region.first + len(region.code)]]
            index = self.draw.choice(_accesses(region) if self.draw.random() < 0.5 else before)
            after = (
                self._shifted(region, before, index) if self.draw.random() < 0.5 else self._put(region, before, index)
            )
            if after != before:
                end = region.first + len(after)
                return (*order[: region.first], *(region.first + i for i in after), *order[end:])
        return order

    def _put(self, region: Region, order: list[int], index: int) -> list[int]:
        """Move an instruction to another place: any, or one nearby."""
        here, may = order.index(index), places(region, order, index)
        near = [place for place in may if 0 < abs(place - here) <= NEAR]
        other = [place for place in may if place != here]
        return (
            put(order, index, self.draw.choice(near if self.draw.random() < 0.5 and near else other))
            if other
            else order
        )

    def _shifted(self, region: Region, order: list[int], index: int) -> list[int]:
        """Shift all instructions like this one, such as an unrolled loop's copies, each as far as it may go."""
        shift = self.draw.choice([*range(-FAR, 0), *range(1, FAR + 1)])
        for each in _alike(region, index):
            may, place = places(region, order, each), order.index(each) + shift
            order = put(order, each, min(max(place, may.start), may.stop - 1))
        return order


def _alike(region: Region, index: int) -> list[int]:
    """Return the instructions of a region with the mnemonic and the first operand of this one."""
    wanted = region.code[index]
    return [
        i for i, each in enumerate(region.code) if each.row is wanted.row and each.operands[:1] == wanted.operands[:1]
    ]


def _accesses(region: Region) -> list[int]:
    """Return memory accesses and barriers, or all instructions if there are none."""
    some = [i for i, each in enumerate(region.code) if each.row.unit in LOAD_UNITS | {Unit.BARRIER}]
    return some or list(range(len(region.code)))


def _brood(pool: _Pool, moves: _Moves, left: int) -> list[Order]:
    """Return new orders, from the parents in turn; none if no new order is found."""
    brood: dict[Order, None] = {}
    for n in range(TRIES):
        if len(brood) >= min(BROOD, left):
            break
        order = moves.moved(pool.parents[n % len(pool.parents)][2])
        if order not in pool.costs:
            brood[order] = None
    return list(brood)


@contextmanager
def _judge(kernel: Kernel, machine: Machine, budget: int, count: int | None) -> Iterator[Judge]:
    """Give the function that simulates orders, in several processes if that is faster."""
    count = count or cores()
    if count == 1 or budget <= ALONE:
        yield lambda orders: [cycles(kernel, machine, order) for order in orders]
        return
    with processes(min(count, BROOD), _prepare, kernel, machine) as pool:
        yield lambda orders: list(pool.map(_of_prepared, orders))


def cycles(kernel: Kernel, machine: Machine, order: Order) -> int:
    """Return the cycles that the SM with most work takes with the program in this order."""
    return run_sm(replace(kernel, program=reordered(kernel.program, order)), machine, feed=TRACE_DRIVEN).cycles


_prepared: dict[str, Any] = {}


def _prepare(kernel: Kernel, machine: Machine) -> None:
    _prepared["kernel"], _prepared["machine"] = kernel, machine


def _of_prepared(order: Order) -> int:
    return cycles(_prepared["kernel"], _prepared["machine"], order)
