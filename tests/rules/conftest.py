"""The launch that tests of fast-forward look at."""

import pytest
from recurring import Recurring


@pytest.fixture(scope="module")
def once():
    """A launch of STEADY whose state has come back."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return Recurring(monkeypatch)


@pytest.fixture
def recurring(once):
    """The same, for a test to change: every array is put back behind it."""
    before = [array.copy() for array in once.roles]
    yield once
    for array, kept in zip(once.roles, before, strict=True):
        array[:] = kept
