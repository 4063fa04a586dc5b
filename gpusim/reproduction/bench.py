"""The bench on which claims are computed: machines, kernels, and runs that several claims may share.

A claim's function requests runs from the bench as if they were done. If one is missing, the bench raises `Missing`, and
the ledger calls the function again once the run is done, in any process. So a function must request its runs in the
same order each time, and all that it can name together (`runs`), else they are done one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from gpusim.analysis.account.stalls import lost_slots
from gpusim.analysis.validate import validation
from gpusim.analysis.validate.validation import PublishedPoint
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation.asked import Sample
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.support.document import spelled
from isa.errors import UserError
from isa.kernel import Kernel
from workloads.catalog import make

F = TypeVar("F", bound=Callable[..., Any])
Launches = Callable[..., list[tuple[Kernel, Machine]]]
LAUNCHES: dict[Callable[..., Any], Launches] = {}  # by a job's function
Pairs = tuple[tuple[str, str], ...]  # names and values as text, sorted
Settings = Mapping[str, Mapping[str, str]]  # by machine, then by path
NONE: Mapping[str, object] = {}


@dataclass(frozen=True)
class Job:
    """A computation that claims may share: a function of a module, and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Done:
    """The result of a job, or the error that ended it, and the seconds that it took."""

    value: Any
    error: Exception | None
    seconds: float


class Missing(Exception):  # noqa: N818  (no error: the claim waits for these jobs)
    """Jobs that a claim needs and that are not done yet."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        super().__init__()
        self.jobs = tuple(jobs)


@dataclass(frozen=True)
class Run:
    """A kernel of the catalog on a machine: parameters, and numbers of the machine replaced for this run alone.

    `values` False finds time only. `sms` and `sample` are those of gpusim.simulate.
    """

    kernel: str
    machine: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    values: bool = True
    sms: Sms = 1
    sample: Sample = None


@dataclass(frozen=True)
class Measurement:
    """The results of a run: see simulation.simulation.Result; `issued` are warp instructions of the simulated blocks.

    `checked`: values were compared and are right. `lost` are cycles of unused issue slots by stall reason, `limits`
    those of the bound by resource.
    """

    cycles: int
    gflops: float
    percent_of_peak: float
    rate: float  # thread instructions per cycle and SM
    checked: bool
    issued: Mapping[str, int]
    lost: Mapping[str, int]
    limits: Mapping[str, int]
    blocks: int  # resident on an SM
    warps: int


@dataclass(frozen=True)
class Bench:
    """Machines with the settings of the command line, the jobs done so far, and what was requested, in order.

    `machines` and `jobs` are those requested.
    """

    settings: Settings = field(default_factory=dict)
    done: dict[Job, Done] = field(default_factory=dict)
    machines: dict[str, None] = field(default_factory=dict)
    jobs: dict[Job, None] = field(default_factory=dict)

    def separate(self) -> Bench:
        """Return a bench that shares settings and what is done with this one, but not what was requested."""
        return replace(self, machines={}, jobs={})

    def machine(self, key: str, settings: Mapping[str, object] = NONE) -> Machine:
        """Return the machine with the settings of `pairs`."""
        return _machine(key, self.pairs(key, settings))

    def pairs(self, key: str, settings: Mapping[str, object] = NONE) -> Pairs:
        """Return the command line's settings of a machine and, on top, what the claim itself sets for a run."""
        self.machines[key] = None
        return _texts({**self.settings.get(key, {}), **settings})

    def kernel(self, name: str, **parameters: object) -> Kernel:
        """Return a kernel of the catalog; raises UserError as `workloads.catalog.make` does."""
        return _kernel(name, _texts(parameters))

    def run(self, kernel: str, machine: str, **parameters: object) -> Measurement:
        """Return the results of the kernel with these parameters on the machine."""
        return self.runs(Run(kernel, machine, parameters))[0]

    def runs(self, *runs: Run) -> list[Measurement]:
        """Return the results of all these runs; missing ones are done in parallel."""
        return self.results(*(self._job(run) for run in runs))

    def point(self, machine: str, name: str) -> float:
        """Return the figure of that id among the machine's published ones, simulated as `gpusim validate` does."""
        return self.points(machine, name)[0]

    def points(self, machine: str, *names: str) -> list[float]:
        """Return several such figures."""
        pairs = self.pairs(machine)
        return [float(value) for value in self.results(*(Job(_point, (machine, pairs, name)) for name in names))]

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a module's function for arguments that can be hashed and sent to another process."""
        return self.results(Job(function, arguments))[0]

    def results(self, *jobs: Job) -> list[Any]:
        """Return the results of those jobs; raises Missing, or the error of one of them."""
        self.jobs.update(dict.fromkeys(jobs))
        missing = [job for job in dict.fromkeys(jobs) if job not in self.done]
        if missing:
            raise Missing(missing)
        for job in jobs:
            if (error := self.done[job].error) is not None:
                raise error
        return [self.done[job].value for job in jobs]

    def fitted(self, machine: str, to: str) -> str:
        """Say how many parameters of the machine were fitted to the data whose name contains `to`.

        Raises ValueError if none was.
        """
        count = sum(fact.method == "fitted" and to in fact.to for fact in model.facts(machine).values())
        if not count:
            raise ValueError(f"no parameter of {machine} was fitted to {to}")
        return f"{count} parameter{'s' * (count != 1)} on {to}"

    def _job(self, run: Run) -> Job:
        pairs = self.pairs(run.machine, run.settings)
        arguments = run.kernel, _texts(run.parameters), run.machine, pairs, run.values, run.sms, run.sample
        return Job(measured, arguments)


def perform(job: Job) -> Done:
    """Do a job, and time it."""
    start = perf_counter()
    try:
        return Done(job.function(*job.arguments), None, perf_counter() - start)
    except Exception as error:
        return Done(None, error, perf_counter() - start)


def simulates(launches: Launches) -> Callable[[F], F]:
    """Return a decorator: the result of this job's function follows from these launches, given its arguments, alone.

    So a job with a setting that they can't feel need not be done. `launches` raises UserError for an impossible one.
    """

    def enter(function: F) -> F:
        LAUNCHES[function] = launches
        return function

    return enter


def launches(job: Job) -> list[tuple[Kernel, Machine]]:
    """Return what a job simulates; nothing if that isn't known. Raises UserError for an impossible launch."""
    known = LAUNCHES.get(job.function)
    return known(*job.arguments) if known else []


def of_time(job: Job) -> Job:
    """Return the job that finds the same times, and leaves out the check of values."""
    if job.function is not measured:
        return job
    *launch, _, sms, sample = job.arguments
    return replace(job, arguments=(*launch, False, sms, sample))


def _run(kernel: str, parameters: Pairs, machine: str, settings: Pairs, *_: object) -> list[tuple[Kernel, Machine]]:
    return [(_kernel(kernel, parameters), _machine(machine, settings))]


@simulates(_run)
def measured(
    kernel: str, parameters: Pairs, machine: str, settings: Pairs, values: bool, sms: Sms, sample: Sample
) -> Measurement:
    """Simulate a run and return its results; raises UserError if it computes wrong values."""
    found = simulate(_kernel(kernel, parameters), _machine(machine, settings), values=values, sms=sms, sample=sample)
    if found.verification.wrong:
        raise UserError(f"{kernel} on {machine}: wrong values; see `gpusim run {kernel} --machine {machine}`")
    return Measurement(
        cycles=found.cycles,
        gflops=found.gflops or 0.0,
        percent_of_peak=found.percent_of_peak or 0.0,
        rate=found.thread_instructions_per_cycle,
        checked=found.verification.verified,
        issued=_issued(found),
        lost=lost_slots(found.run),
        limits=dict(found.bound.limits) if found.bound else {},
        blocks=found.occupancy.blocks,
        warps=found.occupancy.warps,
    )


def _issued(found: Result) -> dict[str, int]:
    """Warp instructions by mnemonic."""
    names = np.array([instruction.row.mnemonic for instruction in found.kernel.program.instructions])
    return {str(name): int(found.run.issued[: len(names)][names == name].sum()) for name in np.unique(names)}


def _runs_of_point(machine: str, settings: Pairs, name: str) -> list[tuple[Kernel, Machine]]:
    where = _machine(machine, settings)
    return validation.launches(_published(where, name), where, make)


@simulates(_runs_of_point)
def _point(machine: str, settings: Pairs, name: str) -> float:
    where = _machine(machine, settings)
    (outcome,) = validation.outcomes([_published(where, name)], where, make)
    return outcome.simulated


def _published(machine: Machine, name: str) -> PublishedPoint:
    (point,) = (point for point in validation.published_points(machine) if point.id == name)
    return point


def _texts(values: Mapping[str, object]) -> Pairs:
    """Parameters as text of the command line."""
    return tuple(sorted((name, spelled(value)) for name, value in values.items()))


@cache
def _machine(key: str, settings: Pairs) -> Machine:
    return model.load(key, dict(settings))


@cache
def _kernel(name: str, parameters: Pairs) -> Kernel:
    return make(name, dict(parameters))
