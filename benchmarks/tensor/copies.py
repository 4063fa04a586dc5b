"""Times of copies, barriers in shared memory, clusters, and wgmma beside loads: as an H200 ran them, and here.

python -m benchmarks.tensor.copies                                        all rows; an hour
python -m benchmarks.tensor.copies --name 'bulk load.*blocks=1 ' --each
python -m benchmarks.tensor.copies --name '^mbarrier' --set mbarrier.look=2

The rows are those of gpusim/published/h200_copies.csv, the machine code that of tests/measured/tensor/copies.cu. Each
kernel runs its loop twice in a launch and times the second; a row is the difference of two launches over that of
their iterations, by the median of the blocks' or warps' times. Where a grid has more than one block and no clusters,
one SM stands for all.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpusim
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.machine.machine import Machine, load
from gpusim.machine.simulated_sms import mean
from isa.errors import UserError
from isa.kernel import Buffer, Dim3, Kernel
from isa.memory import bases, view
from isa.nvidia.abi import load as abi
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.file.code import Code
from isa.nvidia.tensor_map import TensorMap

PUBLISHED = Path(gpusim.__file__).parent / "published" / "h200_copies.csv"
CUBIN = Path(__file__).parent.parent.parent / "tests" / "measured" / "tensor" / "copies.cubin.xz"
WARM = {"cache.hits": "tags", "l2.filled": "1"}
SMS, LANES, MOST_CYCLES = 132, 32, 4_000_000
WORDS_OF_TIMES, MOST_TIMED = 6, 1024  # of a record: two clocks, the SM, and a number; and records
BIG = 200 * 1024  # bytes of dynamic shared memory
WIDTH, HALF = 1024, 2  # of a tensor: elements of a row, bytes of an element
ROWS = 4096  # of a tensor
SPAN = 8 << 20  # bytes of all bulk copies
SINK, UNROLLED = 1 << 16, 4
MAP_ALIGNMENT = 16  # a multiple of 64 in the constant bank, where parameters begin at 0x210
SWIZZLES = "none", "32B", "64B", "128B"
BULK = {"load + wait": 0, "store + wait 0": 1, "store + wait.read 0": 2, "add u32 + wait 0": 3}
STORES = {"tensor store + wait 0": (0, 0), "tensor store + wait.read 0": (0, 1), "tensor add f16 + wait 0": (1, 0)}
SIGNALS = (
    "arrive every thread", "arrive lane 0", "arrive.expect_tx 0 lane 0", "test_wait ready",
    "arrive and wait all threads", "arrive with state", "complete_tx lane 0", "fence.proxy.async", "fence.acq_rel.cta",
    "elect", "fence.mbarrier_init",
)  # fmt: skip
CLUSTERS = (
    "ld chain", "", "st throughput", "atom add chain", "cluster barrier", "remote arrive ping pong", "ld own chain",
    "st.async ping pong", "ld.v4 throughput", "ld.32 throughput",
)  # fmt: skip
ONCE = 4, 5, 7  # of these, those that an iteration has once
LAYOUTS = {  # of wgmma: whether A and B are MN-major; leading and stride bytes of both, and the swizzle
    "K-major 128B": (0, 0, 16, 1024, 1), "MN-major A and B 128B": (1, 1, 8192, 1024, 1),
    "MN-major B 128B": (0, 1, 16, 1024, 1), "K-major 64B": (0, 0, 16, 512, 2), "K-major 32B": (0, 0, 16, 256, 3),
    "K-major none packed": (0, 0, 128, 256, 0), "K-major none lbo 2048": (0, 0, 2048, 128, 0),
    "K-major none all rows equal banks sbo 1024": (0, 0, 128, 1024, 0), "MN-major 64B": (1, 1, 4096, 512, 2),
    "MN-major 32B": (1, 1, 4096, 256, 3), "MN-major none": (1, 1, 2048, 128, 0),
    "A equals B place": (0, 0, 16, 1024, 1), "128B unaligned start 16": (0, 0, 16, 1024, 1),
}  # fmt: skip
STARTS = {"A equals B place": (0, 0), "128B unaligned start 16": (32, 16384 + 32)}  # of A and B, else 0 and 16384
SHARED_LOADS = 1000, 8  # of a warp beside wgmma: iterations, and loads of each


class Row(NamedTuple):
    """What was timed, in which form, and the cycles that it took."""

    name: str
    form: str
    measured: float

    def __str__(self) -> str:
        """Return what tells it from others."""
        return f"{self.name} {self.form}"

    @property
    def numbers(self) -> dict[str, str]:
        """The form's numbers by name."""
        return dict(re.findall(r"([\w ]*\w)=(\S+)", self.form))

    def number(self, name: str, otherwise: int = 0) -> int:
        """Return one of them."""
        found = (value for key, value in self.numbers.items() if key.split()[-1] == name)
        return int(next(found, otherwise))


@dataclass(frozen=True)
class Launch:
    """A launch but for its iterations: of two launches with so many, the difference is divided by `operations`.

    `before` and `after` are arguments around them. `timed` warps or blocks wrote a record, `latest` counts their
    longest time, else it is the median.
    """

    symbol: str
    iterations: tuple[int, int]
    before: tuple[Value | str, ...] = ()
    after: tuple[Value | str, ...] = ()
    operations: int = 1
    grid: int = 1
    threads: int = LANES
    shared: int = BIG
    cluster: int = 1
    bytes: int = 4  # of the array `given`
    timed: range = range(1)
    latest: bool = False
    map: TensorMap | None = None


def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with PUBLISHED.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(line for line in file if line[0] != "#"))
    return tuple(Row(one["what"], one["form"], float(one["cycles"])) for one in lines)


def number(value: int, size: int = 4) -> Value:
    """Return a whole number as an argument."""
    return Value(value.to_bytes(size, "little"), size)


def launch(row: Row) -> Launch:
    """Return the launch of a row."""
    for beginning, made in MADE.items():
        if row.name.startswith(beginning):
            return made(row)
    raise ValueError(f"no kernel of {row.name}")


def _box(row: Row) -> tuple[int, int]:
    found = re.search(r"(\d+)x(\d+)", row.form)
    assert found
    return int(found[1]), int(found[2])


def _tensor(row: Row, height: int) -> TensorMap:
    """Return the map of a tensor of so many rows."""
    kind = {"u8": "uint8", "f32": "float32"}.get(row.form.split()[0], "float16")
    size = {"uint8": 1, "float32": 4}.get(kind, HALF)
    return TensorMap(kind, (WIDTH, height), (WIDTH * size,), _box(row), swizzle=SWIZZLES[row.number("swz")])


def _loads(row: Row) -> Launch:
    """Loads of boxes, so many under way."""
    _, high = _box(row)
    map_, blocks = _tensor(row, ROWS), row.number("blocks", 1)
    after = number(row.number("stages")), number(map_.box_bytes), number(high), number(ROWS - high), "times"
    return Launch(
        "_Z2tlILi2EEv14CUtensorMap_stiiiiiP3Rec", (8, 40), ("map",), after,
        grid=blocks, bytes=map_.nbytes, timed=range(blocks), map=map_,
    )  # fmt: skip


def _stores(row: Row) -> Launch:
    """Stores of boxes and additions, so many in a group."""
    operation, reads = STORES[row.name]
    _, high = _box(row)
    map_, blocks = _tensor(row, ROWS), row.number("blocks")
    after = number(row.number("group")), number(map_.box_bytes), number(high), number(ROWS - high), "times"
    return Launch(
        f"_Z2tsILi{operation}ELi{reads}EEv14CUtensorMap_stiiiiiP3Rec", (4, 20), ("map",), after,
        grid=blocks, bytes=map_.nbytes, timed=range(blocks), map=map_,
    )  # fmt: skip


def _bulk(row: Row) -> Launch:
    """Bulk copies of bytes."""
    what = row.name.removeprefix("bulk ").removesuffix(" L2")
    blocks, size = row.number("blocks"), row.number("bytes")
    after = number(size), number(SPAN, 8), "times"
    symbol = f"_Z2bkILi{BULK[what]}EEvPciimP3Rec"
    return Launch(symbol, (4, 20), ("given",), after, grid=blocks, bytes=SPAN, timed=range(blocks))


def _signals(row: Row) -> Launch:
    """Operations on a barrier, and fences."""
    warps, what = row.number("warps"), row.form.rpartition(" ")[0]
    symbol = f"_Z2mbILi{SIGNALS.index(what)}EEviP3RecPj"
    after = "times", "sink"
    return Launch(
        symbol, (4, 20), (), after, operations=UNROLLED, threads=LANES * warps, shared=1024, timed=range(warps)
    )


def _clusters(row: Row) -> Launch:
    """Accesses to other blocks, and barriers of clusters."""
    operation = CLUSTERS.index(row.form.partition(" cluster=")[0])
    blocks, threads = row.number("cluster"), row.number("threads")
    after = number(row.number("distance")), "times", "sink"
    return Launch(
        f"_Z2clILi{operation}EEviiP3RecPj", (4, 20), (), after, operations=1 if operation in ONCE else UNROLLED,
        grid=blocks, threads=threads, shared=16384, cluster=blocks, timed=range(blocks * threads // LANES),
    )  # fmt: skip


def _multicast(row: Row) -> Launch:
    """A box for blocks of a cluster, between barriers of it."""
    size, blocks = row.number("bytes"), row.number("blocks")
    map_ = TensorMap("float16", (WIDTH, 8192), (WIDTH * HALF,), (64, size // 128), swizzle="128B")
    after = number(size), number(row.number("mask")), "times"
    cluster = row.number("cluster")
    return Launch(
        "_Z2mc14CUtensorMap_stiiiP3Rec", (4, 20), ("map",), after, grid=blocks, cluster=cluster, bytes=map_.nbytes,
        timed=range(blocks), map=map_,
    )  # fmt: skip


def _products(row: Row) -> Launch:
    """Products of one or two warpgroups beside warps that load from shared memory; their cycles, or the loads'."""
    groups, others = row.number("warpgroups"), row.number("warps")
    layout = row.form.partition(" warpgroups=")[0]
    first, second, leading, stride, swizzle = LAYOUTS[layout]
    starts = STARTS.get(layout, (0, 16384))
    of_both = (start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62 for start in starts)
    iterations, loads = SHARED_LOADS
    after = number(groups), number(iterations if others else 0), *(number(one, 8) for one in of_both), "times", "sink"
    of_loads = row.name.startswith("lds")
    timed = range(4 * groups, 4 * groups + 1) if of_loads else range(4 * groups)
    return Launch(
        f"_Z2wlILi{first}ELi{second}EEviiimmP3RecPf", (0, 20) if of_loads else (4, 20), (), after,
        operations=iterations * loads if of_loads else 8, threads=LANES * (4 * groups + others), timed=timed,
        latest=True,
    )  # fmt: skip


MADE = {
    "tensor load": _loads,
    "tensor": _stores,
    "bulk": _bulk,
    "mbarrier": _signals,
    "cluster": _clusters,
    "multicast": _multicast,
    "wgmma": _products,
    "lds": _products,
}


@cache
def compiled() -> Code:
    """Return the machine code."""
    return code.of_cubin(lzma.decompress(CUBIN.read_bytes()), CUBIN.name)


def kernel(asked: Launch, iterations: int) -> Kernel:
    """Return a launch with so many iterations."""
    buffers = (
        Buffer("times", "u4", WORDS_OF_TIMES * MOST_TIMED),
        Buffer("given", "u4", -(-asked.bytes // 4)),
        Buffer("sink", "u4", SINK),
    )
    places: dict[str, Value] = {one.name: pointer(buffers, one.name) for one in buffers}
    if asked.map:
        address = int.from_bytes(places["given"].data, "little")
        places["map"] = Value(asked.map.encode(address), MAP_ALIGNMENT)
    values = [places[one] if isinstance(one, str) else one for one in (*asked.before, number(iterations), *asked.after)]
    cluster: Dim3 | None = (asked.cluster, 1, 1) if asked.cluster > 1 else None
    state = LaunchState(
        asked.symbol, (asked.grid, 1, 1), (asked.threads, 1, 1), asked.shared, sms=SMS, cluster=cluster,
        arguments=abi.arguments(compiled(), asked.symbol, values), buffers=buffers,
    )  # fmt: skip
    return abi.kernel(compiled(), state)


def cycles(asked: Launch, iterations: int, machine: Machine) -> float:
    """Return the cycles of a launch's second loop."""
    made = kernel(asked, iterations)
    if made.cluster_blocks > 1:
        run = run_chip(made, machine, sms=made.cluster_blocks, max_cycles=MOST_CYCLES)
    else:
        run = run_sm(made, mean(machine), max_cycles=MOST_CYCLES)
    records = view(run.memory, made.buffers[0], bases(made.buffers)["times"]).view(np.uint32)
    clocks = np.ascontiguousarray(records.reshape(-1, WORDS_OF_TIMES)[asked.timed, :4]).view(np.int64)
    taken = np.sort(clocks[clocks[:, 1] > 0] @ (-1, 1))
    return float(taken[-1] if asked.latest else taken[len(taken) // 2])


def simulated(row: Row, machine: Machine) -> float:
    """Return the figure of a row here; raises UserError for what is not executed."""
    asked = launch(row)
    few, many = asked.iterations
    if row.name.endswith("total"):
        return cycles(asked, few, machine)
    if row.name.startswith("lds"):
        return cycles(asked, many, machine) / asked.operations
    return (cycles(asked, many, machine) - cycles(asked, few, machine)) / (many - few) / asked.operations


def kind(row: Row) -> str:
    """Return the group of rows of which a table has a line."""
    what = row.form if row.name.startswith(("mbarrier", "cluster")) else row.name
    what = re.sub(r"( (warps|cluster)=| \S*=).*", "", what)
    alone = row.number("blocks", 1) == 1 or row.number("blocks") == row.number("cluster")
    return what if alone else f"{what}, all SMs"


def summary(errors: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield a line for each group of rows."""
    yield f"{'':44}   rows  median %    95th   worst    mean (signed)"
    for key, found in errors.items():
        size = np.abs(found)
        figures = f"{np.median(size):8.2f} {np.percentile(size, 95):8.2f} {size.max():8.2f} {np.mean(found):8.2f}"
        yield f"{key[:44]:44} {len(found):6} {figures}"


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="", help="rows that this regular expression finds")
    parser.add_argument("--limit", type=int, default=0, help="at most so many rows, at even distances")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the machine")
    parser.add_argument("--each", action="store_true", help="print each row as it is done")
    given = parser.parse_args()
    machine = load(given.machine, {**WARM, **dict(one.split("=", 1) for one in given.set)})
    chosen = [row for row in rows() if re.search(given.name, str(row))]
    if given.limit and given.limit < len(chosen):
        chosen = [chosen[i * len(chosen) // given.limit] for i in range(given.limit)]
    errors, begun = defaultdict(list), time.monotonic()
    for row in chosen:
        try:
            found = simulated(row, machine)
        except UserError as error:
            print(f"{row!s:80} {str(error).splitlines()[0]}", flush=True)  # noqa: T201
            continue
        error = 100 * (found / row.measured - 1)
        errors["all"].append(error)
        errors[kind(row)].append(error)
        if given.each:
            print(f"{row!s:80} {row.measured:10.2f} {found:10.2f} {error:8.2f} %", flush=True)  # noqa: T201
    print(*summary(errors), f"{len(errors['all'])} rows in {time.monotonic() - begun:.0f} s", sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
