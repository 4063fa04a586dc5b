"""What was measured of each kernel: cycles of its launches, and how often each of its instructions executed.

One H200 (132 SMs, 1980 MHz, driver 580.159.04), November 2026. A configuration is `solo`, one block on an idle GPU;
`persm`, one block on each SM; `resident`, as many as fit on each SM; `full`, a whole problem. The executed instructions
were counted by ncu in launches of one's own (`solo` with k = 256, and `full`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from lzma import decompress
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.nvidia.file import code
from isa.nvidia.file.code import Code
from isa.nvidia.file.encoding import BYTES
from isa.support import frozen

CONFIGURATIONS = ("solo", "persm", "resident", "full")
COUNTED_K = 256  # of the products that ncu counted in `solo`
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel's mangled name, the threads of a block, the blocks that fit on an SM, and what the driver says of it.

    `shared_bytes` are those of a block without the 1024 that the system keeps.
    """

    kernel: str
    symbol: str
    threads: int
    blocks_per_sm: int
    registers: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Timed:
    """A timed launch; `k` is the inner size of a matrix product, 0 for the others.

    Cycles of SM clocks, read by each warp at its entry and its exit: of a block, the median over the blocks and then
    over 5 to 9 launches (`block_cycles`); the least and the most such median of seven runs of the program; from the
    first entry to the last exit on an SM (`sm_cycles`), likewise. The caches of instructions and the L2 were warm, the
    L1 was empty; cold ones are in `first_block_cycles`, of one launch. `milliseconds` are between two events, with the
    overhead of a launch.
    """

    kernel: str
    configuration: str
    grid_x: int
    grid_y: int
    k: int
    block_cycles: float
    least: float
    most: float
    sm_cycles: float
    first_block_cycles: float
    milliseconds: float

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid_x * self.grid_y


@frozen.comparable
@dataclass(frozen=True)
class Executed:
    """How often each instruction executed, [pc]: by warps, and by threads whose guard was true."""

    warps_solo: NDArray[np.int64]
    threads_solo: NDArray[np.int64]
    warps_full: NDArray[np.int64]


@cache
def machine_code() -> Code:
    """Return the machine code of all kernels; raises UserError without nvdisasm, which the extra `cubin` has."""
    return code.of_cubin(decompress((_FOLDER / "kernels.cubin.xz").read_bytes()), "kernels.cubin")


@cache
def compiled() -> Mapping[str, Compiled]:
    """Return the kernels by name, in the order in which they were timed."""
    found = [Compiled(kernel, symbol, *map(int, numbers)) for kernel, symbol, *numbers in _rows("kernels")]
    return MappingProxyType({one.kernel: one for one in found})


@cache
def timed() -> tuple[Timed, ...]:
    """Return every timed launch, in order."""
    return tuple(
        Timed(kernel, configuration, int(x), int(y), int(k), *map(float, numbers))
        for kernel, configuration, x, y, k, *numbers in _rows("launches")
    )


def launch(kernel: str, configuration: str, k: int | None = None) -> Timed:
    """Return the timed launch of a kernel, of several the one with this inner size, or else with COUNTED_K.

    Raises UserError for an unknown kernel or configuration, and for an inner size that was not timed.
    """
    _check("kernel", kernel, list(compiled()))
    _check(f"configuration of {kernel}", configuration, CONFIGURATIONS)
    found = {one.k: one for one in timed() if (one.kernel, one.configuration) == (kernel, configuration)}
    if k is None:
        return found.get(COUNTED_K) or next(iter(found.values()))
    _check(f"k of {kernel} in {configuration}", str(k), [str(known) for known in found])
    return found[k]


def executed(kernel: str) -> Executed:
    """Return how often the instructions of a kernel executed: ncu's inst_executed and thread_inst_executed_true."""
    rows = [[int(number, 0) for number in numbers] for name, *numbers in _rows("executed") if name == kernel]
    counts = np.zeros((3, rows[-1][1] // BYTES + 1), np.int64)
    for first, last, *numbers in rows:
        counts[:, first // BYTES : last // BYTES + 1] = np.array(numbers)[:, None]
    return Executed(*counts)


def _check(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UserError(f"{given} is no timed {what}; there are {', '.join(known)}")


def _rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table without its header."""
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        yield from rows
