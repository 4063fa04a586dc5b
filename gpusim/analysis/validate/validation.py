"""Published or measured figures of a machine beside simulated ones.

A point is one figure: the microbenchmark that measures it, the two values of a parameter between which the difference
is taken, so that time before and after a loop cancels, and its relation to the machine file:

* input: the figure, or the number it follows from directly, stands in the file; agreement proves the microbenchmark;
* fitted: a number of the file was fitted to it, or is it in whole cycles, without a loop's end;
* predicted: no number in the file comes from it. Only these are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from msgspec import structs

from gpusim.analysis.validate.errors import Errors, errors
from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import Machine
from isa.errors import UserError
from isa.kernel import Kernel

DIRECTORY = Path(__file__).parents[2] / "published"
Make = Callable[[str, Mapping[str, str]], Kernel]
Kind = Literal["input", "fitted", "predicted"]
Quantity = Literal["cycles per instruction", "thread instructions per cycle", "bytes per cycle"]


class PublishedPoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One figure and how it is measured, as files in `gpusim/published/` state it.

    `kernel` is run with `parameters` and each of the two values of `between`, or once as a whole; `per` names the
    mnemonics counted, all if it is empty. `hits` is the machine's `cache.hits` in the run; an SM that is `alone` has
    the whole chip's bandwidth; with `singly` schedulers issue one instruction in each turn. `confidence`: primary
    source, secondary, single weak one, recalled, derived, guess.
    """

    id: str
    what: str
    kernel: str
    parameters: dict[str, str]
    per: tuple[str, ...]
    quantity: Quantity
    value: float
    source: str
    confidence: Literal["H", "M", "L", "R", "D", "G"]
    kind: Kind
    between: dict[str, tuple[int, int]] = {}
    hits: Literal["none", "l1", "l2", "tags"] = "none"
    alone: bool = False
    singly: bool = False
    note: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    point: tuple[PublishedPoint, ...]


@dataclass(frozen=True)
class Outcome:
    """A point and its simulated figure."""

    point: PublishedPoint
    simulated: float

    @property
    def error(self) -> float:
        """(simulated - published) / published."""
        return self.simulated / self.point.value - 1


def published_points(machine: Machine) -> tuple[PublishedPoint, ...]:
    """Return the published figures of a machine; raises UserError where none are known."""
    path = DIRECTORY / f"{machine.key}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in DIRECTORY.glob("*.toml")))
        raise UserError(f"no published figures of {machine.key}; choose one of {known}")
    return msgspec.toml.decode(path.read_bytes(), type=_File).point


def outcomes(points: Sequence[PublishedPoint], machine: Machine, make: Make) -> Generator[Outcome, None, None]:
    """Simulate each point; `make(name, parameters)` builds its kernels."""
    for point in points:
        yield Outcome(point, _simulated(point, machine, make))


def _conditions(point: PublishedPoint, machine: Machine) -> Machine:
    """The machine as it was when the point was measured."""
    cache = machine.cache and structs.replace(machine.cache, hits=point.hits)
    chip = structs.replace(machine.chip, sms=1) if point.alone else machine.chip
    ports = 1 if point.singly else machine.schedulers.dispatch_ports
    schedulers = structs.replace(machine.schedulers, dispatch_ports=ports)
    return structs.replace(machine, cache=cache, chip=chip, schedulers=schedulers)


def summary(found: Sequence[Outcome]) -> dict[str, Errors]:
    """Return the errors of each kind that occurs."""
    kinds = {kind: [o.error for o in found if o.point.kind == kind] for kind in ("input", "fitted", "predicted")}
    return {kind: errors(each) for kind, each in kinds.items() if each}


def launches(point: PublishedPoint, machine: Machine, make: Make) -> list[tuple[Kernel, Machine]]:
    """Return the launches whose times give a point's simulated figure."""
    where = _conditions(point, machine)
    return [(make(point.kernel, parameters), where) for parameters in _parameters(point)]


def _simulated(point: PublishedPoint, machine: Machine, make: Make) -> float:
    runs = [_measured(*launch, point) for launch in launches(point, machine, make)]
    cycles, count = np.array(runs[-1]) - (np.array(runs[0]) if point.between else 0)
    if point.quantity == "thread instructions per cycle":
        return float(machine.limits.warp_size * count / cycles)
    return float(count / cycles if point.quantity == "bytes per cycle" else cycles / count)


def _parameters(point: PublishedPoint) -> list[dict[str, str]]:
    """The parameters of each run."""
    values = [{name: str(value)} for name, pair in point.between.items() for value in pair]
    return [{**point.parameters, **value} for value in values or [{}]]


def _measured(kernel: Kernel, machine: Machine, point: PublishedPoint) -> tuple[int, float]:
    """The cycles of the SM, and either the counted instructions (of one warp if the figure is cycles) or the bytes."""
    run = run_sm(kernel, machine, feed=TRACE_DRIVEN)
    counted = [
        pc
        for pc, instruction in enumerate(kernel.program.instructions)
        if not point.per or instruction.row.mnemonic in point.per
    ]
    if point.quantity == "bytes per cycle":
        size = np.array([kernel.program.instructions[pc].row.nbytes for pc in counted])
        return run.cycles, float(machine.limits.warp_size * (run.issued[counted] @ size))
    warps = kernel.warps * run.blocks if point.quantity == "cycles per instruction" else 1
    return run.cycles, int(run.issued[counted].sum()) / warps
