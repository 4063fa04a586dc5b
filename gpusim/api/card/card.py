"""The simulated card: it executes and times launches, and has a clock of simulated time."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.analysis.account.answer import Result
from gpusim.analysis.account.figures import Figures, figures
from gpusim.api.raw_module import RawFunction
from gpusim.api.struct import Struct
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from isa.nvidia.file.names import plain

CLEARED_BYTES = 256 * 1024 * 1024  # of Triton's driver for CUDA
MEGA, MILLI = 10**6, 1000
KEPT = 4  # results, each with the memory of its launch


@dataclass(frozen=True)
class Launched:
    """A launch as it was simulated; `grid` counts blocks, `threads` are those of a block."""

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    figures: Figures = field(repr=False)

    @property
    def milliseconds(self) -> float:
        """Simulated time of the launch."""
        return self.figures.milliseconds


@dataclass(frozen=True, eq=False)
class Call:
    """What a launch passes to a kernel; `threads` are those of a block, in up to three dimensions.

    Messages call the arguments by `names`, if there are any. Blocks of a `cooperative` one may synchronise the grid.
    """

    function: RawFunction
    grid: tuple[int, int, int]
    threads: int | tuple[int, ...]
    shared: int
    arguments: tuple[Any, ...]
    cluster: tuple[int, ...] | None
    names: tuple[str, ...] = ()
    cooperative: bool = False

    def key(self) -> Hashable:
        """Return what says whether launches are alike: kernel, sizes, kind, numbers, and which arrays are the same."""
        places = [_place(one) for one in self.arguments]
        given = tuple((_identity(one), places.index(place)) for one, place in zip(self.arguments, places, strict=True))
        sizes = self.grid, self.threads, self.shared, self.cluster, self.cooperative
        return self.function.name, id(self.function.module), sizes, given


class Cleared:
    """The memory by which a benchmark of Triton clears the L2; as long as it lives, launches are only timed."""


@dataclass(eq=False)
class Card:
    """A machine with its clock, and the launches that it ran; a launch that a benchmark repeats is simulated once."""

    machine: Machine
    sms: Sms = 1
    values: bool = True
    launches: list[Launched] = field(default_factory=list)
    results: deque[Result] = field(default_factory=partial(deque, maxlen=KEPT), repr=False)  # of the last launches
    milliseconds: float = 0.0  # of simulated time, since the beginning
    cleared: weakref.ref[Cleared] | None = field(default=None, repr=False)
    cold: bool = field(default=False, repr=False)  # whether the L2 was cleared after the last launch
    known: dict[Hashable, float] = field(default_factory=dict, repr=False)
    folder: Path | None = None  # where the first of alike launches is written as a launch file
    captured: set[Hashable] = field(default_factory=set, repr=False)

    def benchmark(self) -> Cleared:
        """Begin a benchmark, which ends when nobody holds what is returned: launches are timed, memory stays as it is.

        A launch that comes again takes the time of the first one.
        """
        memory = Cleared()
        self.cleared, self.known = weakref.ref(memory), {}
        return memory

    def clear(self) -> None:
        """Clear the L2 as Triton does, by stores to 256 MB: that takes its time, and the next launch finds nothing."""
        self.milliseconds += CLEARED_BYTES / (self.machine.chip.dram_mbs * MEGA) * MILLI
        self.cold = True

    def launch(self, call: Call) -> Result | None:
        """Run a launch, let its time pass, and return how it ran; None of one that a benchmark repeats.

        Raises UserError as a call of `RawFunction` does.
        """
        timed_alone = self.cleared is not None and self.cleared() is not None
        cold, self.cold = self.cold, False
        key = call.key(), cold
        if timed_alone and key in self.known:
            self.milliseconds += self.known[key]
            return None
        if self.folder and call.key() not in self.captured:
            self._capture(call, self.folder, cold=cold)
        result = self._simulated(call, values=self.values and not timed_alone, cold=cold)
        took = self.launches[-1].milliseconds
        self.milliseconds += took
        if timed_alone:
            self.known[key] = took
        return result

    def _capture(self, call: Call, folder: Path, *, cold: bool) -> None:
        self.captured.add(call.key())
        call.function.capture(
            folder / f"{len(self.captured)}-{plain(call.function.name)}.toml",
            call.grid,
            call.threads,
            call.arguments,
            shared_mem=call.shared,
            cluster=call.cluster,
            cooperative=call.cooperative,
            caches="cold" if cold else "warm",
        )

    def _simulated(self, call: Call, *, values: bool, cold: bool) -> Result:
        result = call.function(
            call.grid,
            call.threads,
            call.arguments,
            shared_mem=call.shared,
            cluster=call.cluster,
            machine=self.machine,
            caches="cold" if cold else "warm",
            sms=self.sms,
            values=values,
            names=call.names,
            cooperative=call.cooperative,
        )
        self.results.append(result)
        self.launches.append(Launched(call.function.name, call.grid, int(np.prod(call.threads)), figures(result)))
        return result


def _place(argument: Any) -> Hashable:
    """Return an array's address, those of a struct, or None for a number."""
    if isinstance(argument, Struct):
        return tuple(_place(array) for array in argument.pointers.values())
    held = getattr(argument, "array", argument)  # of a tensor map
    return int(held.__array_interface__["data"][0]) if isinstance(held, np.ndarray) and held.ndim else None


def _identity(argument: Any) -> Hashable:
    """Return an array's shape, a struct's bytes, or a number."""
    if isinstance(argument, Struct):
        return bytes(argument.data), *map(_identity, argument.pointers.values())
    held = getattr(argument, "array", argument)
    if held is None:
        return None
    if not isinstance(held, np.ndarray | np.generic):
        return type(held), held
    return (held.dtype.str, held.shape) if held.ndim else (held.dtype.str, held.tobytes())
