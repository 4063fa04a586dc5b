"""The modules that lessons share, which import from their own folder."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(scope="module")
def teaching():
    """Return the module that the lessons share."""
    pytest.importorskip("marimo", reason="lessons need the extra: pip install gpusim[lessons]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(NOTEBOOKS), *sys.path])
        yield import_module("teaching")


@pytest.fixture(scope="module")
def puzzle():
    """Return the module that marks the puzzles of lesson 10."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(NOTEBOOKS), *sys.path])
        yield import_module("puzzle")
