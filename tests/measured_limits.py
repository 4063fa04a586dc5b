"""Errors of measured rows: how large they may be, and where docs/hopper.md says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from draws import QUICK, RUN, spread

import gpusim

DOCUMENT = Path(__file__).parent.parent / "docs" / "hopper.md"
ROW = re.compile(r"^\| `(\w+)` \|.*\| ([\d,]+) \| ([\d.]+) % \| ([\d.]+) % \|$", re.M)
Limits = Mapping[str, Sequence[float]]  # of each experiment, percent: the median error, the 95th percentile


def documented(heading: str) -> set[tuple[str, ...]]:
    """Return the rows of the tables of that section: experiment, rows, median and 95th percentile."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.M | re.S)
    return set(ROW.findall(section))


def stated(limits: Limits, of: Callable[[str], Sequence[Any]]) -> set[tuple[str, ...]]:
    """Return what the document has to say; `of` returns the rows of an experiment."""
    return {(one, f"{len(of(one)):,}", f"{half:g}", f"{most:g}") for one, (half, most, *_) in limits.items()}


def by_experiment(rows: Callable[[], Sequence[Any]]) -> Callable[[str], list[Any]]:
    """Return a function that returns the rows of an experiment."""
    return lambda experiment: [row for row in rows() if row.experiment == experiment]


def some(rows: Sequence[Any], number: int) -> Sequence[Any]:
    """Return so many rows at even distances in the quick run, twice as many in that of `make check`, else all."""
    return spread(rows, number * (1 if QUICK else 2)) if RUN else rows


def within(found: Sequence[float], half: float, most: float) -> bool:
    """Tell whether the errors of all rows keep to both limits; of some, as `some` gives, the median to `most`."""
    if RUN:
        return bool(np.median(found) <= most)
    return bool(np.median(found) <= half and np.percentile(found, 95) <= most)


def module_of(folder: Path, code: bytes) -> gpusim.RawModule:
    """Return the module of a cubin, which is left in the folder."""
    path = folder / "measured.cubin"
    path.write_bytes(code)
    return gpusim.RawModule(path=path)
