"""The rows of gpusim/published/h200_paths.csv, and their launches on `h200`."""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpusim
from gpusim.machine.simulated_sms import mean

H200 = mean(gpusim.load("h200"))  # rows tell of the mean SM
FILE = Path(gpusim.__file__).parent / "published" / "h200_paths.csv"
CODE = Path(__file__).parent / "measured" / "paths.cubin.xz"
SHARED = 120_000  # bytes, so that an SM has one block; `sets` has none, whose loads have the whole L1


class Row(NamedTuple):
    """A launch: what `first` and `second` are, tests/measured/paths.cu says."""

    experiment: str
    sms: int
    warps: int
    first: int
    second: int
    rounds: int
    cycles: float

    @property
    def words(self) -> int:
        """Words of the array that it accesses."""
        if self.experiment == "sets":
            return self.first * self.second // 4
        return self.first // 4 if self.experiment in ("gather", "scatter", "sweep") else max(256, self.first)


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        return tuple(Row(name, *map(int, numbers), float(cycles)) for name, *numbers, cycles in found)


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress(CODE.read_bytes())


def simulated(module: gpusim.RawModule, row: Row) -> float:
    """Return the cycles of the simulated block from its first warp's entry to the last exit, with a warm L2."""
    rec = np.zeros((row.sms * row.warps, 2), np.int64)
    array, sums = np.zeros(row.words, np.uint32), np.zeros(row.sms * row.warps * 32, np.uint32)
    arguments = rec, array, sums, np.uint32(row.first), np.uint32(row.second), np.int32(row.rounds)
    function = module.get_function(row.experiment)
    grid, block, shared = (row.sms,), (32 * row.warps,), 0 if row.experiment == "sets" else SHARED
    function(grid, block, arguments, machine=H200, shared_mem=shared, complete=False)
    return float(np.ptp(rec[: row.warps]))
