"""The settings of a machine and the results of a launch, for tests of ineffective settings."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import msgspec

from gpusim.bounds.bounds import bound
from gpusim.bounds.rates import peak_gflops
from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine import machine as model
from gpusim.machine.facts import _pattern, _schema
from gpusim.machine.file import Fact
from gpusim.machine.machine import File, Machine
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from isa.errors import UserError
from isa.kernel import Kernel
from isa.row import Unit

MOST_CYCLES = 200_000


def as_file(machine: Machine) -> File:
    """Return a file of the machine's numbers."""
    tree = {name: part for name, part in msgspec.to_builtins(machine).items() if part is not None}
    strings = {name: tree.pop(name) for name in ("name", "generation", "architecture")}
    key = tree.pop("key")
    facts = {path: Fact(value, "a test", "guess", place=path) for path, value in _leaves(tree)}
    return File(key, f"{key}.toml", strings, facts)


def _leaves(tree: dict[str, Any], prefix: str = "") -> list[tuple[str, int | str]]:
    found = []
    for name, value in tree.items():
        found += _leaves(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return found


def others(path: str, value: int | str, machine: Machine) -> list[int | str]:
    """Return other values of a key: first larger and smaller ones, then near ones; all of a few words."""
    kind = _schema()[_pattern(path)]
    if get_origin(kind) is Literal:
        return [each for each in get_args(kind) if each != value]
    if kind is str:
        return [each for each in _words(path, machine) if each != value]
    limits, now = kind.__metadata__[0], int(value or 0)
    wanted = 2 * now + 1, now // 2, limits.ge, now + 37, 2 * now, now - 1, now + 1, 4 * now
    return [each for each in dict.fromkeys(wanted) if limits.ge <= each <= limits.le and each != value]


def _words(path: str, machine: Machine) -> list[str]:
    """Words that a key without a fixed choice may have."""
    if path == "schedulers.policy":
        return list(POLICY_NAMES)
    if path == "limits.register_unit_doubled":
        return ["", " ".join(map(str, range(256)))]
    if path.endswith(".pipe") or path.partition(".")[0] in ("joint", "blocked"):
        return [*machine.pipe, " ".join(list(machine.pipe)[:2])]
    if path.startswith("category."):
        return ["vector", "scalar"]
    return ["none", " ".join(machine.unit), "fp32 int", *([] if "unit" in path else list(Unit)[:3])]


def in_time(kernel: Kernel, machine: Machine) -> tuple[Any, ...]:
    """Return the results of a launch without values and bound: cycles and their reasons."""
    try:
        run = run_sm(kernel, machine, feed=TRACE_DRIVEN, max_cycles=MOST_CYCLES)
    except UserError as error:
        return type(error), str(error)
    arrays = run.issued, run.active, run.load_store_cycles, run.stalls, run.lost
    occupied = run.occupancy.blocks, run.occupancy.warps, run.occupancy.limiter
    return run.cycles, run.empty, run.pipe_cycles, *(each.tobytes() for each in arrays), occupied, _rates(machine)


def _rates(machine: Machine) -> tuple[float, ...]:
    return machine.chip.sms, machine.chip.shader_mhz, model.peak_gflops(machine), model.peak_fp64_gflops(machine)


def result(kernel: Kernel, machine: Machine) -> tuple[Any, ...]:
    """Return all results of a launch, to be compared as a whole: run, values, bound and the chip's rates."""
    try:
        run, least = run_sm(kernel, machine, max_cycles=MOST_CYCLES), bound(kernel, machine)
    except UserError as error:
        return type(error), str(error)
    arrays = (
        run.issued, run.active, run.load_store_cycles, run.stalls, run.lost, run.memory[: 1 << 16], run.registers,
    )  # fmt: skip
    occupied = run.occupancy.blocks, run.occupancy.warps, run.occupancy.limiter
    rates = machine.chip.sms, machine.chip.shader_mhz, peak_gflops(kernel, machine)
    return run.cycles, run.empty, run.pipe_cycles, *(each.tobytes() for each in arrays), occupied, least, rates
