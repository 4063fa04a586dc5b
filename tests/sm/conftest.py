"""The launch that the tests of fast-forward use."""

import pytest
from recurring import Recurring


@pytest.fixture(scope="module")
def once():
    """A launch of STEADY whose state has come back."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return Recurring(monkeypatch)


@pytest.fixture
def recurring(once):
    """The same, for a test to change: every array is restored after the test."""
    before = [array.copy() for array in once.roles]
    yield once
    for array, kept in zip(once.roles, before, strict=True):
        array[:] = kept
