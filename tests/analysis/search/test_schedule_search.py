from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, looping_kernels, programs

from gpusim.analysis.search.schedule_search import BROOD, climb, cycles, search
from gpusim.engines.walks.disjoint import disjoint
from gpusim.machine.machine import load
from isa.schedule.reorder import reordered
from isa.text.listing import read

LATE = """
.grid 14
.block 64
.buffer X f32 1792 = hash 1
.buffer Y f32 896
    S2R R0, TID.X
    S2R R9, CTAID.X
    IMAD R0, R9, 64, R0
    SHL R1, R0, 2
    IADD R2, R1, c[X]
    IADD R3, R1, c[Y]
    MOV R6, 8
    MOV R7, 0
loop:
    FADD R7, R7, 1.0
    FADD R7, R7, 1.0
    FADD R7, R7, 1.0
    LDG R4, [R2]
    FADD R7, R7, R4
    IADD R6, R6, -1
    ISETP.GT P0, R6, 0
    @P0 BRA loop
    STG [R3], R7
    EXIT
"""


def least_of(cost):
    """Return a judge by a function of one order."""
    return lambda orders: [cost(order) for order in orders]


@settings(REPEATABLE, max_examples=draws(30))
@given(program=programs(), seed=st.integers(0, 9), weights=st.lists(st.integers(0, 9), min_size=12, max_size=12))
def test_the_search_never_returns_worse(program, seed, weights):
    """For any costs, the best order costs no more than the program, has its judged cost, and the budget is kept."""

    def cost(order):
        return sum(weights[pc % 12] * place for place, pc in enumerate(order))

    found = climb(program, least_of(cost), budget=40, seed=seed)
    assert found.cycles == cost(found.order) <= found.given == cost(range(len(program)))
    assert found.judged <= 40
    assert sorted(found.order) == list(range(len(program)))
    assert [least for _, least in found.trail] == sorted({least for _, least in found.trail}, reverse=True)
    assert found.trail[-1][1] == found.cycles


@settings(REPEATABLE, max_examples=draws(20))
@given(kernel=kernels(), seed=st.integers(0, 9))
def test_every_order_that_is_judged_computes_the_same(kernel, seed):
    """Memory is the same to the last bit after each order of a search."""
    wanted, same = interpret(kernel).memory, []

    def judge(orders):
        found = [interpret(replace(kernel, program=reordered(kernel.program, order))).memory for order in orders]
        same.extend(np.array_equal(memory, wanted) for memory in found)
        return [len(same)] * len(orders)

    climb(kernel.program, judge, budget=2 * BROOD, seed=seed)
    assert same
    assert all(same)


@settings(REPEATABLE, max_examples=draws(10))
@given(kernel=looping_kernels(), seed=st.integers(0, 9))
def test_the_same_seed_finds_the_same_order(kernel, seed):
    """And another one draws others."""

    def run(seed):
        drawn = []
        climb(kernel.program, lambda orders: drawn.extend(orders) or [1] * len(orders), budget=60, seed=seed)
        return drawn

    assert run(seed) == run(seed)
    assert run(seed) != run(seed + 1)


def test_starts_come_first_and_the_best_is_kept():
    """The search finds a start that no order beats; with a budget of one it judges only the program's own order."""
    program = read(LATE).program
    own = tuple(range(len(program)))
    start = (0, 1, 2, 3, 4, 5, 7, 6, *own[8:])
    judge = least_of(lambda order: order != start)
    assert climb(program, judge, budget=20, starts=[start]).order == start
    assert climb(program, judge, budget=1, starts=[start]).order == own


@pytest.mark.jit
def test_the_simulator_as_judge_finds_the_load_that_comes_too_late():
    """A load after independent arithmetic moves up; the cycles are those of a simulation."""
    kernel, machine = read(LATE), load("gtx580")
    found = search(kernel, machine, budget=60, disjoint=disjoint(kernel, [0]))
    order = [kernel.program.instructions[pc].row.mnemonic for pc in found.order]
    assert found.cycles < found.given == cycles(kernel, machine, tuple(range(len(kernel.program))))
    assert found.cycles == cycles(kernel, machine, found.order)
    assert order.index("LDG") < 11 - 1


@pytest.mark.long
@pytest.mark.jit
def test_processes_change_nothing():
    """Two processes find what one finds, order by order, with the same progress."""
    kernel, machine, reported = read(LATE), load("gtx580"), []
    one, two = (
        search(kernel, machine, budget=20, seed=3, workers=n, tell=lambda *t: reported.append(t)) for n in (1, 2)
    )
    assert one == two
    assert reported[: len(reported) // 2] == reported[len(reported) // 2 :]
    assert reported[-1][:2] == (20, 20)
