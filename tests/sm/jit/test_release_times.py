"""Release times compared all at once."""

import numpy as np
import pytest

from gpusim.sm.jit.release_times import later
from gpusim.sm.jit.rule import NEVER, entry
from gpusim.sm.unit.stall import OWN

record_t = np.dtype([("odd", np.int64), ("times", np.int64, OWN), ("behind", np.int64)])


@entry
def _later(records, when):
    return later(records[0].times, when)


@pytest.mark.parametrize("when", [-1, 0, 5, NEVER - 1, NEVER])
def test_the_mask_has_the_times_that_are_later_and_no_other(when):
    """Compiled or not, bit i is set if and only if time i is later; words around the times don't count."""
    records = np.full(1, NEVER, record_t).view(np.recarray)
    records[0].times[:] = [*range(OWN - 2), NEVER, NEVER + 1]
    expected = sum(1 << i for i, time in enumerate(records[0].times) if time > when)
    assert later(records[0].times, when) == expected
    assert _later(records, when) == expected
