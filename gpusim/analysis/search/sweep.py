"""Sweeps of a kernel over parameters and variants of a machine; each point is simulated by itself, without values.

A point's row does not depend on where and in which order it is simulated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from random import Random
from typing import Literal

import msgspec

from gpusim.analysis.account.figures import Figures, figures
from gpusim.machine import machine as model
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation.simulation import simulate
from isa.errors import UserError
from isa.kernel import Kernel

MOST = 1_000_000  # points that are listed
KERNELS = 16  # that a process keeps for points to come
Build = Callable[[Mapping[str, str]], Kernel]


@dataclass(frozen=True)
class Axis:
    """A number of the machine, by its path, or a parameter of the kernel, and its values as text."""

    of: Literal["machine", "kernel"]
    name: str
    values: tuple[str, ...]


class SweepPoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value for each axis: settings of the machine, parameters of the kernel."""

    settings: dict[str, str]
    parameters: dict[str, str]

    @property
    def values(self) -> dict[str, str]:
        """All values by name: paths contain a dot, names of parameters do not."""
        return self.settings | self.parameters


class SweepRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A point and its figures, or the reason why there are none."""

    point: SweepPoint
    figures: Figures | None = None
    reason: str = ""


class SweepSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that a row depends on besides its point; `listing` and `facts` are hashes."""

    kernel: str
    listing: str
    machine: str
    facts: str
    max_cycles: int | None
    version: str
    estimate: float | None = None
    sms: Sms = 1


Allows = Callable[[SweepPoint], bool]


@dataclass(frozen=True)
class Subject:
    """The subject of a sweep: the function that builds the kernel from parameters as text, and the machine's file.

    `estimate`: percent by which cycles may be wrong; `sms` are simulated on so many `threads`, as for `simulate`.
    """

    build: Build
    file: model.File
    max_cycles: int | None = None
    estimate: float | None = None
    sms: Sms = 1
    threads: int | None = None


def row(point: SweepPoint, subject: Subject) -> SweepRow:
    """Simulate a point; if the kernel, the machine or the two together refuse it, the error is the row's reason."""
    try:
        return SweepRow(point, figures_at(point, subject))
    except UserError as error:
        return SweepRow(point, reason=str(error))


def figures_at(point: SweepPoint, subject: Subject) -> Figures:
    """Simulate a point; raises UserError if the kernel, the machine or the two together refuse it."""
    kernel = _kernel(subject.build, tuple(point.parameters.items()))
    machine = model.build(subject.file, point.settings)
    limit, percent, sms = subject.max_cycles, subject.estimate, subject.sms
    how = partial(simulate, values=False, max_cycles=limit, estimate=percent, sms=sms, threads=subject.threads)
    return figures(how(kernel, machine))


@lru_cache(KERNELS)
def _kernel(build: Build, parameters: tuple[tuple[str, str], ...]) -> Kernel:
    """Return a kernel, which points with its parameters share, and with it what follows from it alone (once.py)."""
    return build(dict(parameters))


def size(axes: Iterable[Axis]) -> int:
    """Return how many points the full product of the axes has."""
    return prod(len(axis.values) for axis in axes)


def points(
    axes: Sequence[Axis], draw: int | None = None, seed: int = 0, allows: Allows | None = None
) -> list[SweepPoint]:
    """Return the product of the axes, the last one varying fastest, or so many of its points, drawn by the seed.

    If `allows` is given, only points that it allows count. Raises UserError for more points than can be listed or drawn
    from, and if none is left.
    """
    total = size(axes)
    if draw is not None and min(draw, total) > MOST:
        raise UserError(f"--draw {draw}: more than {MOST:,} of {total:,} points; take fewer")
    if total > MOST and (allows or draw is None):
        raise UserError(f"{total:,} points are too many to list; take {'fewer' if allows else 'some with --draw N'}")
    if total > sys.maxsize:
        raise UserError(f"{total:.1e} points are too many to draw from; take fewer values")
    places: Sequence[int] = range(total)
    if allows and not (places := [index for index in places if allows(_at(axes, index))]):
        raise UserError(f"none of {total:,} points meets the conditions; take other values")
    chosen = places if draw is None or draw >= len(places) else sorted(Random(seed).sample(places, draw))
    return [_at(axes, index) for index in chosen]


def shuffled(some: Iterable[SweepPoint]) -> list[SweepPoint]:
    """Return the points in a fixed random order, so that the finished ones predict the time of the rest."""
    order = list(some)
    Random(0).shuffle(order)
    return order


def _at(axes: Sequence[Axis], index: int) -> SweepPoint:
    """The point at an index of the product."""
    chosen: dict[str, dict[str, str]] = {"machine": {}, "kernel": {}}
    for axis in reversed(axes):
        index, place = divmod(index, len(axis.values))
        chosen[axis.of][axis.name] = axis.values[place]
    return SweepPoint(*(dict(reversed(values.items())) for values in chosen.values()))


def key(point: SweepPoint) -> tuple[tuple[str, str], ...]:
    """Return a key that identifies a point, whatever the order of its values."""
    return tuple(sorted(point.values.items()))
