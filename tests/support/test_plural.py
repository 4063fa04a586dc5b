import pytest

from gpusim.support.plural import plural


@pytest.mark.parametrize(("count", "words"), [(0, "0 blocks"), (1, "1 block"), (2, "2 blocks"), (2500, "2,500 blocks")])
def test_counts_agree_with_their_nouns(count, words):
    """A count of 1 has a singular noun, any other a plural one, and thousands have commas."""
    assert plural(count, "block") == words
