import pytest

from workloads.measured.patterns import offsets


@pytest.mark.parametrize(("pattern", "first"), [
    ("stride7", [0, 7, 14, 21]), ("bcast", [0, 0, 0, 0]), ("div2", [0, 0, 1, 1]), ("div2x9", [0, 0, 9, 9]),
    ("mod3", [0, 1, 2, 0]), ("xor5", [5, 4, 7, 6]), ("shift3", [3, 4, 5, 6]), ("reverse", [31, 30, 29, 28]),
    ("evenodd", [0, 16, 1, 17]),
])  # fmt: skip
def test_a_pattern_gives_the_place_of_each_lane(pattern, first):
    """The offsets of the first four lanes are the places that the pattern's name says, times the size of an access."""
    assert list(offsets(pattern, 8)[:4]) == [8 * place for place in first]


def test_scattered_lanes_are_apart():
    """`rand` sends all lanes to different places."""
    assert len(set(offsets("rand", 4))) == 32


def test_an_unknown_pattern_has_no_offsets():
    """A name that is no pattern has no offsets."""
    assert offsets("zigzag", 4) is offsets("stride", 4) is None
