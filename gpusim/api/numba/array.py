"""Arrays as Numba's programs have them on a device: NumPy's, with the methods for the way to the host and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

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
    """Return an array of the device, of zeros."""
    if strides is not None:
        held = np.zeros(np.prod(shape, dtype=int), dtype)
        return np.lib.stride_tricks.as_strided(held, (shape,) if isinstance(shape, int) else shape, strides).view(
            DeviceArray
        )
    return np.zeros(shape, dtype, order).view(DeviceArray)


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
