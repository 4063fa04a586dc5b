"""A tensor map as an argument of a kernel: a `const __grid_constant__ CUtensorMap` of a NumPy array.

f(grid, block, (gpusim.tensor_map(a, box=(128, 64), swizzle="128B"), c))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.nvidia import tensor_map as encoding
from isa.support import frozen


@frozen.comparable
@dataclass(frozen=True)
class TensorMapOfArray:
    """A NumPy array, and the map of it, which gets its address when the kernel is called."""

    array: NDArray[Any] = field(repr=False)
    map: encoding.TensorMap

    def encode(self, address: int) -> bytes:
        """Return the 128 bytes of the map for that address of the array; raises UserError."""
        try:
            return self.map.encode(address)
        except ValueError as error:
            raise UserError(f"a tensor map: {error}") from None


def tensor_map(
    array: NDArray[Any],
    *,
    box: Sequence[int],
    swizzle: str = "none",
    dtype: str = "",
    steps: Sequence[int] = (),
    interleave: str = "none",
    promotion: str = "none",
    fill: str = "zeros",
) -> TensorMapOfArray:
    """Return a tensor map of an array, as cuTensorMapEncodeTiled makes it, to be given to a kernel.

    Axes are in the order of the array: `box` has the elements of a box along each, `steps` the distances between those
    that are copied (elementStrides). Elements of the last axis follow each other. `swizzle` is none, 32B, 64B or
    128B; `fill`, for what is beyond the array, zeros or nan; `dtype` the type of elements if it is not the array's,
    such as bfloat16 of uint16 or tfloat32 of float32; `promotion` changes nothing here. Raises UserError for what the
    driver refuses.
    """
    if not isinstance(array, np.ndarray) or not array.size or not array.ndim:
        raise UserError(f"a tensor map of {type(array).__name__}; give a NumPy array with an element at least")
    kind = dtype or str(array.dtype)
    if kind not in encoding.ELEMENTS or encoding.ELEMENTS[kind][0] != array.itemsize:
        known = ", ".join(name for name, (size, _) in encoding.ELEMENTS.items() if size == array.itemsize)
        raise UserError(
            f"a tensor map with elements of {kind}, where the array has {array.dtype}; take {known or 'another array'}"
        )
    if array.strides[-1] != array.itemsize and array.shape[-1] > 1:
        raise UserError("a tensor map of an array whose last axis has gaps; copy it: numpy.ascontiguousarray")
    try:
        return TensorMapOfArray(
            array,
            encoding.TensorMap(
                dtype=kind,
                sizes=array.shape[::-1],
                strides=array.strides[-2::-1] if array.ndim > 1 else (),
                box=tuple(map(int, box))[::-1],
                steps=tuple(map(int, steps))[::-1],
                interleave=interleave,
                swizzle=swizzle,
                promotion=promotion,
                fill=fill,
            ),
        )
    except ValueError as error:
        raise UserError(f"a tensor map: {error}") from None
