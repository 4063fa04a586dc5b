"""`gpusim tune`: simulate what constraints leave of a search space, and rank it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType
from rich.table import Table

from gpusim.analysis import report
from gpusim.analysis.tuning import WAVES, Candidate, Trial, ranking, trials
from gpusim.analysis.tuning_file import Tuned, hash_of, results
from gpusim.commands.arguments import Json, MachineName, Overrides, changes, machine_of, pairs
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.commands.run import WRONG_VALUES
from gpusim.commands.space import LastStage, in_words
from gpusim.machine import Machine
from gpusim.plural import plural
from gpusim.simulation import Result, simulate
from isa.errors import UserError
from workloads import catalog
from workloads.space import Point, Size, Space, arguments_at, as_points, prune
from workloads.spaces import SPACES, make_space, split

SIZE = "960,960,960"


@dataclass(frozen=True)
class _Tuning:
    """What is tuned: a space on a machine, at a size, with the texts of the kernel's other parameters."""

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
    name: Annotated[str, typer.Argument(metavar="SPACE", help=f"A search space: {', '.join(SPACES)}.")],
    *,
    machine: MachineName = "c2050",
    size: Annotated[
        str, typer.Option("--size", metavar="M,N,K", help="Of the problem, rounded up to whole tiles.")
    ] = SIZE,
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the fastest to show.")] = 10,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="A number of the constraints, or of the kernel; repeatable."),
    ] = None,
    setting: Overrides = None,
    stage: LastStage = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Keep each result in a file, and go on from there.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="How many points at a time, at most one for each core.")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate every point that constraints leave of a search space, rank them, and check the fastest one's values.

    Example: gpusim tune sgemm-lai --machine gtx580-1566 --top 5
    """
    mine, others = split(name, pairs("-p", "name=value", parameter or ()))
    tuning = _Tuning(make_space(name, mine), machine_of(machine, setting or (), None), _size(size), others)
    wanted = _candidates(tuning, stage)
    with results(out, _settings(tuning)) as (kept, add):
        tell_of_compiling("compiled", "1")
        outcome = _outcome(tuning, wanted, kept, add, jobs)
    settings = changes(tuning.machine, setting or ())
    if json:
        write_json(_document(tuning, outcome, settings, top))
    else:
        show(*_screen(tuning, outcome, top), report.screen(outcome.winner, settings))
    if outcome.winner.verification.wrong:
        raise typer.Exit(WRONG_VALUES)


def _size(text: str) -> Size:
    sizes = text.split(",")
    if len(sizes) != len("mnk") or not all(size.isascii() and size.isdecimal() and int(size) for size in sizes):
        raise UserError(f"--size {text}: give three whole numbers from 1 up, such as {SIZE}")
    m, n, k = map(int, sizes)
    return m, n, k


def _candidates(tuning: _Tuning, stage: str | None) -> list[Candidate]:
    """What is simulated at each point that is left; raises UserError where none is, or a parameter is not allowed."""
    kernel, where = tuning.space.kernel, tuning.machine.key
    catalog.arguments(kernel, catalog.find(kernel).parameters, tuning.others)
    points = prune(tuning.space, tuning.machine.limits, stage).points
    if not len(points):
        raise UserError(f"{tuning.space.name}: no point is left on {where}; see `gpusim space`, and loosen with -p")
    return [tuning.candidate(point) for point in as_points(tuning.space, points)]


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
    """Simulate those points that no kept trial is of, then the whole launch of the fastest."""
    by_point = {tuple(each.point.values()): each for each in kept}
    found = [by_point[point] for candidate in wanted if (point := tuple(candidate.point.values())) in by_point]
    missing = [candidate for candidate in wanted if tuple(candidate.point.values()) not in by_point]
    known = len(found)
    with shown(f"tune {tuning.space.name}", "point") as tell:
        tell(known, len(wanted))
        with closing(trials(missing, catalog.make, tuning.machine, workers=workers)) as more:
            for each in more:
                add(each)
                found.append(each)
                tell(len(found), len(wanted))
    return _Outcome(found, known, _checked(tuning, found))


def _checked(tuning: _Tuning, found: Sequence[Trial]) -> Result:
    """Simulate the whole launch of the fastest, with values; raises UserError where nothing could be simulated."""
    if not (order := ranking(found)):
        raise UserError(f"{tuning.space.name}: no point can be simulated, the first as {found[0].reason}")
    candidate = tuning.candidate(order[0][1].point)
    with shown(f"winner of {tuning.space.name}") as tell:
        return simulate(catalog.make(candidate.kernel, candidate.parameters), tuning.machine, progress=tell)


def _screen(tuning: _Tuning, outcome: _Outcome, top: int) -> Iterator[RenderableType]:
    name, m, n, k = tuning.space.name, *tuning.size
    yield f"{name} on {tuning.machine.key}, {m} x {n} x {k} in whole tiles: steady rates of the chip\n"
    yield _table(tuning, outcome, top)
    on_file = f", {outcome.known:,} of them on file" if outcome.known else ""
    yield f"\nsimulated: {len(outcome.ranking):,} of {plural(len(outcome.trials), 'point')}{on_file}"
    rates = [each.gflops for _, each in outcome.ranking]
    yield f"GFLOP/s: fastest {rates[0]:.1f}, median {median(rates):.1f}, slowest {rates[-1]:.1f}"
    reasons = Counter(each.reason for each in outcome.trials if each.reason)
    for reason, count in reasons.most_common():
        yield f"not simulated: {plural(count, 'point')}: {reason}"
    yield "\nThe whole launch of the fastest, with values:\n"


def _table(tuning: _Tuning, outcome: _Outcome, top: int) -> Table:
    """The fastest points, and the published one wherever it ranks."""
    table = new_table(*right("rank", "GFLOP/s", "of peak", "blocks", "registers"), "point", tight=True)
    peak = outcome.winner.peak_gflops
    for place, (rank, each) in enumerate(outcome.ranking):
        published = tuning.space.winner == each.point
        if place < top or published:
            figures = f"{each.gflops:.1f}", f"{100 * each.gflops / peak:.1f} %", f"{each.resident}", f"{each.registers}"
            mark = " (published)" if published else ""
            table.add_row(f"{rank}", *figures, in_words(tuning.space, each.point) + mark)
    return table


def _document(tuning: _Tuning, outcome: _Outcome, settings: Mapping[str, int | str], top: int) -> dict[str, Any]:
    order = outcome.ranking
    published = [rank for rank, each in order if each.point == tuning.space.winner]
    return {
        "space": tuning.space.name,
        "machine": tuning.machine.key,
        "set": settings,
        "size": tuning.size,
        "parameters": tuning.others,
        "waves": WAVES,
        "points": len(outcome.trials),
        "simulated": len(order),
        "median_gflops": median(each.gflops for _, each in order),
        "slowest_gflops": order[-1][1].gflops,
        "ranking": [{"rank": rank, **to_builtins(each)} for rank, each in order[:top]],
        "published_rank": published[0] if published else None,
        "without": [{"point": each.point, "reason": each.reason} for each in outcome.trials if each.reason],
        "winner": report.document(outcome.winner, settings),
    }
