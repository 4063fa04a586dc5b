"""Tuning: each point of a search space is simulated as cheaply as its speed allows, and ranked.

A trial simulates one SM with its share of the bandwidth, without values (replay, fast-forward), for as many whole waves
of resident blocks as its share of the grid has, a few at most. The rate is that of all SMs if each is as busy: SMs
with one block more than others and a partly empty last wave do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

import msgspec

from gpusim.bounds import rates
from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import Machine, seconds
from gpusim.machine.occupancy import occupancy
from gpusim.support.document import doc
from isa.errors import UserError
from isa.kernel import Kernel

WAVES = 3  # of resident blocks: the first, a last one, and one between

Make = Callable[[str, Mapping[str, str]], Kernel]


class Trial(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A point and its GFLOP/s of the chip, from the shader cycles of so many blocks; or why it was not simulated."""

    point: dict[str, int]
    gflops: float = 0.0
    cycles: int = 0
    blocks: int = 0
    resident: Annotated[int, doc("Blocks resident on an SM.")] = 0
    registers: Annotated[int, doc("32-bit registers of a thread.")] = 0
    milliseconds: Annotated[float, doc("Time of the launch at that rate.")] = 0.0
    reason: str = ""


class Candidate(msgspec.Struct, frozen=True):
    """A kernel's name with its parameters as text, at a point."""

    point: dict[str, int]
    kernel: str
    parameters: dict[str, str]


class Tuned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a trial's result depends on besides its point; `facts` is the hash of the machine's numbers."""

    space: str
    machine: str
    facts: str
    size: tuple[int, int, int]
    waves: int
    parameters: dict[str, str]
    version: str


def trial(candidate: Candidate, make: Make, machine: Machine, waves: int = WAVES) -> Trial:
    """Simulate a point; `make(name, parameters)` builds its kernel. A refusal by either is the trial's reason."""
    try:
        kernel = make(candidate.kernel, candidate.parameters)
        resident = occupancy(kernel, machine).blocks
        share = -(-kernel.blocks // machine.chip.sms)
        blocks = min(share, resident * max(1, min(waves, share // resident)))
        cycles = run_sm(kernel, machine, feed=TRACE_DRIVEN, blocks=blocks).cycles
    except UserError as error:
        return Trial(candidate.point, reason=str(error))
    whole = cycles * kernel.blocks / (blocks * machine.chip.sms)
    found = rates.gflops(kernel, machine, whole) or 0.0
    milliseconds = 1000 * seconds(machine, whole)
    return Trial(candidate.point, found, cycles, blocks, resident, kernel.program.registers, milliseconds)


def ranking(found: Iterable[Trial]) -> list[tuple[int, Trial]]:
    """Return the trials that were simulated with their ranks, fastest first.

    Equals share a rank, one more than the number of faster trials, and keep the order of their points.
    """
    simulated = [each for each in found if not each.reason]
    order = sorted(simulated, key=lambda each: (-each.gflops, tuple(each.point.values())))
    ranks: dict[float, int] = {}
    return [(ranks.setdefault(each.gflops, place), each) for place, each in enumerate(order, 1)]
