"""Grid, block and dynamic shared memory of a first draft: those that the source has, else what the code asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Launch
from isa.nvidia.host.launches import Written

THREADS = 128
EXTENTS = 1024, 128, 32  # threads along each axis of a launch of one, two or three dimensions, and what numbers are
_BLOCKS = {
    1: ([THREADS], [64], [32], [256], [512], [1024], [1]),
    2: ([16, 16], [32, 8], [8, 8], [32, 32], [32, 4], [4, 4], [1, 1]),
    3: ([8, 8, 4], [4, 4, 4], [8, 8, 8], [2, 2, 2], [1, 1, 1]),
}
_MOST_EXACT = 512  # __launch_bounds__ up to here are taken as what the block has; larger ones are often only a bound
_AXIS = {
    "TID": re.compile(r"\bSR_TID\.([YZ])"),
    "CTAID": re.compile(r"\bSR_CTAID\.([YZ])"),
}


@dataclass(frozen=True)
class Shape:
    """A launch's sizes, the number that counts of its data are guessed to be, and where they come from, in words."""

    grid: list[int]
    block: list[int]
    shared: int
    extent: int
    said: str = ""


def shapes(code: Code, name: str, written: Written | None) -> tuple[Shape, ...]:
    """Return the sizes that a kernel's launch may have, the likeliest first."""
    launch = code.cubin.functions[name].launch if code.cubin else None
    blocks = [list(written.block)] if written and written.block else _blocks(code, name, launch)
    return tuple(_shape(code, name, launch, written, block) for block in blocks)


def _shape(code: Code, name: str, launch: Launch | None, written: Written | None, block: list[int]) -> Shape:
    axes = max(_axes(code, name, "TID"), _axes(code, name, "CTAID"))
    extent = EXTENTS[axes - 1]
    threads = (*block, 1, 1)[:axes]
    grid = [max(1, extent // one) for one in threads]
    if written and written.grid:
        grid = list(written.grid)
        extent = min(size * unit for size, unit in zip((*grid, 1, 1)[:axes], threads, strict=True))
    shared = written.shared or 0 if written else 0
    return Shape(_of_clusters(grid, launch), block, shared, max(1, extent), _said(written))


def _said(written: Written | None) -> str:
    """Return in words what a source says of the sizes; empty where it has no launch."""
    if written is None:
        return ""
    first = f", the first of {written.others + 1}" if written.others else ""
    where = f"{written.text} in line {written.line}{first}"
    if not written.unread:
        return f"As in {where}."
    return f"Not all of {where} can be read: {'; '.join(written.unread)}. What isn't is guessed."


def _axes(code: Code, name: str, kind: str) -> int:
    """Return in how many dimensions code asks for the number of a thread or of a block."""
    found = [match[1] for one in code.sections[name].instructions if (match := _AXIS[kind].search(one.text))]
    return 3 if "Z" in found else 2 if "Y" in found else 1


def _blocks(code: Code, name: str, launch: Launch | None) -> Sequence[list[int]]:
    """Return the blocks that the code takes, the likeliest first."""
    axes, exact = _axes(code, name, "TID"), launch.exact_threads if launch else 0
    most = (launch.most_threads if launch else 0) or 1024
    if exact:
        return [_of(exact, axes)]
    said = [_of(most, axes)] if most <= _MOST_EXACT else []
    return [*said, *(one for one in _BLOCKS[axes] if prod(one) <= most and one not in said)]


def _of(threads: int, axes: int) -> list[int]:
    """Return a block of just so many threads, in so many dimensions."""
    found = [threads, *[1] * (axes - 1)]
    for axis in range(1, axes):
        while found[0] > 2 * found[axis] and found[0] % 2 == 0:
            found[0], found[axis] = found[0] // 2, 2 * found[axis]
    return found


def _of_clusters(grid: list[int], launch: Launch | None) -> list[int]:
    """Return a grid of whole clusters, where the code says how large they are."""
    units = launch.cluster if launch else ()
    axes = max(len(grid), *(axis + 1 for axis, unit in enumerate(units) if unit > 1), 1) if units else len(grid)
    sizes = (*grid, 1, 1)[:axes]
    return [size + -size % unit for size, unit in zip(sizes, (*units, 1, 1, 1), strict=False)]
