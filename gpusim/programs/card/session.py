"""A program's card: what it has, and what it has done so far."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from gpusim.engines.simulate import Progress
from gpusim.machine.machine import Machine
from gpusim.programs.card import clock, modules, system
from gpusim.programs.card.arena import Arena
from gpusim.programs.card.clock import Clock
from gpusim.programs.card.launches import Runner
from gpusim.programs.channel import Reply
from isa.errors import UserError

Tell = Callable[[str], None]
Shown = Callable[[str], AbstractContextManager[Progress]]  # of a kernel's name, while a launch of it runs
MILLI = 1e3
STACK, PRINTED, HEAP = 0, 1, 2  # cudaLimit
SYSTEM = dict(zip((PRINTED, HEAP), system.NAMES, strict=True))


class RefusedError(UserError):
    """The program asks for what is not there."""


@dataclass(eq=False)
class Session:
    """A program's card: its launches, modules and kernels by number, its clock, and limits that the program set."""

    runner: Runner
    clock: Clock
    tell: Tell
    shown: Shown | None = None
    place: Callable[[int], str] = str  # of an address in the program
    loaded: dict[int, modules.Module] = field(default_factory=dict)
    kernels: dict[int, modules.Kernel] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=lambda: {STACK: 1024, PRINTED: 1 << 20, HEAP: 8 << 20})
    copied: int = 0  # bytes
    made: int = 0  # modules and kernels so far

    def next_number(self) -> int:
        """Return a number that no module or kernel of the program has had."""
        self.made += 1
        return self.made

    @property
    def arena(self) -> Arena:
        """Its memory."""
        return self.runner.arena

    @property
    def machine(self) -> Machine:
        """The machine that it is."""
        return self.runner.machine


Handler = Callable[[Session, tuple[int, ...], bytes], Reply]


def stream_of(number: int) -> int:
    """Return the number of a stream: handles 1 and 2 stand for the default one."""
    return clock.LEGACY if number in (1, 2) else number
