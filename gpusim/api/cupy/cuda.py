"""What `cupy.cuda` is to a program: one device with one stream, and events of simulated time."""

from __future__ import annotations

from types import SimpleNamespace, TracebackType
from typing import Any, ClassVar, Self

from gpusim.api.card.active import current
from gpusim.api.card.clock import Event as Moment
from gpusim.api.cupy.launching import architecture


class _Entered:
    """Something that a `with` enters, which changes nothing."""

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Do nothing."""

    def use(self) -> Self:
        """Return this."""
        return self

    def synchronize(self) -> None:
        """Do nothing: launches are done when their call returns."""


class Stream(_Entered):
    """A stream: all are one, in the order of the calls."""

    null: ClassVar[Stream]
    ptr = 0
    done = True

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        """Take what a stream of CUDA is made with."""

    def record(self, event: Event | None = None) -> Event:
        """Note the present moment in an event, and return it."""
        found = event or Event()
        found.record()
        return found

    def wait_event(self, _event: Event) -> None:
        """Do nothing: it has come."""


Stream.null = Stream(null=True)


class Event(Moment):
    """A moment of the current card's simulated time."""

    done = True

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        """Begin with the present moment."""
        super().__init__(current())

    def record(self, stream: object = None) -> None:
        """Note the present moment."""
        self.card = current()
        super().record(stream)


class Device(_Entered):
    """The one device: the current card."""

    def __init__(self, device: int = 0) -> None:
        """Take its number."""
        self.id = device

    @property
    def compute_capability(self) -> str:
        """Its architecture, as 90."""
        return str(architecture())

    @property
    def attributes(self) -> dict[str, int]:
        """Counts and sizes, by CUDA's names."""
        machine = current().machine
        return {
            "MultiProcessorCount": machine.chip.sms,
            "MaxSharedMemoryPerBlock": machine.limits.shared_per_block,
            "MaxThreadsPerBlock": machine.limits.threads_per_block,
            "WarpSize": machine.limits.warp_size,
            "ClockRate": machine.chip.shader_mhz * 1000,
        }


def get_elapsed_time(start: Event, end: Event) -> float:
    """Return the simulated milliseconds between two events."""
    return start.elapsed_time(end)


def get_current_stream() -> Stream:
    """Return the one stream."""
    return Stream.null


def is_available() -> bool:
    """Tell that there is a device."""
    return True


runtime = SimpleNamespace(
    deviceSynchronize=lambda: None, getDevice=lambda: 0, setDevice=lambda _: None, getDeviceCount=lambda: 1
)
