"""Units of an H200, one by one: tests/measured/chip.cu, its launches, and the stamps of gpusim/published/h200_chip.csv.

The cubin is nvcc 13.0.88's for sm_90, and the rows are of this machine code. A stamp is a warp's clock, here the cycles
after the first one on its SM, of the earliest, the median and the latest of the SM's warps.
"""

from __future__ import annotations

import csv
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from idioms import DATA

import gpusim
from gpusim.analysis.validate.validation import DIRECTORY
from gpusim.machine.simulated_sms import mean

H200 = mean(gpusim.load("h200"))  # rows tell of the mean SM
SMS = 132
WRAP = 12 << 20  # bytes of a stream's buffer
REC = np.dtype([("t", "i8", 16), ("smid", "u4"), ("blk", "u4"), ("warp", "u4"), ("n", "u4")])
MANY = np.dtype([("v", "i4", 512)])
Stamp = tuple[int, int, int]  # cycles of the earliest, the median and the latest warp


@dataclass(frozen=True)
class Row:
    """One measured launch; `each`: block, warp, first and last stamp of the warps of one SM, where they are kept."""

    experiment: str
    parameters: str
    blocks: int
    threads: int
    stamps: tuple[Stamp, ...]
    each: tuple[tuple[int, int, int, int], ...]

    def __str__(self) -> str:
        """Return its key."""
        return f"{self.experiment} {self.parameters} {self.blocks}x{self.threads}"

    def of(self, *names: str) -> tuple[int, ...]:
        """Return numbers among the parameters, by their names."""
        held = dict(each.split("=") for each in self.parameters.split())
        return tuple(int(held[name]) for name in names)


def numbers(text: str) -> tuple[Any, ...]:
    """Return the groups of a column, `0:1:2 3:4:5`, as tuples of numbers."""
    return tuple(tuple(int(number) for number in group.split(":")) for group in text.split())


@cache
def rows() -> tuple[Row, ...]:
    """Return all measured rows."""
    lines = [line for line in (DIRECTORY / "h200_chip.csv").read_text().splitlines() if line[0] != "#"]
    return tuple(
        Row(r["experiment"], r["parameters"], int(r["blocks"]), int(r["threads"]), numbers(r["stamps"]),
            numbers(r["each_warp"]))
        for r in csv.DictReader(lines)
    )  # fmt: skip


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress((DATA / "chip.cubin.xz").read_bytes())


def words(count: int) -> Any:
    """Return so many bytes of memory, all zero, and at least a page."""
    return np.zeros(max(count, 4096) // 4, np.uint32)


Called = tuple[tuple[int | str, ...], list[Any]]  # arguments of the template and, behind the stamps, of the kernel
single, i32, u32, u64 = np.float32, np.int32, np.uint32, np.uint64


def constants(row: Row) -> Called:
    return (row.parameters[2], row.parameters[6]), [np.zeros(1, MANY)[0]]


def loads(row: Row) -> Called:
    """Return a burst's arguments, of loads or stores: each warp has bytes of its own, behind the one before."""
    *template, stride = row.of(*(name for name in ("K", "V", "CG", "stride") if f"{name}=" in row.parameters))
    own = template[0] * 32 * stride
    warps = row.blocks * row.threads // 32
    return tuple(template), [words((warps + 1) * own + 4096), u64(own), u32(stride)]


def stream(row: Row) -> Called:
    template = row.of("R", "W", "V")
    lane = 4 * template[-1]
    step = row.blocks * row.threads * lane % WRAP
    return template, [words(WRAP), words(WRAP), u64(step), u64(WRAP), i32(64), u32(lane)]


def arith(row: Row) -> Called:
    return row.of("I"), [i32(*row.of("n")), single(0.5)]


def tiles(row: Row) -> Called:
    return row.of("BARS"), [i32(*row.of("n")), single(0.5)]


def bursts(row: Row) -> Called:
    at_once, own, gap = row.of("K", "own", "gap")
    return (at_once,), [words(row.blocks * own + 128 * at_once * row.threads + 4096), u64(own), i32(gap), single(0.5)]


def gather(row: Row) -> Called:
    return row.of("V"), [words(80000), *(i32(number) for number in row.of("m", "step", "stride"))]


def halves(row: Row) -> Called:
    return (), [words(65536), *(i32(number) for number in row.of("second", "gap")), single(0.5)]


def rows_of_product(row: Row) -> Called:
    pitches = [i32(number) for number in row.of("lda", "ldb")]
    return row.of("U", "WHICH"), [words(1 << 19), words(1 << 19), *pitches, i32(256)]


CALLS: dict[str, Callable[[Row], Called]] = {
    "consts": constants,
    "loads": loads,
    "stores": loads,
    "stream": stream,
    "empty": lambda _: ((), []),
    "arith": arith,
    "waves": arith,
    "tiles": tiles,
    "behind": lambda row: (row.of("WHAT"), [single(0.5), words(4096)]),
    "straight": lambda row: (row.of("N"), [single(0.5)]),
    "rate": lambda row: (row.of("WHAT"), [i32(0)]),
    "local": lambda row: (row.of("N"), [i32(1), i32(1)]),
    "bursts": bursts,
    "gather": gather,
    "halves": halves,
    "rows": rows_of_product,
}


def mangled(module: gpusim.RawModule, kernel: str, template: tuple[int | str, ...]) -> str:
    """Return the name of one instance of a kernel: of numbers and characters."""
    kinds = "".join(f"Li{one}E" if isinstance(one, int) else f"Lc{ord(one)}E" for one in template)
    prefix = f"_Z{len(kernel)}{kernel}{f'I{kinds}E' if kinds else ''}"
    (found,) = [name for name in module.kernels if name.startswith(prefix)]
    return found


def launched(module: gpusim.RawModule, row: Row) -> Any:
    """Return what the warps of the simulated SM left in a row's launch: their records, in order of blocks."""
    kernel = "arith" if row.experiment == "waves" else row.experiment
    template, arguments = CALLS[row.experiment](row)
    warps = row.threads // 32
    recs = np.zeros(row.blocks * warps, REC)
    call = module.get_function(mangled(module, kernel, template))
    shared = 1024 if kernel == "tiles" else 0
    call((row.blocks,), (row.threads,), [recs, *arguments], machine=H200, shared_mem=shared, complete=False)
    return recs[recs["n"] > 0]  # no other SM's blocks ran


def stamps(recs: Any) -> tuple[Stamp, ...]:
    """Return each stamp of these warps: earliest, median and latest cycle after the first one of all."""
    times = recs["t"][:, : recs["n"][0]]
    since = np.sort(times - times[:, 0].min(), axis=0)
    return tuple((int(column[0]), int(column[len(column) // 2]), int(column[-1])) for column in since.T)
