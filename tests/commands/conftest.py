"""What the tests of commands have in common."""

import pytest

from gpusim.commands import progress


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch):
    """Output is as wide as where no terminal tells its width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def any_cache(monkeypatch):
    """Screens are the same for a test that is the first to compile an engine."""
    monkeypatch.setattr(progress, "ENTRIES", {})
