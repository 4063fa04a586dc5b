"""The folders that come with gpusim and hold no code of its own: examples and lessons.

A checkout has them at its top. A wheel installs them as data files, below `share/gpusim`.
"""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from isa.errors import UserError

ROOT = Path(__file__).parents[2]
SHARE = "share/gpusim"  # as pyproject.toml has it
SKIPPED = shutil.ignore_patterns("__*__", ".*")  # what Python and editors leave there


def folder(name: str) -> Path:
    """Return the folder of that name; raises UserError if this installation has none."""
    if (ROOT / "pyproject.toml").is_file() and (ROOT / name).is_dir():
        return ROOT / name
    try:
        installed = files("gpusim") or ()
    except PackageNotFoundError:
        installed = ()
    for file in installed:
        before, found, _ = file.as_posix().partition(f"{SHARE}/{name}/")
        if found:
            return Path(str(file.locate())[: -len(file.as_posix())] + before + found).resolve()
    raise UserError(f"{name}: this installation has none; install gpusim from its wheel, or use a checkout")


def copied(name: str, to: Path) -> Path:
    """Copy the folder of that name to a new one, and return that; raises UserError if it exists or can't be written."""
    if to.exists():
        raise UserError(f"{to}: exists; give the name of a new folder")
    try:
        shutil.copytree(folder(name), to, ignore=SKIPPED)
    except OSError as error:
        shutil.rmtree(to, ignore_errors=True)  # nothing half written
        raise UserError(f"{to}: {(error.strerror or str(error)).lower()}; give another folder") from None
    return to
