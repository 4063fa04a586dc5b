"""The rows of gpusim/published/h200_stores.csv, and their launches on `h200`."""

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
FILE = Path(gpusim.__file__).parent / "published" / "h200_stores.csv"
CODE = Path(__file__).parent / "measured" / "stores.cubin.xz"
ACCESSES = {
    "four32": 4,
    "four128": 4,
    "one32": 1,
}  # of a round, where a kernel has neither 16 (stores) nor four (atomics)
WALKS = 4  # of blocks, warps, lanes, steps: seven numbers each


class Row(NamedTuple):
    """A launch: what its plan is, tests/measured/stores.cu says; what was not measured is 0."""

    experiment: str
    kernel: str
    blocks: int
    warps: int
    shared: int
    plan: tuple[int, ...]
    sectors: int
    cycles: int

    @property
    def nbytes(self) -> int:
        """Bytes from the array's begin to the last that it accesses, at most."""
        rounds, lanes, _, first = self.plan[7 * WALKS :]
        steps = rounds * (ACCESSES.get(self.kernel) or (16 if self.kernel.startswith("st") else 4))
        counts, walks = (self.blocks, self.warps, lanes, steps), [self.plan[7 * i : 7 * i + 7] for i in range(WALKS)]
        return first + 16 + sum(_end(walk, count - 1) for walk, count in zip(walks, counts, strict=True))


def _end(walk: tuple[int, ...], last: int) -> int:
    """Return the greatest sum of digits times strides of numbers up to the last, or more."""
    m0, s0, k1, m1, s1, k2, s2 = walk
    return min(m0, last) * s0 + min(m1, last >> k1) * s1 + (last >> k2) * s2


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        return tuple(
            Row(name, kernel, *map(int, launch), tuple(map(int, plan.split())), int(sectors), int(cycles))  # type: ignore[call-arg]
            for name, kernel, *launch, plan, sectors, cycles in found
        )


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress(CODE.read_bytes())


def error(module: gpusim.RawModule, row: Row) -> float:
    """Return by how many percent a row's sectors, or cycles, are off on one SM that stands for all."""
    array, plan = np.zeros(row.nbytes // 4 + 4, np.uint32), np.array(row.plan, np.uint32).tobytes()
    arguments = None, array, np.zeros(1, np.uint32), plan, plan
    call = {"machine": H200, "shared_mem": row.shared, "complete": False}
    result = module.get_function(row.kernel)((row.blocks,), (32 * row.warps,), arguments, **call)
    if row.cycles:
        return 100 * abs(int(result.cycles) / row.cycles - 1)
    return 100 * abs(int(result.run.sectors["stored"]) * row.blocks / row.sectors - 1)
