"""The rows of gpusim/published/h200_loads.csv, and their launches on `h200`."""

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
FILE = Path(gpusim.__file__).parent / "published" / "h200_loads.csv"
CODE = Path(__file__).parent / "measured" / "loads.cubin.xz"
MOST_BYTES = 300 << 20  # of an array that is simulated


class Row(NamedTuple):
    """A launch: what `a` to `f` and `g` are, tests/measured/loads.cu says."""

    experiment: str
    kernel: str
    sms: int
    blocks: int
    warps: int
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    rounds: int
    bytes: int
    cold: int
    cycles: float
    each: float
    slowest: float

    @property
    def total(self) -> int:
        """Warps of an SM."""
        return self.blocks * self.warps

    @property
    def under_way(self) -> int:
        """Loads of a warp that do not wait for each other."""
        return int(self.kernel.rsplit("_", 1)[1])

    @property
    def of_load(self) -> float:
        """Cycles of an SM for a load of a warp."""
        return self.cycles / (self.total * self.rounds * self.under_way)

    @property
    def latency(self) -> float:
        """Cycles of a round of a warp."""
        return self.each / self.rounds


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        return tuple(
            Row(a, b, *map(int, numbers[:13]), *(float(one or 0) for one in numbers[13:])) for a, b, *numbers in found
        )


def _parted(row: list[str]) -> tuple[str, str, list[str]]:
    return row[0], row[1], row[2:]


def _cycles(cell: str) -> float:
    return float(cell or 0)


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress(CODE.read_bytes())


def simulated(module: gpusim.RawModule, row: Row) -> float:
    """Return the cycles of the simulated SM from its first warp's begin to its last one's end."""
    rec, array = np.zeros((row.sms * row.total, 3), np.int64), np.zeros(row.bytes // 4, np.uint32)
    numbers = [np.uint64(one) for one in row[5:11]]
    arguments = (rec, array, *numbers, np.uint32(row.g), np.int32(row.rounds), np.uint32(0))
    function, caches = module.get_function(row.kernel), "cold" if row.cold else "warm"
    function((row.sms * row.blocks,), (32 * row.warps,), arguments, machine=H200, complete=False, caches=caches)
    own = rec[rec[:, 1] > 0]
    return float(own[:, 1].max() - own[:, 0].min())
