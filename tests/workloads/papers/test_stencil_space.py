from dataclasses import astuple, dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.papers.kurzak.stencil_space import AXES, FERMI, stencil_space
from workloads.papers.kurzak.stencil_tuning import PUBLISHED
from workloads.space import as_points, prune, published_for, survives

STAGES = ("threads", "warps", "tiling", "registers", "shared memory", "occupancy", "loads per FMA", "blocks per SM")
SIDE = 4


@dataclass(frozen=True)
class Few:
    """Limits of an SM small enough for every point to be checked."""

    warp_size: int
    threads_per_block: int
    blocks: int
    warps: int
    threads: int
    registers: int
    shared_bytes: int
    registers_per_thread: int = 63


FEW = st.builds(
    Few,
    warp_size=st.integers(1, 3),
    threads_per_block=st.integers(4, 16),
    blocks=st.integers(2, 8),
    warps=st.integers(4, 16),
    threads=st.integers(4, 32),
    registers=st.integers(128, 1024),
    shared_bytes=st.integers(256, 2048),
)
SHARES = st.fractions(Fraction(1, 8), Fraction(3, 4), max_denominator=8)
LAYOUT = st.sampled_from(("nn", "nt", "tn", "tt"))
LOADS = st.fractions(Fraction(1, 2), 4, max_denominator=8)


def passes(point, limits, precision, occupancy, loads, blocks, layout):
    """Tell stage by stage whether one point passes, in scalars, by the stages of the slides."""
    m, n, k, x, y, xa, ya, xb, yb = point
    words, numbers = {"s": (1, 1), "d": (2, 1), "c": (2, 2), "z": (4, 2)}[precision]
    threads = x * y
    yield "threads", threads == xa * ya == xb * yb <= limits.threads_per_block
    yield "warps", threads % limits.warp_size == 0
    of_a, of_b = (m, k) if layout[0] == "n" else (k, m), (k, n) if layout[1] == "n" else (n, k)
    yield "tiling", m % x == n % y == of_a[0] % xa == of_a[1] % ya == of_b[0] % xb == of_b[1] % yb == 0
    rows, columns = m // x, n // y
    registers = words * (rows * columns + rows + columns + m * k // threads + k * n // threads)
    yield "registers", registers * threads <= limits.registers
    shared = 4 * words * (k * (m + 1) + n * (k + 1))
    yield "shared memory", shared <= limits.shared_bytes
    resident = 0
    while (
        (resident + 1) * registers * threads <= limits.registers
        and (resident + 1) * shared <= limits.shared_bytes
        and (resident + 1) * threads // limits.warp_size <= limits.warps
        and resident + 1 <= limits.blocks
    ):
        resident += 1
    yield "occupancy", Fraction(resident * threads, limits.threads) >= occupancy
    yield "loads per FMA", Fraction(numbers * (rows + columns), rows * columns) <= loads
    yield "blocks per SM", resident >= blocks


def failing(*asked):
    """Return the first stage that a point does not pass, None if it passes all."""
    return next((name for name, passed in passes(*asked) if not passed), None)


@settings(max_examples=draws(12), deadline=None)
@given(FEW, st.sampled_from("sdcz"), SHARES, LOADS, st.integers(0, 3), LAYOUT, st.integers(2, SIDE))
def test_counts_and_points_are_those_of_asking_every_point(limits, precision, occupancy, loads, blocks, layout, side):
    """Stage by stage as many points are left as pass when each is asked alone, and the same ones in the end."""
    space = stencil_space(precision, occupancy, loads, blocks, side, layout)
    every = list(product(range(1, side + 1), repeat=9))
    failed = [failing(point, limits, precision, occupancy, loads, blocks, layout) for point in every]
    pruned = prune(space, limits)
    left = [len(every)]
    for stage in STAGES:
        left.append(left[-1] - failed.count(stage))
    assert [stage.name for stage in pruned.stages] == ["points", *STAGES]
    assert [stage.left for stage in pruned.stages] == left
    assert pruned.points.tolist() == [list(point) for point, stage in zip(every, failed, strict=True) if stage is None]


def test_zgemm_on_fermi_has_the_counts_of_the_rule():
    """On the C2050 the rule leaves 103,828, 435 and 60 points, where the slides say 99,519, 492 and 211."""
    space, limits = stencil_space("z"), load("c2050").limits
    pruned = prune(space, limits)
    left = {stage.name: stage.left for stage in pruned.stages}
    assert left["points"] == 256**9
    assert (left["shared memory"], left["occupancy"], left["blocks per SM"]) == (103_828, 435, 60)
    assert published_for(space, limits) == {"shared memory": 99_519, "occupancy": 492, "blocks per SM": 211}
    assert len(pruned.points) == 60


@pytest.mark.parametrize("precision", few(PUBLISHED, 2))
def test_the_published_winner_survives(precision):
    """The point that MAGMA runs on Fermi is among those left, in every precision; zgemm's is 24 by 16 by 8."""
    space = stencil_space(precision)
    assert survives(space, space.winner, prune(space, load("c2050").limits).points)
    if precision == "z":
        assert space.tile(space.winner) == (24, 16, 8)


@pytest.mark.long
@pytest.mark.parametrize("layout", few(["nt", "tn", "tt", "cc"], 2))
def test_every_layout_has_as_many_points_and_its_winner(layout):
    """Each layout leaves as many points at each stage as nn does, and its own published point is among them."""
    space, limits = stencil_space("z", layout=layout), load("c2050").limits
    pruned = prune(space, limits)
    assert [stage.left for stage in pruned.stages] == [stage.left for stage in prune(stencil_space("z"), limits).stages]
    assert survives(space, space.winner, pruned.points)


def test_the_published_counts_are_for_zgemm_on_fermi_only():
    """Other limits have no published counts, and neither have other precisions."""
    assert published_for(stencil_space("z"), load("gt200").limits) == {}
    assert published_for(stencil_space("d"), load("c2050").limits) == {}
    assert all(getattr(load("gtx580").limits, name) == value for name, value in FERMI.items())


def test_an_earlier_stage_keeps_its_own_points():
    """Stopped after the stage of occupancy, 435 points are left, and the points left in the end are among them."""
    space, limits = stencil_space("z"), load("c2050").limits
    early, late = prune(space, limits, "occupancy"), prune(space, limits)
    assert len(early.points) == early.stages[-1].left == 435
    assert set(map(tuple, late.points.tolist())) < set(map(tuple, early.points.tolist()))


def test_parameters_are_the_points_numbers():
    """The kernel's parameters are the point's nine numbers, the precision and the layout."""
    space = stencil_space("z")
    (point,) = as_points(space, np.array([astuple(PUBLISHED["z"]["nn"])]))
    assert space.parameters(point) == {"precision": "z", "layout": "nn"} | {
        axis: str(space.winner[axis]) for axis in AXES
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"precision": "x"}, "xgemm: precision=x is not allowed; give one of s, d, c, z"),
        ({"precision": "d", "layout": "nc"}, "dgemm: layout=nc is not allowed; give one of nn, nt, tn, tt"),
        ({"precision": "z", "side": 0}, "zgemm: side=0 is too small; give 1 or more"),
        ({"precision": "z", "blocks": -1}, "zgemm: blocks=-1 is too small; give 0 or more"),
    ],
)
def test_bad_values_are_refused(arguments, line):
    """An unknown precision or layout, and numbers out of range, are refused in one line."""
    with pytest.raises(UserError) as refused:
        stencil_space(**arguments)
    assert str(refused.value) == line
