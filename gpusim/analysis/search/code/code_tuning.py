"""Tuning of a CUDA kernel: each piece of machine code of a search space is simulated once on each machine, and ranked.

A trial simulates the SM with most work, with its share of the bandwidth, without values: all its blocks, or as many
whole waves of resident blocks as are affordable, two at least or a long one, from which the time of all follows, the
last, uneven wave included (gpusim/simulation/waves.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import msgspec

from gpusim.analysis.account.figures import Figures, figures
from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code.code_points import cubin_at, kernel
from gpusim.analysis.search.code.short_trial import predicted
from gpusim.analysis.search.space_file import CodeSpace, Point, at_check, moved
from gpusim.bounds.bounds import LIMIT
from gpusim.bounds.profiled import holds
from gpusim.launch.file.caches import asked
from gpusim.machine import machine as model
from gpusim.machine.architecture import number
from gpusim.machine.machine import File, Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation.asked import Sample
from gpusim.simulation.result import Result
from gpusim.simulation.sampled import DifferingBlocksError
from gpusim.simulation.simulation import simulate
from gpusim.simulation.verify import UNCHECKED, Verification
from gpusim.support.document import Setting, doc
from gpusim.support.stages import counted
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import on_chip

AFFORDABLE = 2_000_000  # warp instructions of a sample by default: half a second
STEADY = 3.0  # percent by which a sample's steady loops may be wrong; its time is by 0.4 (docs/performance.md)
LEAST = 1  # blocks of a sample whose blocks can't be measured beforehand; rounded up to two whole waves
ENOUGH = 200_000_000  # shader cycles of a kernel that may never end


class Short(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A short trial: the time that follows from so many warp instructions, and the CPU seconds that it took."""

    instructions: int
    milliseconds: Annotated[float | None, doc("Null where one SM can't stand for all, or work can't be counted.")]
    seconds: float


class CodeTrial(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A point on a machine and its figures; or why it was not simulated; neither if a budget left it out."""

    machine: str
    point: dict[str, Value]
    code: Annotated[str, doc("Digest of machine code and launch: points with the same were simulated once.")] = ""
    figures: Figures | None = None
    gbs: Annotated[float, doc("The file's bytes over the time, 10^9 per second; 0 where it says none.")] = 0.0
    occupancy: Annotated[float, doc("Percent of the SM's warp slots that resident blocks fill.")] = 0.0
    simulated_blocks: Annotated[
        int, doc("Blocks that were simulated, of those of the SM, or of all simulated SMs.")
    ] = 0
    blocks: Annotated[int, doc("Blocks of the SM with the most, or of all simulated SMs.")] = 0
    method: Annotated[
        str,
        doc(
            "complete, or how the time of all blocks follows from the simulated: waves, work; +steady: with loops at "
            "their mean cost."
        ),
    ] = ""
    reason: str = ""
    seconds: Annotated[dict[str, float], doc("CPU seconds by stage; present if asked for.")] = {}
    short: Annotated[list[Short], doc("Its short trials, the longest last; none without a budget.")] = []

    @property
    def left_out(self) -> bool:
        """Whether a budget let it have short trials alone."""
        return self.figures is None and not self.reason


class CodeTuned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a trial depends on besides machine and point; `file`, `source` and `facts` are hashes."""

    file: str
    source: str
    sizes: dict[str, int | float]
    facts: dict[str, str]
    sample: str
    sms: str
    bounded: bool
    version: str


@dataclass(frozen=True)
class Place:
    """A machine by its file, with the settings of the command line."""

    file: File
    settings: Mapping[str, Setting]

    def machine(self, launched: Kernel | None = None) -> Machine:
        """Return the machine, for a kernel's launch with the settings that it asks for."""
        wanted = asked(launched, self.file) if launched else {}
        return model.build(self.file, {**wanted, **self.settings})


@dataclass(frozen=True)
class Job:
    """Machine code to be simulated on a machine: its digest, its cubin, and a point that has it."""

    code: str
    cubin: bytes
    point: Point
    machine: str


@dataclass(frozen=True)
class How:
    """What of a launch is simulated: as for `simulate`; without a sample, as many blocks as are affordable.

    `counted`: with the CPU seconds of each stage.
    """

    sample: Sample = None
    sms: Sms = 1
    threads: int | None = None
    bounded: bool = False
    counted: bool = False


def trial(job: Job, space: CodeSpace, places: Mapping[str, Place], how: How) -> CodeTrial:
    """Simulate machine code on a machine; a refusal is the trial's reason."""
    if not how.counted:
        return _trial(job, space, places, how)
    with counted() as seconds:
        found = _trial(job, space, places, how)
    return msgspec.structs.replace(found, seconds=seconds)


def _trial(job: Job, space: CodeSpace, places: Mapping[str, Place], how: How) -> CodeTrial:
    try:
        launched = kernel(space, job.point, job.cubin)
        machine = places[job.machine].machine(launched)
        result = timed(launched, machine, how)
        bytes_moved = moved(space, job.point)
    except UserError as error:
        return CodeTrial(job.machine, dict(job.point), job.code, reason=str(error))
    found = figures(result)
    return CodeTrial(
        job.machine,
        dict(job.point),
        job.code,
        found,
        gbs=bytes_moved / found.milliseconds / 1e6,
        occupancy=100 * found.warps / machine.limits.warps,
        simulated_blocks=result.scaling.simulated_blocks,
        blocks=result.scaling.blocks_of_sm,
        method=result.scaling.method,
    )


def short_trial(job: Job, space: CodeSpace, places: Mapping[str, Place], instructions: int) -> CodeTrial:
    """Simulate the first instructions of machine code on a machine; a refusal is the trial's reason."""
    blank = CodeTrial(job.machine, dict(job.point), job.code)
    try:
        with counted() as seconds:
            launched = kernel(space, job.point, job.cubin)
            machine = places[job.machine].machine(launched)
            cycles = predicted(launched, machine, instructions)
    except UserError as error:
        return msgspec.structs.replace(blank, reason=str(error))
    time = None if cycles is None else 1000 * model.seconds(machine, cycles)
    return msgspec.structs.replace(blank, short=[Short(instructions, time, sum(seconds.values()))])


def timed(launched: Kernel, machine: Machine, how: How) -> Result:
    """Simulate a launch without values; all blocks of the SM where a few can't stand for them. Raises UserError."""
    launched, sample = on_chip(launched, machine.chip.sms), how.sample
    timing = partial(simulate, launched, machine, values=False, max_cycles=ENOUGH, bounded=how.bounded)
    if how.sms != 1 or sample == "all":
        sample = None
    elif sample is None:
        sample = holds(launched, machine, AFFORDABLE, LIMIT) or LEAST
    try:
        steady = None if sample is None else STEADY
        return timing(sample=sample, sms=how.sms, threads=how.threads, estimate=steady)
    except DifferingBlocksError:
        return timing()


def checked(space: CodeSpace, point: Point, place: Place) -> Verification:
    """Return whether a point computes what the file expects at the sizes of its check; raises UserError."""
    if not space.file.launch.expect:
        return UNCHECKED
    there = at_check(space)
    launched = kernel(there, point, cubin_at(there, point, number(place.machine())), expected=True)
    return simulate(launched, place.machine(launched), max_cycles=ENOUGH).verification


def shared(found: CodeTrial, points: Iterable[Point]) -> list[CodeTrial]:
    """Return a trial for each of the points that have its machine code and launch; the first has its seconds."""
    return [
        msgspec.structs.replace(found, point=dict(point), seconds={} if place else found.seconds)
        for place, point in enumerate(points)
    ]


def with_compilation(found: CodeTrial, seconds: float) -> CodeTrial:
    """Return a trial whose seconds, if counted, have those of its point's compilation."""
    return msgspec.structs.replace(found, seconds={"compile": seconds, **found.seconds})


def ranked(found: Iterable[CodeTrial]) -> list[tuple[int, CodeTrial]]:
    """Return the trials that were simulated with their ranks, fastest first.

    Equals share a rank, one more than the number of faster trials, and keep the order of their points.
    """
    order = sorted((each for each in found if each.figures), key=_milliseconds)
    ranks: dict[float, int] = {}
    return [(ranks.setdefault(_milliseconds(each), place), each) for place, each in enumerate(order, 1)]


def slower(point: Point, others: Sequence[tuple[int, CodeTrial]]) -> tuple[int, float] | None:
    """Return the rank of a point among the ranked trials of a machine, and the percent by which it is slower.

    None if it was not simulated there.
    """
    for rank, each in others:
        if each.point == point:
            return rank, 100 * (_milliseconds(each) / _milliseconds(others[0][1]) - 1)
    return None


def _milliseconds(each: CodeTrial) -> float:
    assert each.figures is not None
    return each.figures.milliseconds
