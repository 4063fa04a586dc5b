"""What the tests of commands have in common."""

import pytest


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch):
    """Output is as wide as where no terminal tells its width."""
    monkeypatch.delenv("COLUMNS", raising=False)
