import pytest

from gpusim.support.plural import plural


@pytest.mark.parametrize(("count", "words"), [(0, "0 blocks"), (1, "1 block"), (2, "2 blocks"), (2500, "2,500 blocks")])
def test_counts_agree_with_their_nouns(count, words):
    """One of a thing is singular, any other count plural, with commas between thousands."""
    assert plural(count, "block") == words
