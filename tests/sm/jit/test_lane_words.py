"""Words of all lanes moved as a whole."""

import numba
import numpy as np
import pytest

from gpusim.sm.jit import lane_words
from gpusim.sm.jit.rule import entry
from gpusim.sm.unit.capacities import LANES

ROWS = 3
MASKS = (0, 1, 1 << 31, (1 << LANES) - 1, 0x5555_AAAA, 0x8000_0001)
record_t = np.dtype([("odd", np.uint32), ("registers", np.uint32, (ROWS, LANES)), ("d", np.uint32, LANES)])


@entry
def _copy(records, row):
    lane_words.copy(records[0].d, records[0].registers, row)


@entry
def _put(records, row, active):
    lane_words.put(records[0].registers, row, records[0].d, active)


@entry
def _exchange(records, row):
    lane_words.exchange(records[0].registers, row, records[0].d)


def _filled():
    """Records whose words are all different, with rows that begin at any word."""
    words = np.arange(record_t.itemsize // 4, dtype=np.uint32)
    return words.view(record_t).view(np.recarray)


@pytest.mark.parametrize("row", range(ROWS))
def test_a_row_is_copied_and_nothing_else(row):
    """The row's 32 words go to their lanes, and no other word of the record changes."""
    records = _filled()
    expected = records.copy()
    expected[0].d[:] = expected[0].registers[row]
    _copy(records, row)
    assert records.tobytes() == expected.tobytes()


@pytest.mark.parametrize("active", MASKS)
@pytest.mark.parametrize("row", range(ROWS))
def test_only_lanes_of_the_mask_are_put(row, active):
    """Lane i of the row gets its word if bit i is set; other words stay."""
    records = _filled()
    expected = records.copy()
    for lane in range(LANES):
        if active >> lane & 1:
            expected[0].registers[row, lane] = expected[0].d[lane]
    _put(records, row, active)
    assert records.tobytes() == expected.tobytes()


@pytest.mark.jit
def test_other_arrays_are_not_compiled():
    """Words of another size, or that don't lie one after the other, would be moved wrongly: Numba refuses them."""
    wide = np.zeros((ROWS, LANES), np.uint64)
    apart = np.zeros((ROWS, 2 * LANES), np.uint32)[:, ::2]

    @numba.njit
    def copied(to, rows):
        lane_words.copy(to, rows, 0)

    for rows in (wide, apart):
        with pytest.raises(numba.TypingError):
            copied(rows[0], rows)


@pytest.mark.parametrize("row", range(ROWS))
def test_a_row_is_exchanged(row):
    """The row and the other words change places, and no other word of the record changes."""
    records = _filled()
    expected = records.copy()
    expected[0].d[:], expected[0].registers[row] = records[0].registers[row].copy(), records[0].d.copy()
    _exchange(records, row)
    assert records.tobytes() == expected.tobytes()
