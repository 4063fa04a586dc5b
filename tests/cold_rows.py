"""The rows of gpusim/published/h200_cold.csv, and their launches on `h200`."""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cold
import numpy as np

import gpusim
from gpusim.machine.simulated_sms import mean

H200 = mean(gpusim.load("h200"))  # rows tell of the mean SM
FILE = Path(gpusim.__file__).parent / "published" / "h200_cold.csv"
MEASURED = Path(__file__).parent / "measured"
CLOCKS = 24


class Row(NamedTuple):
    """A launch of a program: each clock, of an SM's first and last warp."""

    program: str
    sms: int
    warps: int
    first: tuple[int, ...]
    last: tuple[int, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        return tuple(Row(name, int(sms), int(warps), _numbers(a), _numbers(b)) for name, sms, warps, a, b in found)


def _numbers(cell: str) -> tuple[int, ...]:
    return tuple(map(int, cell.split()))


@cache
def base() -> bytes:
    """Return the cubin whose code is edited."""
    return lzma.decompress((MEASURED / "cold.cubin.xz").read_bytes())


def simulated(folder: Path, row: Row) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the clocks of a row's launch, of the SM's first and last warp."""
    path = folder / f"{list(cold.PROGRAMS).index(row.program)}.cubin"
    if not path.exists():
        path.write_bytes(cold.edited(base(), cold.PROGRAMS[row.program]))
    out = np.zeros((row.sms, row.warps, CLOCKS), np.uint32)
    function = gpusim.RawModule(path=path).get_function("edited")
    function((row.sms,), (32 * row.warps,), (out, bytes(2048)), machine=H200, complete=False)
    clocks = out[0][:, cold.clocks(cold.PROGRAMS[row.program])].astype(np.int64)
    clocks -= clocks[:, 0].min()
    return tuple(map(int, clocks.min(axis=0))), tuple(map(int, clocks.max(axis=0)))
