"""Ten whole kernels that use tensor cores: as an H200 ran them, and simulated.

python -m benchmarks.tensor.kernels                                   all launches; hours
python -m benchmarks.tensor.kernels --kernel h128 --configuration solo --most 256
python -m benchmarks.tensor.kernels --configuration full --counters   stall reasons and counters beside ncu's
python -m benchmarks.tensor.kernels --variants                        18 further kernels

Printed are cycles of a block (`solo`: one block, `persm`: one on each SM) or of an SM (`resident`: as many as fit,
`full`: 4096 x 4096 x 1024), and the distance of the results from a sum in double precision as a root of squares over
that of the sum, of the blocks of the simulated SM. The launches are those of gpusim/published/h200_tensor_launches.csv
(of the variants: h200_tensor_variants.csv, same programs with other tiles, stages, types, ways to load),
ncu's figures those of h200_tensor_kernels.csv; the machine code is that of tests/measured/tensor. Arguments are
(A, B, C, k, 1024, 1024, 4096, records); of flash (Q, K, V, O, keys, scale, records); of copies by tensor maps (map of
A, map of B, C, k, 4096, records).
"""

from __future__ import annotations

import argparse
import csv
import lzma
import re
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpusim
from gpusim.analysis.validate.kernels import OF_BLOCKS, WARM
from gpusim.analysis.validate.profiler import Profile, ncu_shares, profiles
from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.machine.machine import Machine, load
from gpusim.machine.simulated_sms import mean
from isa.errors import UserError
from isa.kernel import Buffer, Kernel
from isa.memory import bases, view
from isa.nvidia.abi import load as abi
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.file.code import Code
from workloads.measured.whole.clocks import NAME as CLOCKS
from workloads.measured.whole.clocks import recorded

PUBLISHED = Path(gpusim.__file__).parent / "published"
CUBINS = Path(__file__).parent.parent.parent / "tests" / "measured" / "tensor"
LEADING, LEADING_OF_RESULT, MAP_ROWS = 1024, 4096, 4096
MAP_ALIGNMENT = 16  # a multiple of 64 in the constant bank, where parameters begin at 0x210
HEAD, SCALE = 64, 0.18033688  # of flash: elements of a head, log2(e) / 8
SEEDS = {"A": 1, "B": 777777, "V": 99999999}
STEP, FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
STORED = {"f16": "f2", "bf16": "u2", "tf32": "f4", "s8": "i1", "f64": "f8"}
RESULT = {"s8": "i4", "f64": "f8"}  # else f4
WORDS_OF_CLOCKS = 6
TF32_MASK = np.uint32(0xFFFFE000)  # 10 fraction bits


class Launch(NamedTuple):
    """A launch as it was timed; `tile` is that of a block, `error` the distance of the chip's results."""

    kernel: str
    kind: str
    symbol: str
    threads: int
    shared: int
    tile: tuple[int, int]
    configuration: str
    grid: tuple[int, int]
    k: int
    cycles: float
    error: float
    further: bool = False  # one of the variants

    def __str__(self) -> str:
        """Return what tells it from others."""
        return f"{self.kernel} {self.configuration} k={self.k}"

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1]

    @property
    def is_flash(self) -> bool:
        """Whether it is attention, not a product."""
        return self.kernel.startswith("flash")

    @property
    def is_profiled(self) -> bool:
        """Whether ncu's figures of this kernel and configuration are of this size."""
        of_solo = 512 if self.is_flash else 256
        is_full, is_alone = self.configuration == "full", (self.configuration, self.k) == ("solo", of_solo)
        return not self.further and (is_full or is_alone)

    @property
    def file(self) -> str:
        """The file of its machine code."""
        return ("variants" if self.further else "kernels") + ("_wg" if self.kernel.startswith("wg") else "")


@dataclass(frozen=True)
class Fill:
    """What an operand holds: numbers of a hash of the index, from -1 on and below 1, or all bytes."""

    kind: str
    seed: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the stored words at the element indices."""
        x = (index.astype(np.uint64) + np.uint64(self.seed)) * STEP
        x = (x ^ (x >> np.uint64(29))) * FACTOR
        x ^= x >> np.uint64(32)
        real = (x & np.uint64(0xFFFF)).astype(np.float32) / np.float32(32768) - np.float32(1)
        if self.kind == "s8":
            return (x >> np.uint64(20)).astype(np.uint8).view(np.int8)
        if self.kind == "f64":
            return real + 1e-6 * (x >> np.uint64(40) & np.uint64(0xFF)).astype(np.float64)
        return _bf16(real) if self.kind == "bf16" else real.astype(STORED[self.kind])

    def numbers(self, first: int, count: int) -> NDArray[np.float64]:
        """Return the values that the tensor cores read of so many elements."""
        words = self(np.arange(first, first + count))
        if self.kind == "bf16":
            words = (words.astype(np.uint32) << 16).view(np.float32)
        if self.kind == "tf32":
            words = (words.view(np.uint32) & TF32_MASK).view(np.float32)
        return words.astype(np.float64)


def _bf16(real: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the upper halves, rounded to nearest even."""
    words = real.view(np.uint32)
    return ((words + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint16)


@cache
def launches(*, further: bool = False) -> tuple[Launch, ...]:
    """Return all launches of the ten kernels, or of the further ones."""
    name = "h200_tensor_variants.csv" if further else "h200_tensor_launches.csv"
    with (PUBLISHED / name).open(encoding="utf-8") as file:
        return tuple(_launch(row, further) for row in csv.DictReader(line for line in file if line[0] != "#"))


def _launch(row: dict[str, str], further: bool) -> Launch:
    return Launch(
        row["kernel"],
        row["kind"],
        row["symbol"],
        int(row["threads"]),
        int(row["shared"]),
        (int(row["tile_m"]), int(row["tile_n"])),
        row["configuration"],
        (int(row["grid_x"]), int(row["grid_y"])),
        int(row["k"]),
        float(row["block" if row["configuration"] in OF_BLOCKS else "span"]),
        float(row["error"]),
        further,
    )


@cache
def _code(name: str) -> Code:
    return code.of_cubin(lzma.decompress((CUBINS / f"{name}.cubin.xz").read_bytes()), name)


def kernel(launch: Launch) -> Kernel:
    """Return the kernel of a launch."""
    found = _code(launch.file)
    buffers = (*_operands(launch), Buffer(CLOCKS, "u4", WORDS_OF_CLOCKS * launch.blocks * launch.threads // 32))
    arguments = abi.arguments(found, launch.symbol, list(_arguments(launch, buffers)))
    grid, block = (*launch.grid, 1), (launch.threads, 1, 1)
    state = LaunchState(launch.symbol, grid, block, launch.shared, arguments=arguments, buffers=buffers)
    return abi.kernel(found, state)


def _operands(launch: Launch) -> tuple[Buffer, ...]:
    """Return the operands and the result, as far as the grid touches them."""
    stored, result = STORED[launch.kind], RESULT.get(launch.kind, "f4")
    if launch.is_flash:
        size = launch.grid[1] * launch.k * HEAD
        return (
            *(Buffer(name, stored, size, Fill("f16", seed)) for name, seed in SEEDS.items()),
            Buffer("C", result, size),
        )
    rows, columns = launch.grid[1] * launch.tile[0], launch.grid[0] * launch.tile[1]
    return (
        Buffer("A", stored, rows * LEADING, Fill(launch.kind, SEEDS["A"])),
        Buffer("B", stored, columns * LEADING, Fill(launch.kind, SEEDS["B"])),
        Buffer("C", result, rows * LEADING_OF_RESULT),
    )


def _arguments(launch: Launch, buffers: Sequence[Buffer]) -> Iterator[Value]:
    """Yield the arguments."""
    places = {one.name: pointer(buffers, one.name) for one in buffers}
    inner = [launch.k]
    if launch.is_flash:
        yield from (places[name] for name in "ABVC")
        yield Value(struct.pack("<i", launch.k), 4)
        yield Value(struct.pack("<f", SCALE), 4)
    else:
        by_map = "tma" in launch.kernel
        yield from (Value(tensor_map(places[name].data), MAP_ALIGNMENT) if by_map else places[name] for name in "AB")
        yield places["C"]
        inner += [LEADING_OF_RESULT] if by_map else [LEADING, LEADING, LEADING_OF_RESULT]
        yield from (Value(struct.pack("<i", one), 4) for one in inner)
    yield places[CLOCKS]


def tensor_map(address: bytes) -> bytes:
    """Return the 128 bytes of a map of float16: 4096 rows of 1024, boxes of 64 x 128, swizzled by 128 bytes."""
    fields = struct.pack("<I5I5I2I", 1 << 4 | 6 << 7 | 3 << 13, 2 * LEADING // 16, 0, 0, 0, 0,
                         LEADING - 1, MAP_ROWS - 1, 0, 0, 0, 63 << 24, 127)  # fmt: skip
    return (address + fields).ljust(128, b"\0")


def blocks(launch: Launch, run: SmRun, machine: Machine) -> range:
    """Return the blocks that were simulated."""
    return range(run.first_sm, launch.blocks, machine.chip.sms)[: run.blocks]


def distance(launch: Launch, launched: Kernel, run: SmRun, which: Sequence[int]) -> float:
    """Return the root of the sum of squared differences of these blocks from double precision, over that of squares."""
    buffer = next(one for one in launched.buffers if one.name == "C")
    found = view(run.memory, buffer, bases(launched.buffers)["C"])
    off = total = 0.0
    for block in which:
        wanted, given = (_attention if launch.is_flash else _product)(launch, block, found)
        off, total = off + float(((given - wanted) ** 2).sum()), total + float((wanted**2).sum())
    return float(np.sqrt(off / total))


Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def _product(launch: Launch, block: int, found: NDArray[Any]) -> Pair:
    """Return the tile of a block in double precision, and as it was left."""
    column, row = block % launch.grid[0], block // launch.grid[0]
    height, width = launch.tile
    a, b = (
        Fill(launch.kind, SEEDS[name])
        .numbers(first * size * LEADING, size * LEADING)
        .reshape(size, LEADING)[:, : launch.k]
        for name, first, size in (("A", row, height), ("B", column, width))
    )
    of_all = found.reshape(-1, LEADING_OF_RESULT)
    return a @ b.T, of_all[row * height :][:height, column * width :][:, :width].astype(np.float64)


def _attention(launch: Launch, block: int, found: NDArray[Any]) -> Pair:
    """Return 64 rows of softmax(Q K^T scale) V by powers of 2 in double precision, and as they were left."""
    first, head = block % launch.grid[0] * HEAD, block // launch.grid[0]
    size = launch.k * HEAD
    q, k, v = (Fill("f16", seed).numbers(head * size, size).reshape(-1, HEAD) for seed in SEEDS.values())
    scores = q[first : first + HEAD] @ k.T * np.float64(np.float32(SCALE))
    powers = np.exp2(scores - scores.max(axis=1, keepdims=True))
    given = found[head * size :][:size].reshape(-1, HEAD)[first : first + HEAD]
    return powers @ v / powers.sum(axis=1, keepdims=True), given.astype(np.float64)


@dataclass(frozen=True)
class Outcome:
    """A launch as it was simulated: cycles, distance of results, shares of stall reasons, instructions of the grid."""

    launch: Launch
    cycles: float
    distance: float
    stalls: dict[str, float]
    instructions: float

    @property
    def error(self) -> float:
        """Simulated over measured less one, in percent."""
        return 100 * (self.cycles / self.launch.cycles - 1)


def outcome(launch: Launch, machine: Machine) -> Outcome:
    """Simulate a launch; raises UserError for code that is not executed."""
    launched = kernel(launch)
    run = run_sm(launched, mean(machine))
    which = blocks(launch, run, machine)
    clocks = recorded(launched, run.memory, which)
    cycles = float(np.median(np.ptp(clocks, axis=1)) if launch.configuration in OF_BLOCKS else np.ptp(clocks))
    stalls = ncu_shares(run.stalls, launched.program)
    instructions = run.warp_instructions * launch.blocks / run.blocks
    return Outcome(launch, cycles, distance(launch, launched, run, which), stalls, instructions)


def beside(done: Outcome, counted: Profile) -> Iterator[str]:
    """Yield instructions and stall reasons of at least a hundredth of the time, simulated and by ncu."""
    yield f"    instructions {done.instructions:12.0f} {counted.counters['instructions']:12.0f}"
    for name in sorted({*done.stalls, *counted.stalls}, key=lambda one: -counted.stalls.get(one, 0)):
        mine, chip = done.stalls.get(name, 0.0), counted.stalls.get(name, 0.0)
        if max(mine, chip) >= 0.01:
            yield f"    {name:24} {100 * mine:6.1f} % {100 * chip:6.1f} %"


def wanted(pattern: str, configuration: str, most: int, *, further: bool = False) -> list[Launch]:
    """Return the launches of these kernels and configurations, of an inner size of at most so much (0: any)."""
    return [
        one
        for one in launches(further=further)
        if re.search(pattern, one.kernel)
        and re.fullmatch(configuration or ".*", one.configuration)
        and (not most or one.k <= most)
    ]


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="", help="kernels that this regular expression finds")
    parser.add_argument("--configuration", default="", help="solo, persm, resident or full, or an expression")
    parser.add_argument("--most", type=int, default=0, help="inner sizes up to this")
    parser.add_argument("--variants", action="store_true", help="the 18 further kernels, not the ten")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the machine")
    parser.add_argument("--counters", action="store_true", help="instructions and stall reasons beside those of ncu")
    given = parser.parse_args()
    machine = load(given.machine, {**WARM, **dict(one.split("=", 1) for one in given.set)})
    counted, errors = profiles("h200_tensor"), []
    for launch in wanted(given.kernel, given.configuration, given.most, further=given.variants):
        begun = time.monotonic()
        try:
            done = outcome(launch, machine)
        except UserError as error:
            print(f"{launch!s:40} {str(error).splitlines()[0][:160]}", flush=True)  # noqa: T201
            continue
        errors.append(abs(done.error))
        took = time.monotonic() - begun
        figures = f"{launch.cycles:10.0f} {done.cycles:10.0f} {done.error:8.2f} %"
        print(f"{launch!s:40} {figures}   distance {launch.error:.3g} {done.distance:.3g}   {took:.1f} s", flush=True)  # noqa: T201
        if given.counters and launch.is_profiled:
            print(*beside(done, counted[launch.kernel, launch.configuration]), sep="\n")  # noqa: T201
    if errors:
        print(f"{len(errors)} launches: mean {np.mean(errors):.2f} %, worst {max(errors):.2f} %")  # noqa: T201


if __name__ == "__main__":
    main()
