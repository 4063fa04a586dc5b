"""Successive halving: what a budget buys, which points go on, and how sure the winner is."""

import math
from fractions import Fraction

import pytest

from gpusim.analysis.search.code.halving import COSTS, LONG, SHORT, Compared, Plan, best, compared, missed, plan
from isa.errors import UserError


@pytest.mark.parametrize("points", [3, 8, 88, 200, 10_000])
def test_rounds_cost_no_more_than_the_budget(points):
    """For each budget that is taken rounds and full trials cost at most that, shrink, and grow with the budget."""
    before = 0
    for budget in range(1, points + 2, max(1, points // 50)):
        try:
            found = plan(points, budget)
        except UserError:
            assert before == 0, "a larger budget is refused"
            continue
        cost = found.full + sum((many * COSTS[length] for length, many in found.rounds), Fraction(0))
        assert cost <= max(budget, points if not found.rounds else 0)
        sizes = [*(many for _, many in found.rounds), found.full]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == points
        assert found.full >= before
        before = found.full
    assert before == points


def test_rounds_of_some_budgets():
    """A quarter of 200 points buys 12 full trials, 150 need one short round only, 200 none."""
    assert plan(200, 50) == Plan(((SHORT, 200), (LONG, 48)), 12)
    assert plan(200, 150) == Plan(((LONG, 200),), 100)
    assert plan(200, 200) == plan(200, 900) == Plan((), 200)


def test_a_budget_that_buys_no_full_trial_is_refused():
    """The error names the least budget, which is taken."""
    with pytest.raises(UserError, match="--budget 26: short trials of 200 points take most of it; give 27 or more"):
        plan(200, 26)
    assert plan(200, 27).full == 1


def test_the_best_go_on():
    """The shortest predicted times are kept, equals in their order, those without a prediction last."""
    predicted = {"a": None, "b": 2.0, "c": 1.0, "d": 2.0}
    assert best(predicted, 2) == ["c", "b"]
    assert best(predicted, 9) == ["c", "b", "d", "a"]


def test_errors_are_those_after_one_factor():
    """Times that are all a tenth too short have the factor and no error; noise is the standard deviation of logs."""
    exact = compared([(time, 1.1 * time) for time in (1.0, 2.0, 5.0, 9.0)])
    assert (exact.pairs, exact.factor, exact.percent) == (4, pytest.approx(1.1), pytest.approx(0, abs=0.11))
    noisy = compared([(1.0, math.exp(error)) for error in (-0.1, 0.0, 0.1)])
    assert (noisy.factor, noisy.error) == (pytest.approx(1.0), pytest.approx(0.1))
    assert compared([(1.0, 1.0), (2.0, 2.0)]) is None


def test_the_chance_of_a_miss_follows_from_error_and_margin():
    """A point predicted as fast as the fastest is faster with a half, one of two with 3/4, a slow one never."""
    by = Compared(pairs=10, factor=1.25, error=0.1)
    assert missed([(0.8, by)], 1.0) == pytest.approx(0.5)
    assert missed([(0.8, by), (0.8, by)], 1.0) == pytest.approx(0.75)
    assert missed([(1.6, by)], 1.0) < 1e-6
    assert missed([], 1.0) == 0
    few = Compared(pairs=3, factor=1.25, error=0.1)
    assert missed([(0.9, by)], 1.0) < missed([(0.9, few)], 1.0) < 0.5
