"""Textbook kernels in grids of up to 132 blocks and in full grids: as an H200 ran them, and simulated.

python -m benchmarks.memory.textbook                                  all launches; minutes on 16 cores
python -m benchmarks.memory.textbook --kernel transpose --size full --workers 2
python -m benchmarks.memory.textbook --kernel scan --counters         every stall reason beside ncu's

Printed are cycles in which the busiest SM has a warp (sm__cycles_active.max) of the chip and here and the error, where
the L2 does reductions behind them the whole less what launches take around their work (tests/ends_rows.py); the first
stall reason of both, the mean difference of the shares, and the errors of sectors and bytes (COMPARED; a dot: next to
nothing); then the errors of each group of kernels and each size, and of each counter. The launches are those of
gpusim/published/h200_textbook.csv, of the program tests/measured/textbook.cu, which says what the arrays hold; the
machine code is tests/measured/textbook.cubin.xz. The L2 is as a launch of the same kernel left it. Nothing was fitted
to these launches; they were seen while rules were made.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import re
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpusim
from gpusim.analysis.validate.kernels import WARM
from gpusim.analysis.validate.profiler import SELECTED, ncu_shares
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.sm_run import ChipRun, SmRun
from gpusim.machine.machine import Machine, load
from gpusim.simulation import memory_account
from gpusim.support.parallel.processes import as_done
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.memory import SECTOR_BYTES
from isa.nvidia.abi import load as abi
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.file.code import Code
from isa.row import Unit

FILE = Path(gpusim.__file__).parent / "published" / "h200_textbook.csv"
CUBIN = Path(__file__).parent.parent.parent / "tests" / "measured" / "textbook.cubin.xz"
STALLED = "stalled_"  # begins the columns of stall reasons
STEP = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
NEAR = 3  # percent by which a counter may be off
SHOWN = 0.01  # share of a stall reason that is printed
FEWEST = 0.01  # of the sectors or bytes of a launch: fewer are not compared


class Array(NamedTuple):
    """An array: what it holds (tests/measured/textbook.cu), its words of 4 bytes, and what whole numbers are below."""

    kind: str
    words: int
    below: int


class Launch(NamedTuple):
    """A launch as it was measured; `counters` has ncu's, `stalls` the share of each reason of all warp-cycles."""

    kernel: str
    group: str
    size: str
    symbol: str
    shared: int
    grid: tuple[int, int]
    block: tuple[int, int]
    arrays: tuple[Array, ...]
    arguments: tuple[str, ...]
    counters: Mapping[str, float]
    stalls: Mapping[str, float]

    def __str__(self) -> str:
        """Return what tells it from others."""
        return f"{self.kernel} {self.size}"

    @property
    def cycles(self) -> float:
        """Cycles of the busiest SM, with those in which the L2 still does atomics without old values."""
        if not self.counters["l2_reduction_sectors"]:
            return self.counters["cycles"]
        return max(self.counters["cycles"], self.counters["elapsed"] - around(self.size))


@dataclass(frozen=True)
class Fill:
    """What an array holds but sums of rows: numbers of a hash of the index."""

    array: Array
    seed: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the values at the element indices."""
        z = index.astype(np.uint64) * np.uint64(2 if self.array.kind == "d" else 1) + np.uint64(self.seed) + STEP
        z = (z ^ (z >> np.uint64(30))) * FACTORS[0]
        z = (z ^ (z >> np.uint64(27))) * FACTORS[1]
        words = (z ^ (z >> np.uint64(31))).astype(np.uint32)
        if self.array.kind in "fd":
            return (words / 2**31 - 1).astype("f4" if self.array.kind == "f" else "f8")
        return words if self.array.kind == "u" else words % np.uint32(self.array.below)


@cache
def launches() -> tuple[Launch, ...]:
    """Return all launches."""
    with FILE.open(encoding="utf-8") as file:
        return tuple(_launch(row) for row in csv.DictReader(line for line in file if not line.startswith("#")))


@cache
def around(size: str) -> float:
    """Return the cycles of a launch in which no SM is active, the median of those without such atomics."""
    whole = [one.counters for one in launches() if one.size == size and not one.counters["l2_reduction_sectors"]]
    return float(np.median([one["elapsed"] - one["cycles"] for one in whole]))


def _launch(row: dict[str, str]) -> Launch:
    texts = {name: row.pop(name) for name in ("kernel", "group", "size", "symbol", "arrays", "arguments")}
    numbers = {name: float(value) for name, value in row.items()}
    numbers["l2_updated_sectors"] = numbers.pop("l2_atomic_sectors") + numbers["l2_reduction_sectors"]
    stalls = {name.removeprefix(STALLED): numbers.pop(name) for name in row if name.startswith(STALLED)}
    total = sum(stalls.values()) or 1.0
    return Launch(
        *(texts[name] for name in ("kernel", "group", "size", "symbol")),
        int(numbers.pop("shared")),
        (int(numbers.pop("grid_x")), int(numbers.pop("grid_y"))),
        (int(numbers.pop("block_x")), int(numbers.pop("block_y"))),
        tuple(_array(text) for text in texts["arrays"].split()),
        tuple(texts["arguments"].split()),
        numbers,
        {name: value / total for name, value in stalls.items()},
    )


def _array(text: str) -> Array:
    kind, words, below = text.split(":")
    return Array(kind, int(words), int(below))


@cache
def machine_code() -> Code:
    """Return the machine code of all kernels."""
    return code.of_cubin(lzma.decompress(CUBIN.read_bytes()), CUBIN.name)


def kernel(launch: Launch) -> Kernel:
    """Return the kernel of a launch."""
    buffers = tuple(_buffer("abcdef"[i], array, i + 1) for i, array in enumerate(launch.arrays))
    values = [_value(one, buffers) for one in launch.arguments]
    arguments = abi.arguments(machine_code(), launch.symbol, values)
    grid, block = (*launch.grid, 1), (*launch.block, 1)
    state = LaunchState(launch.symbol, grid, block, launch.shared, arguments=arguments, buffers=buffers)
    return abi.kernel(machine_code(), state)


def _buffer(name: str, array: Array, seed: int) -> Buffer:
    if array.kind == "d":
        return Buffer(name, "f8", array.words // 2, Fill(array, seed))
    if array.kind == "o":
        rows = Fill(array, seed)(np.arange(array.words)).astype(np.uint32)
        return Buffer(name, "u4", array.words, ArrayFill(np.cumsum(rows, dtype=np.uint32) - rows))
    kind = "f4" if array.kind == "f" else "u4"
    return Buffer(name, kind, array.words, None if array.kind == "0" else Fill(array, seed))


def _value(one: str, buffers: tuple[Buffer, ...]) -> Value:
    if len(one) == 1:
        return pointer(buffers, one)
    packed = struct.pack("<i", int(one[1:])) if one[0] == "i" else struct.pack("<f", float(one[1:]))
    return Value(packed, len(packed))


@dataclass(frozen=True)
class Outcome:
    """A launch as it was simulated: cycles, shares of stall reasons, sectors and bytes of the grid, and seconds."""

    launch: Launch
    cycles: float
    stalls: Mapping[str, float]
    counters: Mapping[str, float]
    seconds: float
    refused: str = ""

    @property
    def error(self) -> float:
        """Simulated over measured less one, in percent."""
        return 100 * (self.cycles / self.launch.cycles - 1)

    @property
    def difference(self) -> float:
        """By how many points the shares of a reason differ in the mean, over those of 1 % here or on the chip."""
        seen = [one for one in {*self.stalls, *self.launch.stalls} if max(self.of(one)) >= SHOWN]
        return 100 * float(np.mean([abs(here - there) for here, there in map(self.of, seen)]))

    def of(self, reason: str) -> tuple[float, float]:
        """Return the share of a stall reason here and on the chip."""
        return self.stalls.get(reason, 0.0), self.launch.stalls.get(reason, 0.0)

    def off(self, counter: str) -> float | None:
        """Return the error of a counter in percent; None where there is next to nothing to count."""
        here, there = self.counters[counter], self.launch.counters[counter]
        size = SECTOR_BYTES if counter.startswith("dram") else 1
        traffic = sum(self.launch.counters[name] for name in ("l1_loaded_sectors", "l1_stored_sectors"))
        return None if there < size * max(FEWEST * traffic, 1000) else 100 * (here / there - 1)


COMPARED = (
    *("l1_loaded_sectors", "l1_loaded_hits", "l1_stored_sectors", "l2_read_sectors", "l2_written_sectors"),
    *("l2_updated_sectors", "dram_read_bytes", "dram_written_bytes"),
)


def outcome(launch: Launch, machine: Machine, *, every_sm: bool = False) -> Outcome:
    """Simulate a launch on one SM, or on all; code that is not executed is `refused`."""
    begun = time.monotonic()
    try:
        launched = kernel(launch)
        run = (run_chip if every_sm else run_sm)(launched, machine)
    except UserError as error:
        return Outcome(launch, 0, {}, {}, 0, str(error).splitlines()[0])
    stalls = ncu_shares(run.stalls, launched.program)
    return Outcome(launch, run.cycles, stalls, _counted(launched, machine, run), time.monotonic() - begun)


def _counted(launched: Kernel, machine: Machine, run: SmRun | ChipRun) -> dict[str, float]:
    """Return sectors and bytes of the grid, if all SMs moved for each block what the simulated ones did."""
    account, rows = memory_account.of_run(launched, machine, run), launched.program.instructions
    far = [pc for pc in account.pcs if rows[pc].row.unit is Unit.GLOBAL and rows[pc].row.update is None]
    loads, stores = (account.of(pc for pc in far if rows[pc].row.is_load is one) for one in (True, False))
    whole, instructions = account.whole, run.warp_instructions * launched.blocks / run.blocks
    dram = SECTOR_BYTES * whole.dram_read, SECTOR_BYTES * whole.dram_written
    far_side = whole.l2_read, whole.l2_written, whole.l2_updated
    sizes = loads.sectors, loads.hits, stores.sectors, *far_side, *dram
    return {"instructions": instructions, **dict(zip(COMPARED, sizes, strict=True))}


def line(done: Outcome) -> str:
    """Return the line of a launch."""
    launch = done.launch
    if done.refused:
        return f"{launch!s:28} {done.refused[:120]}"
    chip, here = (_first(one) for one in (launch.stalls, done.stalls))
    reasons = f"{_share(chip, done.of(chip))} | {_share(here, done.of(here))} {done.difference:5.1f}"
    counts = " ".join("    ." if off is None else f"{off:5.0f}" for off in map(done.off, COMPARED))
    cycles = f"{launch.cycles:9.0f} {done.cycles:9.0f} {done.error:7.1f} %"
    return f"{launch!s:28} {cycles}  {reasons}  {counts}  {done.seconds:5.1f} s"


def _first(shares: Mapping[str, float]) -> str:
    return max((name for name in shares if name != SELECTED), key=shares.__getitem__, default=SELECTED)


def _share(name: str, of: Sequence[float]) -> str:
    """Return a stall reason with its shares here and on the chip, in percent."""
    return f"{name:18}{100 * of[0]:3.0f}{100 * of[1]:4.0f}"


def beside(done: Outcome) -> Iterator[str]:
    """Yield counters and stall reasons of at least a hundredth of the time, here and by ncu."""
    for name, here in done.counters.items():
        yield f"    {name:20} {here:14.0f} {done.launch.counters[name]:14.0f}"
    for name in sorted({*done.stalls, *done.launch.stalls}, key=lambda one: -done.of(one)[1]):
        if max(done.of(name)) >= SHOWN:
            yield f"    {_share(name, done.of(name))}"


def summary(found: Sequence[Outcome]) -> Iterator[str]:
    """Yield errors of all, of each size, and of each group in it: how many, mean, bias and the worst."""
    for size in ("small", "full"):
        of_size = [one for one in found if one.launch.size == size]
        if of_size:
            yield _errors(size, of_size)
            for group in dict.fromkeys(one.launch.group for one in of_size):
                yield _errors(f"  {group}", [one for one in of_size if one.launch.group == group])
            yield from (_counts(counter, of_size) for counter in COMPARED)


def _errors(name: str, found: Sequence[Outcome]) -> str:
    errors = np.array([one.error for one in found])
    worst = max(found, key=lambda one: abs(one.error))
    same = sum(_agrees(one) for one in found)
    sizes = f"mean {np.abs(errors).mean():6.2f} %, bias {errors.mean():7.2f} %, worst {worst.error:7.2f} %"
    points = np.mean([one.difference for one in found])
    return f"{name:16} {len(found):3} {sizes} {worst.launch.kernel:20} first reason {same:3}, {points:5.1f} points"


def _counts(counter: str, found: Sequence[Outcome]) -> str:
    """Return how many launches have so much of a counter, the median of the errors, and how many are below 3 %."""
    sizes = np.abs([off for one in found if (off := one.off(counter)) is not None])
    median = float(np.median(sizes)) if len(sizes) else 0.0
    return f"  {counter:20} {len(sizes):3} launches, median {median:5.1f} %, within 3 %: {(sizes <= NEAR).sum()}"


def _agrees(done: Outcome) -> bool:
    """Whether the first reason here is the chip's first, or has there a share that is at most 5 points less."""
    return done.of(_first(done.launch.stalls))[1] - done.of(_first(done.stalls))[1] <= 0.05


def outcomes(found: Iterable[Launch], machine: Machine, workers: int, *, every_sm: bool = False) -> Iterator[Outcome]:
    """Simulate launches in so many processes (0: one for each core), the largest first; yield them in any order."""
    longest = sorted(found, key=lambda one: -one.counters["instructions"])
    yield from as_done(partial(outcome, machine=machine, every_sm=every_sm), longest, workers or None)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="", help="kernels or groups that this regular expression finds")
    parser.add_argument("--size", default="", help="small or full")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the machine")
    parser.add_argument("--counters", action="store_true", help="counters and stall reasons beside those of ncu")
    parser.add_argument("--every-sm", action="store_true", help="simulate all SMs")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: one for each core")
    given = parser.parse_args()
    machine = load(given.machine, {**WARM, **dict(one.split("=", 1) for one in given.set)})
    wanted = [one for one in launches() if re.search(given.kernel, f"{one.kernel} {one.group}")]
    wanted = [one for one in wanted if given.size in ("", one.size)]
    done = []
    for one in outcomes(wanted, machine, given.workers, every_sm=given.every_sm):
        print(line(one), *(beside(one) if given.counters else ()), sep="\n", flush=True)  # noqa: T201
        done.append(one)
    print(*summary([one for one in done if not one.refused]), sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
