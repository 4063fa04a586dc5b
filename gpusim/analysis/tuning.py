"""Tuning: every point of a search space simulated, as cheaply as its speed can be told, and ranked.

A trial is one SM with its share of the bandwidth, without values (replay, fast-forward), for as many whole waves of
resident blocks as its share of the grid has, a few at most. The rate is that of all SMs if each is as busy: neither
SMs that get a block more than others nor a last wave that is partly empty count.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import as_completed
from itertools import islice

import msgspec

from gpusim.analysis import rates
from gpusim.engines.simulate import run_sm
from gpusim.feed import REPLAY
from gpusim.machine import Machine
from gpusim.occupancy import occupancy
from gpusim.processes import cores, processes
from isa.errors import UserError
from isa.kernel import Kernel

WAVES = 3  # of resident blocks: the first, a last one, and one between

Point = Mapping[str, int]
Make = Callable[[str, Mapping[str, str]], Kernel]


class Trial(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A point and its GFLOP/s of the chip, from the shader cycles of so many blocks; or why it was not simulated."""

    point: dict[str, int]
    gflops: float = 0.0
    cycles: int = 0
    blocks: int = 0
    resident: int = 0  # blocks of an SM
    registers: int = 0  # of a thread
    reason: str = ""


class Candidate(msgspec.Struct, frozen=True):
    """A kernel's name with its parameters as text, at a point."""

    point: dict[str, int]
    kernel: str
    parameters: dict[str, str]


def trial(candidate: Candidate, make: Make, machine: Machine, waves: int = WAVES) -> Trial:
    """Simulate a point; `make(name, parameters)` builds its kernel. What either refuses is the trial's reason."""
    try:
        kernel = make(candidate.kernel, candidate.parameters)
        resident = occupancy(kernel, machine).blocks
        share = -(-kernel.blocks // machine.chip.sms)
        blocks = min(share, resident * max(1, min(waves, share // resident)))
        cycles = run_sm(kernel, machine, feed=REPLAY, blocks=blocks).cycles
    except UserError as error:
        return Trial(candidate.point, reason=str(error))
    whole = cycles * kernel.blocks / (blocks * machine.chip.sms)
    found = rates.gflops(kernel, machine, whole)
    return Trial(candidate.point, found, cycles, blocks, resident, kernel.program.registers)


def trials(
    candidates: Iterable[Candidate], make: Make, machine: Machine, *, waves: int = WAVES, workers: int | None = None
) -> Generator[Trial, None, None]:
    """Simulate each point, in any order, in so many processes; None: one for each core, which is the most.

    Raises UserError where a process is ended from outside.
    """
    workers, rest = workers or cores(), iter(candidates)
    for candidate in islice(rest, None if workers == 1 else 1):  # the first one here: the others find what it compiles
        yield trial(candidate, make, machine, waves)
    if not (others := list(rest)):
        return
    with processes(min(workers, len(others))) as pool:
        for done in as_completed([pool.submit(trial, candidate, make, machine, waves) for candidate in others]):
            yield done.result()


def ranking(found: Iterable[Trial]) -> list[tuple[int, Trial]]:
    """Return the trials that were simulated with their ranks, fastest first.

    Equals have the same rank, one more than there are faster ones, and come in the order of their points.
    """
    simulated = [each for each in found if not each.reason]
    order = sorted(simulated, key=lambda each: (-each.gflops, tuple(each.point.values())))
    ranks: dict[float, int] = {}
    return [(ranks.setdefault(each.gflops, place), each) for place, each in enumerate(order, 1)]
