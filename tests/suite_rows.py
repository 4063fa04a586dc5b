"""The rows of gpusim/published/h200_suites.csv, and their launches on a machine."""

from __future__ import annotations

import csv
import lzma
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpusim
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import mean
from isa.kernel import Buffer, Kernel
from isa.memory import bases, view
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.file.code import Code

FILE = Path(gpusim.__file__).parent / "published" / "h200_suites.csv"
CUBIN = Path(__file__).parent / "measured" / "suites.cubin.xz"
WARM = {"cache.hits": "tags", "l2.filled": 1}
OF_BLOCKS = "solo", "persm"  # their cycles are those of a block
PRODUCTS = "s64", "s96", "s128", "d64", "naive", "tile"
WARP, WORDS_OF_CLOCKS = 32, 6
NAMES = {"a": "a", "b": "b", "c": "c", "r": "rec"}
STEP = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64, as in workloads/measured/whole/numbers.py
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Row(NamedTuple):
    """A launch as it was timed."""

    kernel: str
    symbol: str
    configuration: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    kinds: str  # of arrays a and b
    words: tuple[int, int, int]  # of a, b and c
    arguments: tuple[str, ...]
    cycles: float

    @property
    def is_product(self) -> bool:
        """Whether it is a matrix product of the family of the timed kernels."""
        return self.kernel.startswith(PRODUCTS)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.block[0] * self.block[1] // WARP


@dataclass(frozen=True)
class Fill:
    """What an array holds: real numbers, or the 32 bits of a hash."""

    kind: str
    seed: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values at the element indices."""
        z = index.astype(np.uint64) * np.uint64(2 if self.kind == "d" else 1) + np.uint64(self.seed) + STEP
        z = (z ^ (z >> np.uint64(30))) * FACTORS[0]
        z = (z ^ (z >> np.uint64(27))) * FACTORS[1]
        words = (z ^ (z >> np.uint64(31))).astype(np.uint32)
        return words if self.kind == "u" else (words / 2**31 - 1).astype("f4" if self.kind == "f" else "f8")


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(line for line in file if not line.startswith("#")))


def _row(row: dict[str, str]) -> Row:
    return Row(
        row["kernel"],
        row["symbol"],
        row["cfg"],
        (int(row["gx"]), int(row["gy"]), 1),
        (int(row["bx"]), int(row["by"]), 1),
        row["ka"] + row["kb"],
        (int(row["wa"]), int(row["wb"]), int(row["wc"])),
        tuple(row["args"].split()),
        float(row["block" if row["cfg"] in OF_BLOCKS else "span"]),
    )


@cache
def machine_code() -> Code:
    """Return the machine code of all kernels."""
    return code.of_cubin(lzma.decompress(CUBIN.read_bytes()), CUBIN.name)


def kernel(row: Row) -> Kernel:
    """Return the kernel of a row with its launch."""
    arrays = [_array(name, *each) for name, *each in zip("abc", row.kinds + "0", row.words, (1, 2, 0), strict=True)]
    buffers = (*arrays, Buffer("rec", "u4", WORDS_OF_CLOCKS * row.blocks * row.warps))
    values = [_value(one, buffers) for one in row.arguments]
    arguments = load.arguments(machine_code(), row.symbol, values)
    state = LaunchState(row.symbol, row.grid, row.block, arguments=arguments, buffers=buffers)
    return load.kernel(machine_code(), state)


def _array(name: str, kind: str, words: int, seed: int) -> Buffer:
    if kind == "d":
        return Buffer(name, "f8", words // 2, Fill(kind, seed))
    return Buffer(name, "f4" if kind == "f" else "u4", words, None if kind == "0" else Fill(kind, seed))


def _value(one: str, buffers: tuple[Buffer, ...]) -> Value:
    if one[0] in NAMES:
        return pointer(buffers, NAMES[one[0]])
    packed = struct.pack("<" + one[0], (int if one[0] == "i" else float)(one[1:]))
    return Value(packed, len(packed))


def simulated(row: Row, machine: Machine) -> float:
    """Return the cycles of a row's launch: the median of the simulated blocks, or of their SM."""
    launched = kernel(row)
    run = run_sm(launched, mean(machine))
    clocks = next(one for one in launched.buffers if one.name == "rec")
    words = view(run.memory, clocks, bases(launched.buffers)["rec"]).view(np.uint32).reshape(row.blocks, -1)
    of_sm = words[run.first_sm :: machine.chip.sms][: run.blocks]
    mine = np.ascontiguousarray(of_sm).reshape(-1, row.warps, WORDS_OF_CLOCKS)
    times = np.ascontiguousarray(mine[..., :4]).view(np.int64)
    first, last = times[..., 0].min(axis=1), times[..., 1].max(axis=1)
    return float(np.median(last - first) if row.configuration in OF_BLOCKS else last.max() - first.min())
