from fractions import Fraction

import pytest
from draws import few

from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from isa.errors import UserError
from workloads.catalog import make
from workloads.papers.lai.lai_program import ORDERS
from workloads.papers.lai.lai_space import lai_space
from workloads.space import arguments_at, as_points, prune, survives


@pytest.mark.long
def test_the_points_left_are_those_whose_kernels_fit():
    """A point in base order is left exactly if its kernel fits the registers and reaches an occupancy of one half."""
    space, where = lai_space(Fraction(1, 2)), load("gt200")
    kept = set(map(tuple, prune(space, where.limits).points.tolist()))
    every = as_points(space, prune(space, where.limits, "points").points)
    for point in few([each for each in every if ORDERS[each["order"]] == "base"], 30):
        kernel = make(space.kernel, arguments_at(space, point, (1, 1, 1), {}))
        try:
            fits = occupancy(kernel, where).blocks * kernel.threads * 2 >= where.limits.threads
        except UserError:
            fits = False
        assert (tuple(point.values()) in kept) == fits, point


def test_the_published_point_survives():
    """Blocking 6 with LDS.64, prefetch and interleaved loads is left on the GTX 580, blocking 7 is not."""
    space = lai_space()
    points = prune(space, load("gtx580").limits).points
    assert survives(space, space.winner, points)
    assert points[:, 0].max() == 6
