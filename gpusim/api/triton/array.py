"""Arguments of a launch: tensors and arrays as views of their whole memory, numbers as Triton types them.

Triton takes a pointer's type and address from an argument's `dtype` and `data_ptr()`, which NumPy's arrays lack; an
`Array` is a view of one that has both.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from isa.errors import UserError

SHORT = range(-(2**31), 2**31)  # whole numbers that Triton passes in 32 bits
KINDS = {"fp16": np.float16, "fp32": np.float32, "f32": np.float32, "fp64": np.float64, "i1": np.int8}
HALF = 16  # bits that a bfloat16 has less than a float32


class Array(np.ndarray[Any, Any]):
    """A NumPy array that a Triton kernel takes as a pointer to its first element."""

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return int(self.__array_interface__["data"][0])

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self.itemsize

    def numel(self) -> int:
        """Return the number of elements."""
        return self.size

    def stride(self, axis: int | None = None) -> Any:
        """Return the distance of neighbours along an axis, or of all, in elements."""
        found = tuple(step // self.itemsize for step in self.strides)
        return found if axis is None else found[axis]


def array(values: Any) -> Array:
    """Return a view of an array, or an array of these values, that a Triton kernel takes; it shares the memory."""
    return np.asarray(values).view(Array)


def passed(value: Any, kind: str) -> Any:
    """Return what a launch passes for an argument of one of Triton's types: an array, a NumPy scalar or bytes, or None.

    A pointer may be given as an `Array`, as a tensor of PyTorch in the host's memory, or as None. Raises UserError for
    another one.
    """
    if kind.startswith("*"):
        return None if value is None else _memory(value)
    return scalar(value, kind)


def behind(value: Any) -> NDArray[np.uint8]:
    """Return all bytes of a pointer's memory from its first element on, whatever the strides; raises UserError."""
    memory = _memory(value)
    root = memory
    while isinstance(root.base, np.ndarray):
        root = root.base
    place, stop = memory.__array_interface__["data"][0], byte_bounds(root)[1]
    return np.ctypeslib.as_array((ctypes.c_uint8 * (stop - place)).from_address(place))


def scalar(value: Any, kind: str) -> Any:
    """Return a number in the bytes of one of Triton's types, such as i32, u8, fp32 or bf16."""
    if kind == "bf16":
        return np.uint16(int(np.float32(value).view(np.uint32)) >> HALF)
    if kind in KINDS:
        return KINDS[kind](value)
    name = "uint" if kind.startswith("u") else "int"
    return np.dtype(f"{name}{kind[1:]}").type(value)


def _memory(value: Any) -> NDArray[Any]:
    """Return the bytes from a pointer's first element on, a view of all memory that it lies in."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if not hasattr(value, "untyped_storage"):
        base = getattr(value, "base", None)  # of a tensor that Triton reads as another type
        if base is not None:
            return _memory(base)
        raise UserError(f"{type(value).__name__}: no memory; give a tensor of PyTorch, or gpusim.triton.array(x)")
    if value.device.type != "cpu":
        raise UserError(f"a tensor on {value.device}: give one in the host's memory, on cpu")
    storage = value.untyped_storage()
    held = (ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr())
    return np.ctypeslib.as_array(held)[value.data_ptr() - storage.data_ptr() :]
