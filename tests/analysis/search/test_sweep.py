from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.analysis.account.figures import figures
from gpusim.analysis.search.sweep import MOST, Axis, Subject, SweepPoint, key, points, row, shuffled
from gpusim.machine import machine as model
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.support.parallel.processes import as_done
from isa.errors import UserError
from workloads.catalog import make

SUBJECT = Subject(partial(make, "throughput"), model.read("gtx580"))
SHORT = {"length": "32", "iterations": "2"}
VALUES = st.lists(st.integers(0, 99).map(str), min_size=1, max_size=4, unique=True).map(tuple)
AXES = st.dictionaries(st.sampled_from(("chip.sms", "pipe.sp.lanes", "m", "n", "blocking")), VALUES).map(
    lambda named: [Axis("machine" if "." in name else "kernel", name, values) for name, values in named.items()]
)


@given(AXES)
def test_all_points_are_the_product_of_the_axes(axes):
    """Each choice of a value for each axis is a point, once, the last axis running fastest."""
    wanted = [
        dict(zip((axis.name for axis in axes), chosen, strict=True)) for chosen in product(*(a.values for a in axes))
    ]
    assert [dict(each.values) for each in points(axes)] == wanted
    for each in points(axes):
        assert all("." in name for name in each.settings)
        assert not any("." in name for name in each.parameters)


@given(AXES, st.integers(1, 40), st.integers())
def test_a_sample_is_drawn_from_the_product(axes, count, seed):
    """So many points, or all if there are no more, in the product's order, none twice, the same for the same seed."""
    every, some = points(axes), points(axes, count, seed)
    assert len(some) == min(count, len(every))
    assert [each for each in every if each in some] == some
    assert points(axes, count, seed) == some


def test_a_product_too_large_to_list_can_be_sampled():
    """10^12 points can be sampled but not listed; 10^21 points can be neither."""
    axes = [Axis("kernel", name, tuple(map(str, range(1000)))) for name in "abcd"]
    assert len(points(axes, 10)) == 10
    with pytest.raises(UserError, match="points are too many to list; take some with --draw N"):
        points(axes)
    with pytest.raises(UserError, match="points are too many to draw from; take fewer values"):
        points([Axis("kernel", str(name), axes[0].values) for name in range(7)], 10)
    assert MOST < 1000**4


@given(AXES, st.integers(1, 40), st.integers(0, 9))
def test_only_points_that_are_allowed_are_listed_or_drawn(axes, count, digit):
    """Of the points that a condition allows all are there, or so many; where none is left one line says so."""

    def allows(point):
        return str(digit) not in "".join(point.values.values())

    wanted = [each for each in points(axes) if allows(each)]
    if not wanted:
        with pytest.raises(UserError, match=r"none of .* points meets the conditions; take other values"):
            points(axes, allows=allows)
        return
    assert points(axes, allows=allows) == wanted
    some = points(axes, count, allows=allows)
    assert [each for each in wanted if each in some] == some
    assert len(some) == min(count, len(wanted))


@given(st.lists(st.integers(0, 50), unique=True))
def test_shuffling_loses_nothing(numbers):
    """The order differs, always in the same way; the points are the same."""
    some = [SweepPoint({}, {"n": str(number)}) for number in numbers]
    assert sorted(shuffled(some), key=key) == sorted(some, key=key)
    assert shuffled(some) == shuffled(some)


def test_points_are_the_same_whatever_the_order_of_their_values():
    """The key of a point does not depend on the order of its axes."""
    one, other = SweepPoint({"a.b": "1", "c.d": "2"}, {"m": "3"}), SweepPoint({"c.d": "2", "a.b": "1"}, {"m": "3"})
    assert key(one) == key(other)
    assert key(one) != key(SweepPoint({"a.b": "1", "c.d": "3"}, {"m": "3"}))


@pytest.mark.jit
def test_a_row_is_the_run_of_its_point():
    """A point's figures are those of the kernel with its parameters on the machine with its settings."""
    found = row(SweepPoint({"schedulers.count": "1"}, SHORT), SUBJECT)
    result = simulate(make("throughput", SHORT), load("gtx580", {"schedulers.count": "1"}), values=False)
    assert found.reason == ""
    assert found.figures == figures(result)


def test_a_point_that_can_not_run_has_its_reason():
    """A point that the kernel, the machine or both together refuse is a row with the reason, not an error."""
    assert row(SweepPoint({}, {"warps": "0"}), SUBJECT).reason.startswith("throughput: ")
    assert "lanes don't divide a warp" in row(SweepPoint({"pipe.sp.lanes": "7"}, SHORT), SUBJECT).reason
    assert "registers per thread" in row(SweepPoint({"limits.registers_per_thread": "5"}, SHORT), SUBJECT).reason


@pytest.mark.jit
def test_neither_order_nor_processes_matter():
    """Rows are the same to the last bit in reverse order and in two processes."""
    counts, warps = Axis("machine", "schedulers.count", ("1", "2")), Axis("kernel", "warps", ("1", "2", "4"))
    some = [SweepPoint(each.settings, SHORT | each.parameters) for each in points([counts, warps])]
    simulated = partial(row, subject=SUBJECT)
    forwards, backwards = list(map(simulated, some)), [simulated(each) for each in reversed(some)]
    assert forwards == backwards[::-1]
    assert sorted(as_done(simulated, some, 2), key=lambda each: key(each.point)) == sorted(
        forwards, key=lambda each: key(each.point)
    )


def test_a_sample_of_too_many_points_is_refused():
    """A sample of all of 10^12 points is refused before any is made."""
    axes = [Axis("machine", f"a.{i}", tuple(map(str, range(1000)))) for i in range(4)]
    with pytest.raises(UserError, match=r"--draw 1000000000000: more than 1,000,000 of 1,000,000,000,000 points"):
        points(axes, 10**12)
    assert len(points(axes, 3)) == 3
