"""`gpusim tune`: simulate the points of a search space that meet its constraints, and rank them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Annotated

from msgspec import structs
from rich.console import RenderableType
from rich.table import Table
from typer import Option

from gpusim.analysis.account import report, run_document
from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.kernel_tuner import Entry
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.space_file import ENDING
from gpusim.analysis.search.tuning import WAVES, Candidate, Trial, Tuned, ranking, trial
from gpusim.commands.frame.arguments import changes, machine_of, overrides_of, pairs, refuse, whole_number
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.kernel_tuner_files import check_files, write_files
from gpusim.commands.frame.notices import Launched, ineffective_at_all
from gpusim.commands.frame.progress import begin_compiling, keep, keeping, of_run, shown, told
from gpusim.commands.run.run import WRONG_VALUES
from gpusim.commands.search.code.asked import MACHINE, CodeTuning, Task, given_of
from gpusim.commands.search.reasons import in_kinds
from gpusim.commands.search.space import LastStage, in_words
from gpusim.commands.search.tune_code import tune_code
from gpusim.machine.machine import File, Machine, read
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.support.document import Ineffective, MachineKey, OfSettings, Setting, Settings, doc
from gpusim.support.parallel.processes import as_done
from gpusim.support.plural import plural
from isa.errors import UserError
from workloads import catalog
from workloads.space import Point, Size, Space, arguments_at, as_points, prune
from workloads.spaces import find, make_space, split

SIZE = "960,960,960"


class Ranked(Trial, frozen=True, kw_only=True):
    """A point, its rank, GFLOP/s of the chip, and the shader cycles and blocks from which they follow."""

    rank: int


@dataclass(frozen=True)
class Refused:
    """A point that was not simulated, and why."""

    point: Point
    reason: str


class TuneDocument(OfSettings, frozen=True, tag=3):
    """The points of a search space ranked by speed, and the whole launch of the fastest, with values.

    Speeds are steady rates of the chip in 10^9 operations per second.
    """

    space: Annotated[str, doc("Name of the space.")]
    machine: MachineKey
    set: Settings
    size: Annotated[Size, doc("m, n and k of the problem, before they are rounded up to whole tiles.")]
    parameters: Annotated[Mapping[str, str], doc("The given parameters of the kernel that the space does not vary.")]
    waves: Annotated[int, doc("Most waves of resident blocks that are simulated for each point.")]
    points: Annotated[int, doc("Points that the constraints leave.")]
    simulated: Annotated[int, doc("Those of them that could be simulated.")]
    median_gflops: Annotated[float, doc("Speed of the median point.")]
    slowest_gflops: Annotated[float, doc("Speed of the slowest point.")]
    ranking: Annotated[list[Ranked], doc("The fastest points.")]
    published_rank: Annotated[int | None, doc("Rank of the published point; null if it is not among the points.")]
    without: Annotated[list[Refused], doc("Points that were not simulated.")]
    winner: Annotated[run_document.RunDocument, doc("The whole launch of the fastest.")]


@dataclass(frozen=True)
class _Tuning:
    """A tuning task: a space on a machine, at a size, with the texts of the kernel's other parameters."""

    space: Space
    machine: Machine
    size: Size
    others: Mapping[str, str]

    def candidate(self, point: Point) -> Candidate:
        """Return the kernel and its parameters at a point."""
        return Candidate(dict(point), self.space.kernel, dict(arguments_at(self.space, point, self.size, self.others)))


@dataclass(frozen=True)
class _Outcome:
    """All trials of the points, how many of them were on file, and the whole launch of the fastest with values."""

    trials: Sequence[Trial]
    known: int
    winner: Result

    @property
    def ranking(self) -> list[tuple[int, Trial]]:
        """The trials that were simulated with their ranks, fastest first."""
        return ranking(self.trials)


def tune(
    task: Task,
    code: CodeTuning,
    size: Annotated[
        str,
        Option("--size", metavar="M,N,K", help=f"Size of the problem, rounded up to whole tiles. [default: {SIZE}]"),
    ] = "",
    stage: LastStage = None,
) -> Answer:
    """Simulate every point of a search space that meets its constraints, rank all, and check the fastest one's values.

    A space file tunes a CUDA kernel, for one machine or several: its points are compiled, and simulated in time.
    With --budget 22 short trials choose among its points for the cost of 22 full ones; docs/tuning.md says more.

    Example: gpusim tune sgemm-lai --machine gtx580-1566 --top 5
    """
    name = task.name
    if name.endswith(ENDING):
        refuse({"--size": size}, f"{name} is a space file; give -p NAME=VALUE")
        refuse({"--stage": stage}, f"{name} is a space file, which has no stages; -p NAME=VALUE keeps fewer points")
        with keeping(task.out):
            return tune_code(task, code)
    refuse(given_of(code), f"for space files only; {name} is none")
    if len(task.machine) > 1:
        raise UserError(f"--machine {task.machine[1]}: only space files are tuned for several; give one")
    mine, others = split(name, pairs("-p", "name=value", task.parameter))
    where = machine_of(next(iter(task.machine), MACHINE), task.setting, None)
    tuning = _Tuning(make_space(name, mine), where, _size(size or SIZE), others)
    with keeping(task.out):
        return _tune_space(tuning, task, stage)


def _tune_space(tuning: _Tuning, task: Task, stage: str | None) -> Answer:
    """Tune a generated kernel."""
    wanted, machine = _candidates(tuning, stage), tuning.machine
    check_files(task.files)
    with results(task.out, _settings(tuning), Trial) as (kept, add):
        unfelt = _ineffective(wanted, machine.key, overrides_of(task.setting, None))
        begin_compiling()
        outcome = _outcome(tuning, wanted, kept, add, task.jobs)
    settings = changes(machine, task.setting)
    write_files(task.files, machine.key, tuning.space.kernel, tuning.size, *_entries(outcome.trials))
    return Answer(
        lambda: _document(tuning, outcome, settings, task.top),
        lambda: [*_screen(tuning, outcome, task.top), report.screen(outcome.winner, settings)],
        unfelt,
        WRONG_VALUES if outcome.winner.verification.wrong else 0,
    )


def _ineffective(wanted: Sequence[Candidate], machine: str, settings: Mapping[str, Setting]) -> Sequence[Ineffective]:
    """Return the settings that do nothing at any point, and report them on stderr; limits decide which points exist."""
    paths = [path for path in settings if not path.startswith("limits.")]
    return ineffective_at_all(_launches(wanted, read(machine), settings, paths), paths) if paths else ()


def _launches(
    wanted: Sequence[Candidate], file: File, settings: Mapping[str, Setting], paths: Sequence[str]
) -> Iterator[Launched]:
    """Yield the launches of points, without kernels that can't be built."""
    for each in wanted:
        with suppress(UserError):
            yield Launched(catalog.make(each.kernel, each.parameters), file, settings, paths)


def _size(text: str) -> Size:
    sizes = [size for size in map(whole_number, text.split(",")) if size]
    if len(sizes) != len("mnk") or len(text.split(",")) != len("mnk"):
        raise UserError(f"--size {text}: give three whole numbers from 1 up, such as {SIZE}")
    m, n, k = sizes
    return m, n, k


def _candidates(tuning: _Tuning, stage: str | None) -> list[Candidate]:
    """The candidate at each point that is left; raises UserError if none is left, or a parameter is not allowed."""
    kernel, where = tuning.space.kernel, tuning.machine.key
    _check_names(tuning)
    catalog.arguments(kernel, catalog.find(kernel).parameters, tuning.others)
    points = prune(tuning.space, tuning.machine.limits, stage).points
    if not len(points):
        raise UserError(f"{tuning.space.name}: no point is left on {where}; see `gpusim space`, and loosen with -p")
    return [tuning.candidate(point) for point in as_points(tuning.space, points)]


def _check_names(tuning: _Tuning) -> None:
    """Raise UserError for a name that is neither a number of the space nor a parameter that it does not vary."""
    mine = [each.name for each in find(tuning.space.name).parameters]
    kernels = [each.name for each in catalog.find(tuning.space.kernel).parameters]
    for name in tuning.others:
        if name not in kernels:
            free = [each for each in kernels if each not in tuning.space.axes]
            near = catalog.nearest(name, [*mine, *free])
            allowed = f"the space takes {', '.join(mine)}, its kernel {', '.join(free)}"
            raise UserError(f"{tuning.space.name}: no parameter {name}{near}; {allowed}")


def _settings(tuning: _Tuning) -> Tuned:
    return Tuned(
        space=tuning.space.name,
        machine=tuning.machine.key,
        facts=hash_of(tuning.machine),
        size=tuning.size,
        waves=WAVES,
        parameters=dict(tuning.others),
        version=version("gpusim"),
    )


def _outcome(
    tuning: _Tuning,
    wanted: Sequence[Candidate],
    kept: Sequence[Trial],
    add: Callable[[Trial], None],
    workers: int | None,
) -> _Outcome:
    """Simulate the points without a kept trial, then the whole launch of the fastest."""
    by_point = {tuple(each.point.values()): each for each in kept}
    known = [by_point[point] for each in wanted if (point := tuple(each.point.values())) in by_point]
    missing = [each for each in wanted if tuple(each.point.values()) not in by_point]
    simulated = as_done(partial(trial, make=catalog.make, machine=tuning.machine), missing, workers)
    found = told(f"tune {tuning.space.name}", keep(simulated, add), len(wanted), "point", known=known)
    return _Outcome(found, len(known), _checked(tuning, found))


def _checked(tuning: _Tuning, found: Sequence[Trial]) -> Result:
    """Simulate the whole launch of the fastest, with values; raises UserError where nothing could be simulated."""
    if not (order := ranking(found)):
        raise UserError(f"{tuning.space.name}: no point can be simulated; the first: {found[0].reason}")
    candidate = tuning.candidate(order[0][1].point)
    with shown(f"winner of {tuning.space.name}") as tell:
        return simulate(catalog.make(candidate.kernel, candidate.parameters), tuning.machine, progress=of_run(tell))


def _entries(found: Sequence[Trial]) -> tuple[dict[str, list[Value]], list[Entry]]:
    """The values that the points have on each axis, in ascending order, and the result at each point."""
    values: dict[str, list[Value]] = {name: sorted({each.point[name] for each in found}) for name in found[0].point}
    return values, [Entry(each.point, each.milliseconds or None, each.gflops) for each in found]


def _screen(tuning: _Tuning, outcome: _Outcome, top: int) -> Iterator[RenderableType]:
    name, m, n, k = tuning.space.name, *tuning.size
    yield f"{name} on {tuning.machine.key}, {m} x {n} x {k} in whole tiles: steady rates of the chip\n"
    yield _table(tuning, outcome, top)
    on_file = f", {outcome.known:,} of them on file" if outcome.known else ""
    yield f"\nsimulated: {len(outcome.ranking):,} of {plural(len(outcome.trials), 'point')}{on_file}"
    rates = [each.gflops for _, each in outcome.ranking]
    yield f"GFLOP/s: fastest {rates[0]:.1f}, median {median(rates):.1f}, slowest {rates[-1]:.1f}"
    yield from in_kinds([each.reason for each in outcome.trials if each.reason])
    yield "\nThe whole launch of the fastest, with values:\n"


def _table(tuning: _Tuning, outcome: _Outcome, top: int) -> Table:
    """The fastest points, and the published one wherever it ranks."""
    peak, rows = outcome.winner.peak_gflops, []
    for place, (rank, each) in enumerate(outcome.ranking):
        published = tuning.space.winner == each.point
        if place < top or published:
            figures = f"{each.gflops:.1f}", f"{100 * each.gflops / peak:.1f} %", each.resident, each.registers
            rows.append((rank, *figures, in_words(tuning.space, each.point) + " (published)" * published))
    return new_table(*right("rank", "GFLOP/s", "of peak", "blocks", "registers"), "point", rows=rows, tight=True)


def _document(tuning: _Tuning, outcome: _Outcome, settings: Mapping[str, int | str], top: int) -> TuneDocument:
    order = outcome.ranking
    published = [rank for rank, each in order if each.point == tuning.space.winner]
    return TuneDocument(
        space=tuning.space.name,
        machine=tuning.machine.key,
        set=settings,
        size=tuning.size,
        parameters=tuning.others,
        waves=WAVES,
        points=len(outcome.trials),
        simulated=len(order),
        median_gflops=median(each.gflops for _, each in order),
        slowest_gflops=order[-1][1].gflops,
        ranking=[Ranked(rank=rank, **structs.asdict(each)) for rank, each in order[:top]],
        published_rank=published[0] if published else None,
        without=[Refused(each.point, each.reason) for each in outcome.trials if each.reason],
        winner=run_document.document(outcome.winner, settings),
    )
