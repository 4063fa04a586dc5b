"""Arrays as a kernel finds them: where elements lie along the axes of its loop, with as few axes as possible."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.api.struct import Struct
from isa.support import frozen

Array = NDArray[Any]
Shape = tuple[int, ...]


@frozen.comparable
@dataclass(frozen=True)
class Laid:
    """An array, its elements along each axis, and the bytes from one to the next; one axis at least."""

    array: Array
    shape: Shape
    strides: Shape

    @property
    def whole(self) -> bool:
        """Whether elements lie one behind another in the order of the axes."""
        step = self.array.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != step:
                return False
            step *= extent
        return True

    @property
    def c_type(self) -> str:
        """What follows the type of its elements in that of the array, in CUDA C."""
        return f"{len(self.shape)}, {str(self.whole).lower()}"

    def argument(self) -> Struct:
        """Return the struct that a kernel gets: address, elements, elements of each axis, steps of each axis."""
        count = int(np.prod(self.shape))
        data = struct.pack(f"<{2 + 2 * len(self.shape)}q", 0, count, *self.shape, *self.strides)
        return Struct(data, {0: self.array} if self.array.size else {})


def index(shape: Shape) -> Struct:
    """Return the struct by which a kernel counts elements of a shape."""
    return Struct(struct.pack(f"<{1 + 2 * len(shape)}q", int(np.prod(shape)), *shape, *[0] * len(shape)))


def own(array: Array) -> Laid:
    """Return an array along its own axes."""
    return Laid(array, array.shape or (1,), array.strides or (array.itemsize,))


def along(array: Array, shape: Shape, order: Sequence[int] = ()) -> Laid:
    """Return an array along the axes of a shape that it is broadcast to, then of these in another order."""
    wide = np.broadcast_to(array, shape)
    if not shape:
        return own(array)
    axes = order or range(len(shape))
    return Laid(array, tuple(shape[one] for one in axes), tuple(wide.strides[one] for one in axes))


def merged(laid: Sequence[Laid]) -> tuple[Shape, list[Laid]]:
    """Return the shape of a loop over arrays, and these, with axes joined that are one in all of them; one at least."""
    groups = list[list[int]]()
    for axis in (number for number, extent in enumerate(laid[0].shape) if extent != 1):
        if groups and all(one.strides[groups[-1][-1]] == one.strides[axis] * one.shape[axis] for one in laid):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    found = [_joined(one, groups) for one in laid]
    return found[0].shape, found


def _joined(one: Laid, groups: Sequence[Sequence[int]]) -> Laid:
    if not groups:
        return Laid(one.array, (1,), (one.array.itemsize,))
    shape = tuple(int(np.prod([one.shape[axis] for axis in group])) for group in groups)
    return Laid(one.array, shape, tuple(one.strides[group[-1]] for group in groups))
