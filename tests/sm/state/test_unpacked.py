"""Records as namespaces."""

import numpy as np

from gpusim.sm.state.unpacked import unpacked, unpacked_rows


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


def test_rows_of_a_table_are_unpacked_alike():
    """Each row is what `unpacked` gives of it, with lists and namespaces of its own."""
    inner = record([("x", "i8"), ("y", "i8", (2,))])
    kind = record([("a", "i4"), ("b", "i8", (3,)), ("c", "i8", (2, 2)), ("d", inner), ("e", inner, (2,))])
    table = np.zeros(3, kind)
    table["a"], table["b"], table["d"]["x"], table["e"]["y"] = [7, 8, 9], [[1, 2, 3]] * 3, [4, 5, 6], 2
    rows = unpacked_rows(table)
    assert [row.a for row in rows] == [7, 8, 9]
    assert [row.d.x for row in rows] == [4, 5, 6]
    for row, one in zip(rows, map(unpacked, table), strict=True):
        assert (row.a, row.b, row.d) == (one.a, one.b, one.d)
        assert type(row.a) is int
        assert (row.c == one.c).all()
        assert (row.e == one.e).all()
    rows[0].b[0] = 99
    assert rows[1].b == [1, 2, 3]
    assert unpacked_rows(table[:0]) == []
