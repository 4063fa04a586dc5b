"""The output of `gpusim tune FILE.toml`: a ranking for each machine, and what the winners do on the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, structs
from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account.figures import Figures
from gpusim.analysis.account.stalls import NO_WAIT
from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code.code_tuning import CodeTrial, slower
from gpusim.analysis.search.space_file import CodeSpace, Point
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.search.code import budget
from gpusim.commands.search.code.budget import Budgeted
from gpusim.commands.search.reasons import in_kinds
from gpusim.machine.machine import Machine
from gpusim.simulation.verify import UNCHECKED, Verification
from gpusim.sm.unit.stall import label
from gpusim.support.document import MachineKey, OfSettings, Setting, Settings, doc
from gpusim.support.plural import plural

STALLS_SHOWN = 2
_NO_WAIT = {label(one) for one in NO_WAIT}


@dataclass(frozen=True)
class Check:
    """Whether the fastest point computes what is expected, or why that could not be checked."""

    verification: Verification = UNCHECKED
    reason: Annotated[str, doc("Why the values could not be checked; empty if they were, or nothing is expected.")] = ""

    @property
    def wrong(self) -> int:
        """How many values are wrong."""
        return self.verification.wrong


@dataclass(frozen=True)
class OnMachine:
    """All trials on a machine in the order of the points, ranked, how many were on file, and the winner's values."""

    machine: Machine
    trials: Sequence[CodeTrial]
    order: Sequence[tuple[int, CodeTrial]]
    known: int
    check: Check
    budget: Budgeted | None = None

    @property
    def winner(self) -> CodeTrial:
        """The fastest point."""
        return self.order[0][1]


@dataclass(frozen=True)
class CodeOutcome:
    """A search space, how many points meet its restrictions, and what came out on each machine."""

    space: CodeSpace
    points: int
    machines: Sequence[OnMachine]


class RankedTrial(CodeTrial, frozen=True, kw_only=True):
    """A point, its rank, and its figures."""

    rank: int


class Unsimulated(Struct, frozen=True):
    """A point that was not simulated, and why."""

    point: dict[str, Value]
    reason: str


class Elsewhere(Struct, frozen=True):
    """What a machine's fastest point does on another machine."""

    machine: MachineKey
    rank: int
    slower: Annotated[float, doc("Percent more time than that machine's fastest point.")]


class StageSeconds(Struct, frozen=True):
    """CPU seconds of a stage of the trials."""

    trials: Annotated[int, doc("Trials that had it.")]
    total: float
    median: float
    most: float


class TunedMachine(Struct, frozen=True, kw_only=True):
    """The points ranked on one machine, fastest first."""

    machine: MachineKey
    architecture: str
    simulated: Annotated[int, doc("Points that could be simulated.")]
    launches: Annotated[int, doc("Launches of different machine code among them, each simulated once.")]
    median_milliseconds: float
    slowest_milliseconds: float
    ranking: Annotated[list[RankedTrial], doc("The fastest points.")]
    without: Annotated[list[Unsimulated], doc("Points that were not simulated.")]
    check: Annotated[Check, doc("The values of the fastest point.")]
    elsewhere: Annotated[list[Elsewhere], doc("The fastest point on the other machines, where it can run.")]
    stages: Annotated[dict[str, StageSeconds] | UnsetType, doc("By stage; present if asked for.")] = UNSET
    budget: Annotated[Budgeted | UnsetType, doc("What a budget was spent on; present if one was given.")] = UNSET


class TuneCodeDocument(OfSettings, frozen=True):
    """The points of a space file ranked by time, on each machine."""

    file: Annotated[str, doc("The space file.")]
    source: Annotated[str, doc("The CUDA source.")]
    set: Settings
    sizes: Annotated[dict[str, int | float], doc("Sizes of the problem.")]
    points: Annotated[int, doc("Points that meet the restrictions.")]
    machines: Annotated[list[TunedMachine], doc("What came out on each machine.")]


def document(outcome: CodeOutcome, settings: Mapping[str, Setting], top: int) -> TuneCodeDocument:
    """Return the document of an outcome, with so many of the fastest points of each machine."""
    space = outcome.space
    return TuneCodeDocument(
        file=str(space.path),
        source=str(space.source),
        set=settings,
        sizes=dict(space.sizes),
        points=outcome.points,
        machines=[_tuned(one, outcome.machines, top) for one in outcome.machines],
    )


def screen(outcome: CodeOutcome, top: int) -> Iterator[RenderableType]:
    """Yield the ranking of each machine, with so many of the fastest, and a table of the winners on all."""
    for one in outcome.machines:
        yield from _of_machine(outcome, one, top)
        yield ""
    if len(outcome.machines) > 1:
        yield "each machine's fastest point on the others: rank, and how much slower than their fastest\n"
        yield _exchanged(outcome.machines)


def stages(trials: Sequence[CodeTrial]) -> dict[str, StageSeconds]:
    """Return the CPU seconds of each stage of trials, those that take most first; empty if they were not counted."""
    spent: dict[str, list[float]] = {}
    for one in trials:
        for name, seconds in one.seconds.items():
            spent.setdefault(name, []).append(seconds)
    order = sorted(spent, key=lambda name: -sum(spent[name]))
    return {name: StageSeconds(len(s := spent[name]), sum(s), median(s), max(s)) for name in order}


def _spent(stages: Mapping[str, StageSeconds]) -> Table:
    whole = sum(one.total for one in stages.values())
    rows = [
        (
            name,
            one.trials,
            f"{one.total:.1f}",
            f"{100 * one.total / whole:.0f} %",
            f"{one.median:.3f}",
            f"{one.most:.3f}",
        )
        for name, one in stages.items()
    ]
    return new_table("stage", *right("trials", "total", "share", "median", "most"), rows=rows, tight=True)


def in_words(point: Point) -> str:
    """Return a point as name=value, in the order of the file."""
    return " ".join(f"{name}={value}" for name, value in point.items())


def _of_machine(outcome: CodeOutcome, one: OnMachine, top: int) -> Iterator[RenderableType]:
    space, machine = outcome.space, one.machine
    sizes = f", {in_words(dict(space.sizes))}" if space.sizes else ""
    yield f"{space.path.name} on {machine.key} ({machine.name}){sizes}\n"
    yield _ranking(one, top)
    on_file = f", {one.known:,} of them on file" if one.known else ""
    launches = f"{plural(_launches(one), 'launch', 'es')} of different machine code"
    yield f"\nsimulated: {len(one.order):,} of {plural(outcome.points, 'point')}{on_file}; {launches}"
    times = [_figures(each).milliseconds for _, each in one.order]
    yield from _estimated([each for _, each in one.order])
    yield f"ms: fastest {times[0]:.4g}, median {median(times):.4g}, slowest {times[-1]:.4g}"
    without = [each for each in one.trials if each.reason]
    yield from in_kinds([each.reason for each in without], [in_words(each.point) for each in without])
    yield f"values of the fastest: {_checked(one.check, space)}"
    if one.budget:
        yield from budget.screen(one.budget)
    if spent := stages(one.trials):
        yield "\nCPU seconds by stage:\n"
        yield _spent(spent)


def _estimated(simulated: Sequence[CodeTrial]) -> Iterator[str]:
    """Yield how many points have a time that follows from some of their blocks; they have a ~ in the table."""
    how = {"waves": "from whole waves", "work": "from whole waves of blocks that differ", "steady": "with steady loops"}
    counts = {method: sum(method in each.method.split("+") for each in simulated) for method in how}
    if any(counts.values()):
        told = ", ".join(f"{plural(n, 'point')} {how[method]}" for method, n in counts.items() if n)
        yield f"estimated (~): {told}"


def _checked(check: Check, space: CodeSpace) -> str:
    if check.reason:
        return f"not checked: {check.reason}"
    if check.verification.scope == "none":
        return "not checked: the file expects nothing"
    found = check.verification
    at = f", at {in_words({**space.sizes, **space.file.check})}" if space.file.check else ""
    if found.wrong:
        return f"WRONG: {found.wrong:,} of {plural(found.values, 'value')}; {found.first_wrong}{at}"
    error = f"errors up to {found.max_error:.2g}" if found.max_error else "exact"
    return f"right: {plural(found.values, 'value')} in {plural(found.blocks, 'block')}, {error}{at}"


def _ranking(one: OnMachine, top: int) -> Table:
    rated = next((name for name in ("gflops", "gbs") if any(_rate(each, name) for _, each in one.order)), "")
    unit = {"gflops": ["GFLOP/s"], "gbs": ["GB/s"]}.get(rated, [])
    figures = right("rank", "ms", *unit, "warps")
    bounded = any(_figures(each).bound_cycles for _, each in one.order)
    table = new_table(*figures, *["bound"] * bounded, "stall reasons", Column("point", overflow="fold"))
    for rank, each in one.order[:top]:
        found = _figures(each)
        rate = [f"{_rate(each, rated):.1f}"] if rated else []
        bound = [f"{found.bound_limiter} {100 * found.bound_cycles / found.cycles:.0f} %"] if bounded else []
        about = "" if each.method == "complete" else "~"
        cells = f"{rank}", f"{about}{found.milliseconds:.4g}", *rate, f"{each.occupancy:.0f} %"
        table.add_row(*cells, *bound, _stalls(found), in_words(each.point))
    return table


def _rate(each: CodeTrial, name: str) -> float:
    return each.gbs if name == "gbs" else _figures(each).gflops or 0.0


def _stalls(found: Figures) -> str:
    """The first reasons for which warps wait, with their share of the warp-cycles."""
    waits = [(reason, share) for reason, share in found.stalls.items() if reason not in _NO_WAIT]
    return ", ".join(f"{reason} {share:.0f} %" for reason, share in waits[:STALLS_SHOWN])


def _exchanged(machines: Sequence[OnMachine]) -> Table:
    table = new_table("fastest on", *(one.machine.key for one in machines), Column("point", overflow="fold"))
    for one in machines:
        cells = [_exchange(slower(one.winner.point, other.order)) for other in machines]
        table.add_row(one.machine.key, *cells, in_words(one.winner.point))
    return table


def _exchange(found: tuple[int, float] | None) -> str:
    return f"{found[0]}, {found[1]:.1f} %" if found else "can't run"


def _tuned(one: OnMachine, every: Sequence[OnMachine], top: int) -> TunedMachine:
    times = [_figures(each).milliseconds for _, each in one.order]
    elsewhere = [
        Elsewhere(other.machine.key, *found)
        for other in every
        if other is not one and (found := slower(one.winner.point, other.order))
    ]
    return TunedMachine(
        machine=one.machine.key,
        architecture=one.machine.architecture,
        simulated=len(one.order),
        launches=_launches(one),
        median_milliseconds=median(times),
        slowest_milliseconds=times[-1],
        ranking=[RankedTrial(rank=rank, **structs.asdict(each)) for rank, each in one.order[:top]],
        without=[Unsimulated(each.point, each.reason) for each in one.trials if each.reason],
        check=one.check,
        elsewhere=elsewhere,
        stages=stages(one.trials) or UNSET,
        budget=one.budget or UNSET,
    )


def _launches(one: OnMachine) -> int:
    return len({each.code for _, each in one.order})


def _figures(each: CodeTrial) -> Figures:
    assert each.figures is not None
    return each.figures
