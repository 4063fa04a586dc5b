"""Search spaces: the points of a kernel's parameters that meet constraints, counted constraint by constraint.

A space lists its points as rows, in whole arrays, and a row may represent several points: parameters that no constraint
reads are kept as a count, the row's weight, and listed only for the points that are left in the end. In this way 10^21
points are pruned in a second (Kurzak, Tomov and Dongarra, "Autotuning GEMMs", PPAM 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.support import frozen

WEIGHT = "weight"  # the column with the number of points that a row represents
Column = NDArray[np.int64]
Columns = Mapping[str, Column]
Mask = NDArray[np.bool_]
Point = Mapping[str, int]
Size = tuple[int, int, int]


class Limits(Protocol):
    """The limits of one block and one SM, as in the CUDA C Programming Guide 4.2, table F-2.

    The limits of a machine of gpusim fit this protocol.
    """

    @property
    def warp_size(self) -> int:
        """Threads of a warp."""

    @property
    def threads_per_block(self) -> int:
        """Most threads of a block."""

    @property
    def blocks(self) -> int:
        """Most resident blocks of an SM."""

    @property
    def warps(self) -> int:
        """Most resident warps of an SM."""

    @property
    def threads(self) -> int:
        """Most resident threads of an SM."""

    @property
    def registers(self) -> int:
        """32-bit registers of an SM."""

    @property
    def registers_per_thread(self) -> int:
        """Most 32-bit registers of a thread."""

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of an SM."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A stage of the pruning: its condition in words, and a function for the rows that meet it.

    A hard one keeps what can run, a soft one what may be fast.
    """

    name: str
    kind: Literal["hard", "soft"]
    rule: str
    holds: Callable[[Columns, Limits], Mask]


@dataclass(frozen=True, slots=True)
class Stage:
    """The number of points left after a constraint and all before it."""

    name: str
    kind: Literal["", "hard", "soft"]
    rule: str
    left: int


@dataclass(frozen=True, slots=True)
class Published:
    """Published counts by stage, the limits for which they hold, and their source."""

    counts: Mapping[str, int]
    limits: Mapping[str, int]
    source: str


@dataclass(frozen=True, slots=True)
class Space:
    """A search space of a kernel of the catalog.

    `axes` are a point's numbers in order. `counted(limits)` gives the stages before the first constraint, which need no
    list; `rows(limits)` the rows that meet them, in pieces that fit memory; `points(columns)` writes rows out as
    [point, axis]. `parameters(point)` are the kernel's, as text, and `tile(point)` the part of an m, n, k problem that
    a block computes in one step of its loop. `winner` is the published one.
    """

    name: str
    kernel: str
    axes: tuple[str, ...]
    counted: Callable[[Limits], Sequence[Stage]]
    rows: Callable[[Limits], Iterable[Columns]]
    constraints: tuple[Constraint, ...]
    points: Callable[[Columns], Column]
    parameters: Callable[[Point], Mapping[str, str]]
    tile: Callable[[Point], Size]
    winner: Point | None = None
    published: Published | None = None


@frozen.comparable
@dataclass(frozen=True, slots=True)
class Pruned:
    """Every stage with its count, and the points left after the last, [point, axis] in ascending order."""

    stages: tuple[Stage, ...]
    points: Column


def prune(space: Space, limits: Limits, last: str | None = None) -> Pruned:
    """Count the points left by each constraint, up to the one named `last`, and list those left at the end.

    Raises UserError if no constraint has that name.
    """
    constraints = _up_to(space, last)
    left, kept = np.zeros(len(constraints), np.int64), [np.zeros((0, len(space.axes)), np.int64)]
    for rows in space.rows(limits):
        held = rows
        for i, constraint in enumerate(constraints):
            held = _where(constraint.holds(held, limits), held)
            left[i] += held[WEIGHT].sum()
        kept.append(space.points(held))
    stages = (Stage(c.name, c.kind, c.rule, int(count)) for c, count in zip(constraints, left, strict=True))
    points = np.concatenate(kept)
    return Pruned((*space.counted(limits), *stages), points[np.lexsort(points.T[::-1])])


def as_points(space: Space, points: Column) -> Iterator[Point]:
    """Yield each row of [point, axis] by the axes' names."""
    for row in points.tolist():
        yield dict(zip(space.axes, row, strict=True))


def survives(space: Space, point: Point, points: Column) -> bool:
    """Tell whether the point is among those listed."""
    return bool((points == [point[axis] for axis in space.axes]).all(axis=1).any())


def published_for(space: Space, limits: Limits) -> Mapping[str, int]:
    """Return the published counts by stage; none if they are for other limits."""
    known = space.published
    if known is None or any(getattr(limits, name) != value for name, value in known.limits.items()):
        return MappingProxyType({})
    return known.counts


def blocks_per_sm(limits: Limits, threads: Column, registers: Column, shared_bytes: Column) -> Column:
    """Return the resident blocks of so many threads, registers and bytes of shared memory, as the slides count.

    The count ignores the units in which registers and shared memory are allocated, and is limited by the SM's blocks
    and warps (Kurzak et al., "Occupancy Pruning").
    """
    warps = -(-threads // limits.warp_size)
    fits = limits.registers // registers, limits.shared_bytes // shared_bytes, limits.warps // warps
    found: Column = np.minimum.reduce([*fits, np.full_like(threads, limits.blocks)])
    return found


def whole_tiles(space: Space, point: Point, size: Size) -> Size:
    """Return the size, each of m, n and k rounded up to whole tiles of the point."""
    m, n, k = (-(-length // tile) * tile for length, tile in zip(size, space.tile(point), strict=True))
    return m, n, k


def arguments_at(space: Space, point: Point, size: Size, others: Mapping[str, str]) -> Mapping[str, str]:
    """Return the kernel's parameters at a point as text, the size in whole tiles, together with `others`.

    Raises UserError if `others` names a parameter that the point or the size sets.
    """
    sizes = {name: str(length) for name, length in zip("mnk", whole_tiles(space, point, size), strict=True)}
    fixed = sizes | dict(space.parameters(point))
    for name in fixed.keys() & others.keys():
        raise UserError(f"{name}={others[name]}: the space {space.name} sets it; leave it out")
    return fixed | dict(others)


def every(columns: Columns, _: Limits) -> Mask:
    """Return the mask of a constraint that all listed rows meet by construction."""
    return np.ones(len(columns[WEIGHT]), np.bool_)


def product(axes: Mapping[str, Sequence[int]]) -> Columns:
    """Return every combination of some numbers by axis, each row one point."""
    grids = np.meshgrid(*(np.array(values, np.int64) for values in axes.values()), indexing="ij")
    columns = {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
    return columns | {WEIGHT: np.ones_like(grids[0]).ravel()}


def _where(mask: Mask, columns: Columns) -> Columns:
    return {name: column[mask] for name, column in columns.items()}


def _up_to(space: Space, last: str | None) -> Sequence[Constraint]:
    names = [constraint.name for constraint in space.constraints]
    if last is None:
        return space.constraints
    if last not in names:
        raise UserError(f"{space.name}: {last} is no stage to stop after; choose one of {', '.join(names)}")
    return space.constraints[: names.index(last) + 1]
