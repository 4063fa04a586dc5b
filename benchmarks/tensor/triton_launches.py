"""Launches of Triton kernels: what an H200 computed and how long it took, and the same simulated.

python -m benchmarks.tensor.triton_launches                           all launches of tests/measured/triton
python -m benchmarks.tensor.triton_launches FOLDER --name mm_f16 --counters
                                                                      41 more are in tests/measured/triton_further

FOLDER has `cases.json` or `cases.json.xz`, and `cubins.tar.xz`. Arrays are made as they were made; each output is
compared byte by byte, by its SHA-256. Cycles are those in which the busiest SM has a warp
(sm__cycles_active.max); `--caches cold` begins with an empty L2.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpusim
from gpusim.analysis.account.answer import Result
from isa.errors import UserError

FOLDER = Path(__file__).parent.parent.parent / "tests" / "measured" / "triton"
FURTHER = FOLDER.with_name("triton_further")
TYPES = {"float32": "f4", "float16": "f2", "bfloat16": "u2", "int8": "i1", "int32": "i4"}
SCRATCH = 2  # pointers to scratch memory at the end of the arguments, null here
STALLED = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
Array = NDArray[Any]
Case = Mapping[str, Any]


def cases(folder: Path) -> list[Case]:
    """Return the launches of a folder."""
    packed = folder / "cases.json.xz"
    text = lzma.decompress(packed.read_bytes()) if packed.exists() else (folder / "cases.json").read_bytes()
    found: list[Case] = json.loads(text)["cases"]
    return found


def cubin(folder: Path, case: Case) -> bytes:
    """Return the machine code of a launch."""
    with tarfile.open(folder / "cubins.tar.xz") as archive:
        file = archive.extractfile(f"{case['cubin']}.cubin")
        assert file
        return file.read()


def made(argument: Mapping[str, Any]) -> Array:
    """Return a tensor's elements as they lie in memory, in one dimension; bfloat16 by its bits."""
    how, kind = argument["made"], argument["dtype"].removeprefix("torch.")
    if not how:
        return np.zeros(argument["bytes"] // np.dtype(TYPES[kind]).itemsize, TYPES[kind])
    transposed, (way, seed, *rest) = how[0] == "transposed", how[how[0] == "transposed" :]
    generator = np.random.default_rng(seed)
    if way == "uniform":
        numbers: Array = generator.random(rest[0], np.float32) * 2 - 1
    else:
        numbers = generator.integers(0, rest[0], rest[1])
    stored = bf16(numbers) if kind == "bfloat16" else numbers.astype(TYPES[kind])
    return np.ascontiguousarray(stored.T if transposed else stored).reshape(-1)


def bf16(numbers: Array) -> NDArray[np.uint16]:
    """Return the upper halves of float32, to nearest even."""
    words = numbers.astype(np.float32).view(np.uint32)
    return ((words + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint16)


def sha256(array: Array) -> str:
    """Return the SHA-256 of an array's bytes."""
    return hashlib.sha256(array.tobytes()).hexdigest()


def arguments(case: Case) -> tuple[list[Any], dict[int, Array]]:
    """Return what the launch passes, and the arrays by their place among the kernel's parameters.

    Parameters that the compiler took as constants are not passed. A descriptor is a tensor map, its sizes and strides.
    """
    passed: list[Any] = []
    arrays: dict[int, Array] = {}
    kinds = list(case["signature"].values())
    for place, (argument, kind) in enumerate(zip(case["args"], kinds, strict=False)):
        if argument["kind"] != "scalar":
            arrays[place] = made(argument)
        if kind == "constexpr" or f"({place},)" in case["constants"]:
            continue
        if argument["kind"] == "tensor":
            passed.append(arrays[place])
        elif argument["kind"] == "descriptor":
            passed += _described(argument, arrays[place])
        else:
            passed.append(_scalar(kind, argument["value"]))
    return [*passed, *[None] * SCRATCH], arrays


def _scalar(kind: str, value: float) -> np.generic:
    """Return a number of the type of the signature."""
    return np.float32(value) if kind == "fp32" else np.dtype({"i32": "i4", "i64": "i8"}[kind]).type(value)


def _described(argument: Mapping[str, Any], array: Array) -> list[Any]:
    """Return a tensor map of the array, boxes as wide as its swizzle of 128 bytes at most; and sizes and strides."""
    size = array.dtype.itemsize
    *outer, inner = argument["block"]
    tensor = array.reshape(argument["shape"])
    described = gpusim.tensor_map(tensor, box=(*outer, min(inner, 128 // size)), swizzle="128B")
    return [described, *map(np.int32, argument["shape"]), *map(np.int64, argument["strides"])]


@dataclass(frozen=True)
class Outcome:
    """A launch as it was simulated: its result, the outputs by place, and whether each is the chip's to the bit."""

    case: Case
    result: Result
    arrays: Mapping[int, Array]

    @property
    def equal(self) -> dict[int, bool]:
        """Whether each output has the bytes that the chip left, by place."""
        return {
            int(place): sha256(self.arrays[int(place)]) == sha for place, sha in self.case["outputs_sha256"].items()
        }

    @property
    def error(self) -> float:
        """Cycles simulated over those of the chip less one, in percent."""
        measured: float = self.case["active_max"]
        return 100 * (self.result.cycles / measured - 1)


def simulated(folder: Path, case: Case, caches: str = "warm", **options: Any) -> Outcome:
    """Simulate a launch; raises UserError for code that is not executed. `options` are those of a RawFunction."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "triton.cubin"
        path.write_bytes(cubin(folder, case))
        module = gpusim.RawModule(path=path)
    passed, arrays = arguments(case)
    function = module.get_function(case["symbol"])
    grid, block = tuple(case["grid"]), (32 * case["warps"],)
    result = function(grid, block, passed, shared_mem=case["shared"], machine="h200", caches=caches, **options)
    return Outcome(case, result, arrays)


def counters(done: Outcome) -> Iterator[str]:
    """Yield instructions of the grid, and stall reasons of at least a hundredth of the time, here and by ncu."""
    from gpusim.analysis.validate.profiler import ncu_shares  # noqa: PLC0415  (not for those who ask for no counters)

    run, counted = done.result.run, done.case["counters"]
    instructions = run.warp_instructions * prod(done.case["grid"]) / run.blocks
    yield f"    instructions {instructions:12.0f} {counted['smsp__inst_executed.sum']:12.0f}"
    chip = {match[1]: value for name, value in counted.items() if (match := STALLED.fullmatch(name))}
    total = sum(chip.values())
    mine = ncu_shares(run.stalls, done.result.kernel.program)
    for name in sorted({*mine, *chip}, key=lambda one: -chip.get(one, 0)):
        here, there = 100 * mine.get(name, 0.0), 100 * chip.get(name, 0.0) / total
        if max(here, there) >= 1:
            yield f"    {name:24} {here:6.1f} % {there:6.1f} %"


def wanted(found: Sequence[Case], pattern: str) -> list[Case]:
    """Return the launches whose name matches."""
    return [case for case in found if re.search(pattern, case["name"])]


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--name", default="", help="launches whose name this regular expression finds")
    parser.add_argument("--caches", default="warm", help="warm or cold")
    parser.add_argument("--counters", action="store_true", help="instructions and stall reasons beside those of ncu")
    parser.add_argument("--time", action="store_true", help="no values of blocks beyond the simulated SM's")
    given = parser.parse_args()
    errors = []
    for case in wanted(cases(given.folder), given.name):
        begun = time.monotonic()
        try:
            done = simulated(given.folder, case, given.caches, complete=not given.time)
        except UserError as error:
            print(f"{case['name']:28} {str(error).splitlines()[0][:200]}", flush=True)  # noqa: T201
            continue
        errors.append(abs(done.error))
        cycles = f"{case['active_max']:10.0f} {done.result.cycles:10.0f} {done.error:8.2f} %"
        same = (
            ""
            if given.time
            else ", ".join(f"argument {i}: {'equal' if one else 'OTHER'}" for i, one in done.equal.items())
        )
        print(f"{case['name']:28} {cycles}  {same}  {time.monotonic() - begun:.1f} s", flush=True)  # noqa: T201
        if given.counters:
            print(*counters(done), sep="\n")  # noqa: T201
    if errors:
        print(f"{len(errors)} launches: mean {np.mean(errors):.2f} %, worst {max(errors):.2f} %")  # noqa: T201


if __name__ == "__main__":
    main()
