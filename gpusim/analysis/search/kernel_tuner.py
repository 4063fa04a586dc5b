"""Files of Kernel Tuner: its cache file, T4 results, and the search space of a T1 file.

The formats are those of Kernel Tuner 1.5.0 (`util.process_cache`, the schemas T1/1.0.0 and T4/1.0.0 in its package).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from gpusim.analysis.search.bounded_expression import Ask, Budget, Value, built
from gpusim.support import whole_file
from isa.errors import UserError
from isa.reading import input_file

MOST = 1_000_000  # points of a cache, which holds the whole product
INVALID = "InvalidConfig"  # in place of the time of a point that can't run
T4_VERSION = "1.0.0"


@dataclass(frozen=True)
class Entry:
    """A point, its time, None if it can't run, and its other figures."""

    point: Mapping[str, Value]
    milliseconds: float | None
    gflops: float | None = None  # None where the kernel counts no operations


@dataclass(frozen=True)
class Space:
    """The search space of a T1 file: values by parameter, and the test whether a point is allowed."""

    values: Mapping[str, Sequence[Value]]
    allows: Callable[[Mapping[str, Value]], bool]


def write_cache(
    path: Path,
    device: str,
    kernel: str,
    size: Sequence[int],
    values: Mapping[str, Sequence[Value]],
    entries: Sequence[Entry],
) -> None:
    """Write a cache file for Kernel Tuner's simulation mode, which needs every point of the product.

    Points without an entry become points that can't run. `size` is that of the problem.
    Raises UserError if the product is too large, or the file can't be written.
    """
    if prod(len(each) for each in values.values()) > MOST:
        raise UserError(f"{path}: a cache has all points of the product, more than {MOST:,}; write T4 results instead")
    known = {_key(entry.point): entry for entry in entries}
    points = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
    cache = {_key(point): _cached(known.get(_key(point), Entry(point, None))) for point in points}
    content = {
        "device_name": device,
        "kernel_name": kernel,
        "problem_size": list(size),
        "tune_params_keys": list(values),
        "tune_params": values,
        "objective": "time",
        "cache": cache,
    }
    whole_file.write(path, msgspec.json.format(msgspec.json.encode(content), indent=0).decode() + "\n")


def write_t4(path: Path, entries: Sequence[Entry]) -> None:
    """Write T4 results of the entries; raises UserError where no file can be written."""
    content = {
        "results": [_result(entry) for entry in entries],
        "schema_version": T4_VERSION,
        "metadata": {"timeunit": "milliseconds"},
    }
    whole_file.write(path, msgspec.json.format(msgspec.json.encode(content)).decode() + "\n")


def read_t1(path: Path) -> Space:
    """Return the search space of a T1 file; raises UserError, with the fault, for any other file."""
    budget = Budget()
    try:
        content = msgspec.json.decode(input_file.read(path, "give a T1 file"))
        space = content["ConfigurationSpace"]
        given = {each["Name"]: each["Values"] for each in space["TuningParameters"]}
        values = {name: _values(path, name, some, budget) for name, some in given.items()}
        asked = [each["Expression"] for each in space.get("Conditions", ())]
        conditions = [_built(path, text, tuple(values), budget) for text in asked]
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError):
        hint = "give JSON with ConfigurationSpace.TuningParameters, each with Name and Values"
        raise UserError(f"{path}: is no T1 file; {hint}") from None
    return Space(values, lambda point: all(_evaluated(condition, point, f"{path}") for condition in conditions))


def _key(point: Mapping[str, Value]) -> str:
    return ",".join(map(str, point.values()))


def _times(entry: Entry) -> dict[str, Any]:
    """Kernel Tuner's times, of which all is in the one run."""
    names = "compile_time", "verification_time", "framework_time", "strategy_time"
    return dict.fromkeys(names, 0.0) | {"benchmark_time": entry.milliseconds or 0.0}


def _cached(entry: Entry) -> dict[str, Any]:
    if entry.milliseconds is None:
        return {**entry.point, "time": INVALID, "times": [], **_times(entry)}
    rate = {"GFLOP/s": entry.gflops} if entry.gflops else {}
    return {**entry.point, "time": entry.milliseconds, "times": [entry.milliseconds], **rate, **_times(entry)}


def _result(entry: Entry) -> dict[str, Any]:
    ran = entry.milliseconds is not None
    measured = [{"name": "time", "value": entry.milliseconds, "unit": "ms"}] if ran else []
    rate = [{"name": "GFLOP/s", "value": entry.gflops, "unit": "GFLOP/s"}] if entry.gflops else []
    names = "compilation", "framework", "search_algorithm", "validation"
    times = dict.fromkeys(names, 0.0) | {"benchmark": entry.milliseconds or 0.0}
    return {
        "configuration": entry.point,
        "times": {**times, "runtimes": [entry.milliseconds] if ran else []},
        "invalidity": "correct" if ran else "constraints",
        "correctness": 1,
        "measurements": measured + rate,
        "objectives": ["time"],
    }


def _values(path: Path, name: str, text: str | list[Value], budget: Budget) -> list[Value]:
    """The values of a parameter: a list of JSON, or as Python writes it, or a range."""
    found = _evaluated(_built(path, text, (), budget), {}, f"{path}: {name}") if isinstance(text, str) else text
    if not isinstance(found, list | tuple | range) or not all(isinstance(value, int | float | str) for value in found):
        raise UserError(f"{path}: {name}: {text} is no list of numbers or words; write [1, 2, 4]")
    return list(found)


def _built(path: Path, text: str, known: Sequence[str], budget: Budget) -> Ask:
    """An expression of some names as a function of their values."""
    try:
        return built(text, known, budget)
    except ValueError as error:
        raise UserError(f"{path}: {text}: {error}") from None


def _evaluated(ask: Ask, names: Mapping[str, Value], place: str) -> object:
    try:
        return ask(names)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise UserError(f"{place}: {error}; correct the expression") from None
