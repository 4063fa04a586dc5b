"""Numbers of a record compared all at once."""

import numpy as np
import pytest

from gpusim.sm.jit.rule import NEVER, entry
from gpusim.sm.jit.vectors import held, later
from gpusim.sm.unit.capacities import OPERANDS, REUSE
from gpusim.sm.unit.stall import OWN

record_t = np.dtype([("odd", np.int64), ("times", np.int64, OWN), ("behind", np.int64)])

cache_t = np.dtype([("kept", np.int64, (OPERANDS, REUSE)), ("sought", np.int16, OPERANDS * REUSE)])


@entry
def _held(records, base):
    return held(records[0].kept, records[0].sought, base)


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


@pytest.mark.parametrize("base", [0, 1024, 127 * 1024])
def test_the_mask_has_the_places_that_hold_what_is_sought(base):
    """Compiled or not, bit i is set if and only if place i holds the number sought there plus the base; -1 never is."""
    records = np.zeros(1, cache_t).view(np.recarray)
    sought = [-1, 1, 2, 255, -1, 6, 7, 0, 9, 10, 11, 320]
    records[0].sought[:] = sought
    records[0].kept.reshape(-1)[:] = [
        0,
        base + 1,
        2 + 1024,
        base + 255,
        3,
        0,
        base + 7,
        1,
        base,
        10,
        base + 11,
        base + 320,
    ]
    expected = sum(1 << i for i, kept in enumerate(records[0].kept.reshape(-1)) if kept == base + sought[i])
    assert expected & 0b100001001010
    assert held(records[0].kept, records[0].sought, base) == expected
    assert _held(records, base) == expected
