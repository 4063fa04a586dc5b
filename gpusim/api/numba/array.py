"""Arrays as Numba's programs have them on a device: NumPy's, with the methods for the way to the host and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from isa.errors import UserError

Shape = int | tuple[int, ...]


class DeviceArray(np.ndarray[Any, Any]):
    """An array of NumPy that a program takes for one of the device."""

    def copy_to_host(self, ary: Any = None, stream: object = 0) -> Any:
        """Return a copy as a plain array of NumPy, or copy to `ary`, and return it."""
        if ary is None:
            return np.array(self, order="K", subok=False)
        ary[...] = self.view(np.ndarray)
        return ary

    def copy_to_device(self, ary: Any, stream: object = 0) -> None:
        """Copy an array into this one."""
        self[...] = np.asarray(ary)

    def is_c_contiguous(self) -> bool:
        """Tell whether elements lie one behind another, the last axis first."""
        return self.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Tell whether elements lie one behind another, the first axis first."""
        return self.flags.f_contiguous

    @property
    def alloc_size(self) -> int:
        """Bytes of its elements."""
        return self.nbytes


def to_device(obj: Any, stream: object = 0, copy: bool = True, to: Any = None) -> DeviceArray:
    """Return a copy of an array as one of the device, or copy it to the one given; without `copy` only room for it."""
    if to is not None:
        if copy:
            to.copy_to_device(obj)
        return to  # type: ignore[no-any-return]  # what was given
    found = np.array(obj, order="K", subok=False) if copy else np.zeros_like(np.asarray(obj))
    return found.view(DeviceArray)


def device_array(
    shape: Shape, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: object = 0, **_: Any
) -> DeviceArray:
    """Return an array of the device, of zeros, with the `strides` in bytes; raises UserError for unfit ones."""
    if strides is not None:
        return _strided(shape, np.dtype(dtype), strides)
    return np.zeros(shape, dtype, order).view(DeviceArray)


def _strided(shape: Shape, dtype: np.dtype[Any], strides: Shape) -> DeviceArray:
    """Return an array of zeros in as much memory as its strides reach."""
    sizes, steps = ((one,) if isinstance(one, int | np.integer) else tuple(one) for one in (shape, strides))
    if len(sizes) != len(steps) or min(steps, default=0) < 0:
        raise UserError(f"strides={strides!r}: give one for each axis of shape={shape!r}, 0 or more")
    nbytes = dtype.itemsize + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))
    return np.ndarray(sizes, dtype, np.zeros(nbytes if all(sizes) else 0, np.uint8), strides=steps).view(DeviceArray)


def device_array_like(ary: Any, stream: object = 0) -> DeviceArray:
    """Return an array of the device with the shape, type and order of another one, of zeros."""
    return np.zeros_like(np.asarray(ary)).view(DeviceArray)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return a view of an array as one of the device."""
    return np.asarray(obj).view(DeviceArray)


def is_cuda_array(obj: Any) -> bool:
    """Tell whether something is an array of the device."""
    return isinstance(obj, DeviceArray)


@contextmanager
def pinned(*_arrays: Any) -> Iterator[None]:
    """Do nothing: no copy takes time."""
    yield


@contextmanager
def mapped(*arrays: Any, **_: Any) -> Iterator[Any]:
    """Give views of arrays as ones of the device."""
    found = [as_cuda_array(one) for one in arrays]
    yield found[0] if len(found) == 1 else found
