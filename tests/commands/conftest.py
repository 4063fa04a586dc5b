"""What the tests of commands have in common."""

import pytest

from gpusim.commands import progress


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch):
    """Output is as wide as where no terminal tells its width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def any_cache(monkeypatch):
    """Screens are the same for a test that compiles an engine first, in which time there would be lines of progress."""
    monkeypatch.setattr(progress, "ENTRIES", {})
    monkeypatch.setattr(progress, "PERIOD", 600.0)
