"""Arguments of compiled code: each kind has code of its own."""

import numpy as np
import pytest

from gpusim.sm.jit.rule import entry

X_FIRST, Y_FIRST = (np.dtype([(name, np.int64) for name in names]) for names in ("xy", "yx"))


@entry
def _x_of(records):
    return records[0].x


@entry
def _as_number(flag):
    return 1 if flag else 0


def test_records_of_another_layout_have_code_of_their_own():
    """Of two layouts of records each gives its x, which is the first word of one and the second of the other."""
    found = []
    for layout in (X_FIRST, Y_FIRST):
        records = np.zeros(1, layout).view(np.recarray)
        records["x"], records["y"] = 1, 2
        found.append(_x_of(records))
    assert found == [1, 1]


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_flags_are_what_they_say(kind):
    """Python's and NumPy's flags are true or false to compiled code, too."""
    assert (_as_number(kind(True)), _as_number(kind(False))) == (1, 0)
