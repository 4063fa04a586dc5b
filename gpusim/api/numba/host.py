"""`numba.cuda` for a program without a GPU: kernels and arrays are gpusim's, what kernels name is Numba's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from gpusim.api.card.active import current
from gpusim.api.card.clock import Event
from gpusim.api.numba import random
from gpusim.api.numba.array import (
    DeviceArray,
    as_cuda_array,
    device_array,
    device_array_like,
    is_cuda_array,
    mapped,
    pinned,
    to_device,
)
from gpusim.api.numba.compiling import cuda as _numba
from gpusim.api.numba.kernel import jit
from gpusim.machine.architecture import number
from isa.errors import UserError

__all__ = [
    "In",
    "InOut",
    "Out",
    "as_cuda_array",
    "device_array",
    "device_array_like",
    "is_cuda_array",
    "jit",
    "mapped",
    "pinned",
    "random",
    "to_device",
]
pinned_array = mapped_array = managed_array = device_array
pinned_array_like = mapped_array_like = device_array_like
_REFUSED = "declare_device", "external_stream", "from_cuda_array_interface", "open_ipc_array", "reduce", "Reduce"


def In(ary: Any) -> Any:  # noqa: N802  (Numba's name)
    """Return a copy of an array, which a kernel may change."""
    return to_device(ary)


def Out(ary: Any) -> Any:  # noqa: N802  (Numba's name)
    """Return the array itself."""
    return ary


InOut = Out


def event(timing: bool = True) -> Event:
    """Return an event of the current card's simulated time."""
    return Event(current())


def event_elapsed_time(start: Event, end: Event) -> float:
    """Return the simulated milliseconds between two events."""
    return start.elapsed_time(end)


class _Stream:
    """The one stream."""

    handle = 0

    def synchronize(self) -> None:
        """Do nothing: launches are done when their call returns."""

    @contextmanager
    def auto_synchronize(self) -> Iterator[_Stream]:
        """Give the stream."""
        yield self


def stream() -> _Stream:
    """Return the one stream."""
    return _Stream()


default_stream = legacy_default_stream = per_thread_default_stream = stream


def synchronize() -> None:
    """Do nothing: launches are done when their call returns."""


close = profile_start = profile_stop = synchronize


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Do nothing."""
    yield


profiling = defer_cleanup


def is_available() -> bool:
    """Tell that there is a device."""
    return True


def get_current_device() -> SimpleNamespace:
    """Return the current card by the attributes that Numba's device has."""
    machine = current().machine
    return SimpleNamespace(
        id=0,
        name=machine.name,
        compute_capability=divmod(number(machine), 10),
        MULTIPROCESSOR_COUNT=machine.chip.sms,
        WARP_SIZE=machine.limits.warp_size,
        MAX_THREADS_PER_BLOCK=machine.limits.threads_per_block,
        MAX_SHARED_MEMORY_PER_BLOCK=machine.limits.shared_per_block,
        CLOCK_RATE=machine.chip.shader_mhz * 1000,
    )


def select_device(_device: int = 0) -> SimpleNamespace:
    """Return the one device."""
    return get_current_device()


def __getattr__(name: str) -> Any:
    """Return what `numba.cuda` has by a name, for kernels; raises UserError for what needs a GPU of its own."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _REFUSED:
        raise UserError(f"cuda.{name}: launches kernels, or needs a driver, of Numba's own; write it as a kernel")
    return getattr(_numba(), name)


__all__ += ["DeviceArray"]
