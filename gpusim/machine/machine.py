"""A machine: the numbers of one GPU that the simulator needs, read from its file, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from gpusim.machine import file as machine_file
from gpusim.machine.checks import check
from gpusim.machine.facts import checked
from gpusim.machine.file import Fact, names
from gpusim.machine.schema import Machine
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.errors import UserError
from isa.row import Unit

__all__ = ["Fact", "File", "Machine", "build", "facts", "load", "names", "read"]


@dataclass(frozen=True)
class File:
    """What a machine file says, together with those that it extends: from it machines are built anywhere, any number.

    `key` is the machine's, `name` the file's; `strings` and `facts` are by dotted path.
    """

    key: str
    name: str
    strings: Mapping[str, str]
    facts: Mapping[str, Fact]


def load(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> Machine:
    """Return the machine of that name or file, with the values at some dotted paths replaced.

    Raises UserError: unknown machine or key, a number without source or outside its range, pipes that don't exist.
    """
    return build(read(name_or_path), overrides)


def read(name_or_path: str) -> File:
    """Return what the file of that machine says, unchecked; raises UserError for an unknown one, or what is no file."""
    path = machine_file.locate(name_or_path)
    return File(path.stem, path.name, *machine_file.read(path))


def build(file: File, overrides: Mapping[str, int | str] | None = None) -> Machine:
    """Return the machine of a file, with the values at some dotted paths replaced; raises UserError as `load` does."""
    found = checked(file.name, file.facts, overrides or {})
    _check_strings(file.name, file.strings)
    tree: dict[str, Any] = {"key": file.key, "pairing": {}, "category": {}, **file.strings}
    for key, fact in found.items():
        _plant(tree, key.split("."), fact.value)
    machine = msgspec.convert(tree, Machine)
    check(machine, found)
    return machine


@lru_cache(maxsize=1)
def every() -> tuple[Machine, ...]:
    """Return the machines that come with the simulator, in the order of their names."""
    return tuple(load(name) for name in names())


def facts(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> dict[str, Fact]:
    """Every number of a machine by dotted path, in the order of the schema; raises UserError as `load` does."""
    file = read(name_or_path)
    return checked(file.name, file.facts, overrides or {})


def peak_gflops(machine: Machine) -> float:
    """Single-precision peak of the chip in GFLOP/s, two operations per fused multiply-add (RR-7923 table 1)."""
    return _peak(machine, Unit.FP32)


def peak_fp64_gflops(machine: Machine) -> float:
    """Double-precision peak of the chip in GFLOP/s, two operations per fused multiply-add."""
    return _peak(machine, Unit.DP)


def bandwidth_gbs(machine: Machine) -> float:
    """DRAM bandwidth of the chip, 10^9 bytes per second."""
    return machine.chip.dram_mbs / 1000


def seconds(machine: Machine, cycles: float) -> float:
    """Time that so many shader cycles take."""
    return cycles / (machine.chip.shader_mhz * 1e6)


def _peak(machine: Machine, unit: Unit) -> float:
    return machine.chip.sms * lanes(machine, unit) * 2 * machine.chip.shader_mhz / 1000


def _plant(tree: dict[str, Any], parts: list[str], value: int | str) -> None:
    for part in parts[:-1]:
        tree = tree.setdefault(part, {})
    tree[parts[-1]] = value


def _check_strings(file: str, strings: Mapping[str, str]) -> None:
    for key in ("name", "generation"):
        if key not in strings:
            raise UserError(f'{file}:1:1: {key} is missing; add {key} = "..." at the top')
