from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from gpusim.support.repeats import repeats


def spelt_out(items):
    """Return the sequence that the parts and their repetitions stand for."""
    return list(chain.from_iterable(items[first : first + length] * times for first, length, times in repeats(items)))


@given(st.lists(st.integers(0, 2), max_size=40))
def test_parts_and_their_repetitions_make_up_the_sequence(items):
    """No item is lost or repeated, and a part that does not recur is a single item."""
    assert spelt_out(items) == items
    assert all(length == 1 or times > 1 for _, length, times in repeats(items))


def test_the_part_that_covers_most_is_taken():
    """In x abb abb abb y the part abb comes three times; the single items stay by themselves."""
    assert list(repeats("xabbabbabby")) == [(0, 1, 1), (1, 3, 3), (10, 1, 1)]
    assert list(repeats("aaaa")) == [(0, 1, 4)]
