"""Shared parts of the tests of commands."""

import json

import pytest
from read.schemas import check_document, name_of

from gpusim.commands.frame import document, progress


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch):
    """Output has the width that it has without a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def any_cache(monkeypatch):
    """No progress lines appear on a screen, even in a test that compiles an engine first."""
    monkeypatch.setattr(progress, "ENTRIES", {})
    monkeypatch.setattr(progress, "PERIOD", 600.0)


@pytest.fixture(autouse=True)
def every_document_has_its_schema(monkeypatch):
    """Check every document that a command prints in a test against its schema."""
    encoded = document.encoded

    def checked(one):
        check_document(json.loads(encoded(one)), name_of(one))
        return encoded(one)

    monkeypatch.setattr(document, "encoded", checked)
