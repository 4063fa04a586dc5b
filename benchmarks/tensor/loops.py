"""Timed loops of matrix instructions, asynchronous copies and barriers in shared memory: as an H200 ran them, and here.

python -m benchmarks.tensor.loops FOLDER                              all rows; hours
python -m benchmarks.tensor.loops FOLDER --plan wg --name 'f16:n64' --limit 20
python -m benchmarks.tensor.loops FOLDER --plan patch --each --set pipes.tensor.interval=6

FOLDER has `micro.csv`, and beside it or in `streams/` the loops: `*.cubin.xz`, `*.plan.txt.xz` and `pat.bin`; one row
in eight is in tests/measured/tensor. A row is an experiment with so many warps of one block: a loop of `n_inst`
instructions, run `i1` and `i2` times. Its figure is (cyc2 - cyc1) / (i2 - i1) / n_inst, or cyc1 where the name ends in
`(raw cyc1)`. Cycles go from the first warp's start to the last warp's end in the second pass of a loop.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import re
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import Machine, load
from gpusim.machine.simulated_sms import mean
from isa.errors import UserError
from isa.kernel import Buffer, Kernel
from isa.memory import bases, view
from isa.nvidia.abi import load as abi
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.file.code import Code

WARM = {"cache.hits": "tags", "l2.filled": "1"}
LANES, WORDS_OF_CLOCKS, MOST_WARPS = 32, 6, 32
NUMBERS = 1 << 16  # words of the array `in`, and of the period of the array `gl`
READ_BYTES = {"mem": 18 << 20, "mem2": 18 << 20, "mem3": 18 << 20}  # of `gl`, by plan, of the 64 MiB of the chip's runs
MAP_ROWS, MAP_COLUMNS, MAP_BOX = 8192, 1024, 64  # of the tensor map: halves, swizzled by 128 bytes
MAP_ALIGNMENT = 16  # a multiple of 64 in the constant bank, where parameters begin at 0x210
MOST_CYCLES = 20_000_000
RAW = "(raw cyc1)"
Edits = tuple[tuple[int, bytes], ...]


class Row(NamedTuple):
    """An experiment with so many warps, as it was timed; `shared` in bytes, `edits` of the cubin by file offset."""

    plan: str
    name: str
    cubin: str
    kernel: str
    warps: int
    instructions: int
    shared: int
    iterations: tuple[int, int]
    numbers: tuple[int, int]
    edits: str
    measured: float

    def __str__(self) -> str:
        """Return what tells it from others."""
        return f"{self.plan} {self.name} W={self.warps} p1={self.numbers[1]}"

    @property
    def is_raw(self) -> bool:
        """Whether its figure is the cycles of the fewer iterations."""
        return self.name.endswith(RAW)

    def figure(self, cycles: Sequence[float]) -> float:
        """Return the figure of the cycles of the two launches, or of the one that counts."""
        if self.is_raw:
            return cycles[0]
        return (cycles[1] - cycles[0]) / (self.iterations[1] - self.iterations[0]) / self.instructions


class Outcome(NamedTuple):
    """A row as it was simulated: its figure; `refused` is why it does not run, else empty."""

    row: Row
    simulated: float
    refused: str = ""

    @property
    def error(self) -> float:
        """Simulated over measured less one, in percent."""
        return 100 * (self.simulated / self.row.measured - 1)


def rows(folder: Path) -> tuple[Row, ...]:
    """Return the rows of a folder that have a figure."""
    plans = _plans(folder)
    with (folder / "micro.csv").open(encoding="utf-8") as file:
        return tuple(_row(one, plans) for one in csv.DictReader(line for line in file if line[0] != "#"))


def _row(one: Mapping[str, str], plans: Mapping[tuple[str, ...], list[str]]) -> Row:
    """Return a row with what its plan says."""
    iterations = int(one["i1"]), int(one["i2"])
    plan = plans[one["name"], one["kernel"], one["p0"], one["p1"], one["W"]]
    raw = one["name"].endswith(RAW)
    return Row(
        one["plan"],
        one["name"],
        plan[1],
        one["kernel"],
        int(one["W"]),
        int(one["n_inst"]),
        int(plan[5]),
        iterations,
        (int(one["p0"]), int(one["p1"])),
        plan[9],
        float(one["cyc1_med" if raw else "cyc_per_inst"]),
    )


def _plans(folder: Path) -> dict[tuple[str, ...], list[str]]:
    """Return the lines of all plans, split, by name, kernel, both numbers and warps."""
    found: dict[tuple[str, ...], list[str]] = {}
    for path in sorted(_streams(folder).glob("*.plan.txt.xz")):
        for line in lzma.decompress(path.read_bytes()).decode().splitlines():
            if line:
                name, cubin, kernel, warps, count, shared, iterations, first, second, *edits = line.split("|")
                parts = [name, cubin, kernel, warps, count, shared, iterations, first, second, "".join(edits)]
                found.update({(name, kernel, first, second, one): parts for one in warps.split(",")})
    return found


def _streams(folder: Path) -> Path:
    """Return where a folder has its loops."""
    return folder / "streams" if (folder / "streams").is_dir() else folder


def _patterns(streams: Path) -> bytes:
    """Return the byte offsets of 32 lanes, of one pattern after another."""
    packed = streams / "pat.bin.xz"
    return lzma.decompress(packed.read_bytes()) if packed.exists() else (streams / "pat.bin").read_bytes()


@cache
def _cubin(folder: Path, name: str) -> bytes:
    return lzma.decompress((_streams(folder) / f"{name}.xz").read_bytes())


@cache
def _code(folder: Path, name: str) -> Code:
    return code.of_cubin(_cubin(folder, name), name)


def code_of(folder: Path, row: Row) -> Code:
    """Return the machine code of a row, edited."""
    if not row.edits:
        return _code(folder, row.cubin)
    found = bytearray(_cubin(folder, row.cubin))
    for one in row.edits.split(","):
        place, words = one.split(":")
        struct.pack_into("<QQ", found, int(place), int(words[:16], 16), int(words[16:], 16))
    return code.of_cubin(bytes(found), row.cubin)


@cache
def numbers() -> NDArray[np.uint32]:
    """Return what the array `in` holds: pairs of halves of a congruential generator, 0.125 to 0.5 and their negative.

    The generator and its bits are those of the chip's runs.
    """
    found, state = [], 12345
    for _ in range(NUMBERS):
        word = 0
        for half in range(2):
            state = (state * 1664525 + 1013904223) % 2**32
            word |= (0x3000 + (state >> 12 & 0x7FF) | state >> 31 << 15) << 16 * half
        found.append(word)
    return np.array(found, np.uint32)


@dataclass(frozen=True)
class Periodic:
    """An array that holds these words again and again, or zeros behind them."""

    words: NDArray[np.uint32]
    again: bool = True

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the values at the element indices."""
        found = self.words[index % len(self.words)]
        return found if self.again else np.where(index < len(self.words), found, np.uint32(0))


def kernel(folder: Path, row: Row, iterations: int, made: Code | None = None) -> Kernel:
    """Return the launch of a row with so many iterations."""
    made = made or code_of(folder, row)
    patterns = np.frombuffer(_patterns(_streams(folder)), "<u4")
    buffers = (
        Buffer("rec", "u4", WORDS_OF_CLOCKS * MOST_WARPS),
        Buffer("in", "u4", NUMBERS, Periodic(numbers())),
        Buffer("sink", "u4", NUMBERS),
        Buffer("pat", "u4", 1 << 14, Periodic(patterns, again=False)),
        Buffer("gl", "u4", READ_BYTES.get(row.plan, 4096) // 4, Periodic(numbers())),
    )
    ints = (Value(struct.pack("<i", one), 4) for one in (iterations, *row.numbers))
    rec, given, sink, pat, gl = (pointer(buffers, one.name) for one in buffers)
    values = [rec, given, sink, *ints, pat, gl]
    function = made.cubin.functions[row.kernel] if made.cubin else None
    if function and function.launch and len(function.launch.parameters) > len(values):
        values.append(Value(tensor_map(int.from_bytes(gl.data, "little")), MAP_ALIGNMENT))
    arguments = abi.arguments(made, row.kernel, values)
    shape = (32 * row.warps, 1, 1)
    state = LaunchState(row.kernel, (1, 1, 1), shape, row.shared, arguments=arguments, buffers=buffers)
    return abi.kernel(made, state)


def tensor_map(address: int) -> bytes:
    """Return the 128 bytes of a map of float16: 8192 rows of 1024, boxes of 64 x 64, swizzled by 128 bytes."""
    float16, swizzle = 6 << 7, 3 << 13
    strides = (2 * MAP_COLUMNS // 16, 0, 0, 0, 0)
    sizes = (MAP_COLUMNS - 1, MAP_ROWS - 1, 0, 0, 0)
    box = (MAP_BOX - 1) << 24, MAP_BOX - 1
    return struct.pack("<QI5I5I2I", address, 1 << 4 | float16 | swizzle, *strides, *sizes, *box).ljust(128, b"\0")


def cycles(folder: Path, row: Row, iterations: int, machine: Machine, made: Code | None = None) -> float:
    """Return the cycles of a row's loop from the first start to the last end."""
    launched = kernel(folder, row, iterations, made)
    run = run_sm(launched, mean(machine), max_cycles=MOST_CYCLES)
    clocks = next(one for one in launched.buffers if one.name == "rec")
    words = view(run.memory, clocks, bases(launched.buffers)["rec"]).view(np.uint32).reshape(-1, WORDS_OF_CLOCKS)
    times = np.ascontiguousarray(words[: row.warps, :4]).view(np.int64)
    return float(times[:, 1].max() - times[:, 0].min())


def outcome(folder: Path, row: Row, machine: Machine) -> Outcome:
    """Simulate a row; what is refused is told, not raised."""
    try:
        made = code_of(folder, row)
        wanted = row.iterations[:1] if row.is_raw else row.iterations
        return Outcome(row, row.figure([cycles(folder, row, one, machine, made) for one in wanted]))
    except UserError as error:
        return Outcome(row, 0.0, _short(str(error)))


def _short(message: str) -> str:
    """Return why a row does not run: the names of the instructions that are missing, or the message's first line."""
    known = message.startswith("instructions that are not executed here: ")
    names = re.findall(r"first \S+ (?:@!?U?P\d+ )?([\w.]+)", message) if known else ()
    return f"not executed: {', '.join(dict.fromkeys(names))}" if names else message.splitlines()[0]


def wanted(found: Iterable[Row], plans: Sequence[str], pattern: str, limit: int) -> list[Row]:
    """Return the rows of these plans (none: all) whose name matches, at most so many (0: all) at even distances."""
    chosen = [row for row in found if (not plans or row.plan in plans) and re.search(pattern, str(row))]
    return chosen if not limit or limit >= len(chosen) else [chosen[i * len(chosen) // limit] for i in range(limit)]


def summary(done: Sequence[Outcome], by: int) -> Iterator[str]:
    """Yield a line for all rows, one for each plan, and one for each beginning of so many parts of a name."""
    groups = defaultdict(list)
    for one in done:
        for key in ("all", one.row.plan, f"{one.row.plan} {':'.join(one.row.name.split(':')[:by])}"):
            groups[key].append(one.error)
    yield f"{'':44}   rows  median %    95th   worst    mean (signed)"
    for key, errors in groups.items():
        size = np.abs(errors)
        figures = f"{np.median(size):8.2f} {np.percentile(size, 95):8.2f} {size.max():8.2f} {np.mean(errors):8.2f}"
        yield f"{key[:44]:44} {len(errors):6} {figures}"


def missing(done: Iterable[Outcome]) -> Iterator[str]:
    """Yield how many rows are refused, by reason."""
    reasons = Counter(one.refused for one in done)
    yield from (f"refused {number:5} rows: {reason}" for reason, number in reasons.most_common())


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plan", action="append", default=[], help="rows of this plan; may be given again")
    parser.add_argument("--name", default="", help="rows whose 'plan name W=.. p1=..' this regular expression finds")
    parser.add_argument("--limit", type=int, default=0, help="at most so many rows, at even distances")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the machine")
    parser.add_argument("--each", action="store_true", help="print each row as it is done")
    parser.add_argument("--by", type=int, default=2, help="parts of names, split at colons, that make a group")
    given = parser.parse_args()
    machine = load(given.machine, {**WARM, **dict(one.split("=", 1) for one in given.set)})
    done, begun = [], time.monotonic()
    for row in wanted(rows(given.folder), given.plan, given.name, given.limit):
        done.append(outcome(given.folder, row, machine))
        if given.each:
            one = done[-1]
            what = one.refused or f"{row.measured:10.3f} {one.simulated:10.3f} {one.error:8.2f} %"
            print(f"{row!s:70} {what}", flush=True)  # noqa: T201
    ran, refused = [one for one in done if not one.refused], [one for one in done if one.refused]
    lines = [*(summary(ran, given.by) if ran else ()), *missing(refused)]
    print(*lines, f"{len(ran)} rows in {time.monotonic() - begun:.0f} s", sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
