"""Programs of tests/measured as modules: those that edit machine code run on their own where the chip is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def module(path: Path) -> ModuleType:
    """Return a program as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
