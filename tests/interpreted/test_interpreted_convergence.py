"""Convergence rule by rule: small programs go on as they did on an H200 (tests/measured/convergence.txt)."""

import numpy as np
import pytest
from convergence_programs import by_lane, in_order, kernel, measured

from isa.errors import DeadlockError

PROGRAMS = measured()
OTHER_ORDER = {"break_two"}  # the same lanes meet at the same places, but others go first
OTHER_MASKS = {"call_sync"}  # each lane comes to its places, but where it waits others come along


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_lanes_run_together_and_in_the_order_of_the_chip(name):
    """Each group comes to each place with the lanes, and in the order, of the H200; a hang there is a deadlock."""
    one = PROGRAMS[name]
    if not one.ends:
        with pytest.raises(DeadlockError):
            in_order(kernel(one))
    elif name in OTHER_ORDER:
        assert sorted(in_order(kernel(one))) == sorted(one.notes)
    elif name in OTHER_MASKS:
        assert np.array_equal(by_lane(in_order(kernel(one)))[:, 1], by_lane(one.notes)[:, 1])
    else:
        assert in_order(kernel(one)) == one.notes
