"""Search for garbage: off while many objects are made, and afterwards as before."""

from __future__ import annotations

import gc

import pytest

from isa.support.bulk import without_collection


@pytest.mark.parametrize("searches", [True, False])
def test_the_search_is_off_meanwhile_and_then_as_before(searches):
    """Inside there is no search; outside there is one only if there was one before, nested uses included."""
    before = gc.isenabled()
    (gc.enable if searches else gc.disable)()
    try:
        with without_collection():
            with without_collection():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() is searches
    finally:
        (gc.enable if before else gc.disable)()


def test_an_error_turns_the_search_on_again():
    """An exception that leaves the block leaves the search as it was."""
    before = gc.isenabled()
    with pytest.raises(ValueError, match="cause"), without_collection():
        raise ValueError("cause")
    assert gc.isenabled() is before
