"""Records as namespaces."""

import numpy as np

from gpusim.state.unpacked import unpacked


def record(fields):
    """A record type whose fields are read as attributes."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def test_records_become_numbers_lists_and_namespaces():
    """Integers stay integers, rows become lists, tables become arrays, inner records become namespaces; all copies."""
    inner = record([("x", "i8")])
    value = np.zeros((), record([("a", "i8"), ("b", "i8", (2,)), ("c", "i8", (2, 2)), ("d", inner)]))
    value["b"], value["d"]["x"] = [3, 4], 5
    result = unpacked(value)
    assert (result.a, result.b, result.d.x) == (0, [3, 4], 5)
    assert result.c.shape == (2, 2)
    result.b[0] = 9
    assert value["b"][0] == 3
