"""The ledger computes every claim, does shared runs once, and gives rows in the order of the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TypedDict

from gpusim.reproduction.bench import Bench, Done, Job, Missing, Settings
from gpusim.reproduction.claims import Claim
from gpusim.reproduction.cme213 import cme213, cme213_cublas, cme213_memory, cme213_throughput
from gpusim.reproduction.finding import KINDS, Finder, Finding, Verdict, judge, not_computed
from gpusim.reproduction.kurzak import kurzak_hardware, kurzak_space, kurzak_speed, kurzak_stencil
from gpusim.reproduction.lai import lai_bound, lai_figures, lai_limits, lai_sgemm, lai_table
from gpusim.reproduction.pages.plot import Plotter
from gpusim.reproduction.tan import tan, tan_cublas, tan_figures, tan_runs, tan_schedule, tan_whatif
from gpusim.reproduction.tasks import Task, completed
from gpusim.reproduction.vega import vega_access, vega_energy, vega_kernel, vega_listing, vega_speed
from gpusim.support.parallel.processes import processes

MODULES = (
    lai_bound,
    lai_figures,
    lai_limits,
    lai_sgemm,
    lai_table,
    kurzak_space,
    kurzak_hardware,
    kurzak_stencil,
    kurzak_speed,
    cme213,
    cme213_cublas,
    cme213_memory,
    cme213_throughput,
    vega_access,
    vega_energy,
    vega_kernel,
    vega_listing,
    vega_speed,
    tan,
    tan_cublas,
    tan_figures,
    tan_runs,
    tan_schedule,
    tan_whatif,
)
FINDERS: Mapping[str, Finder] = dict(each for module in MODULES for each in vars(module).get("CLAIMS", {}).items())
PLOTS: Mapping[str, Plotter] = dict(each for module in MODULES for each in vars(module).get("PLOTS", {}).items())


Progress = Callable[[int, int], None]


def silent(_known: int, _all: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One claim beside its result; `error` and `passed` are those of `finding.Verdict`.

    `seconds` is the claim's own time and that of the runs it needs, which other claims may share. `machines` are those
    that it was computed on; counts in a program need none. `runs` counts the simulations, searches and the like that it
    rests on. `turned_by` has the settings that turn its verdict, one at a time, among the `tried` ends of plausible
    ranges of its machines' numbers. With those of `impossible`, which count as tried, it can't be computed, and
    `untried` counts the others; all are null unless they were asked for and the claim has such numbers.
    """

    id: str
    seed: str
    what: str
    published: str
    ours: str
    error: float | None
    kind: str
    passed: bool | None
    note: str
    seconds: float
    tolerance: str
    machines: tuple[str, ...]
    runs: int = 0
    turned_by: tuple[str, ...] | None = None
    impossible: tuple[str, ...] | None = None
    tried: int | None = None
    untried: int | None = None


class Counts(TypedDict):
    """The number of rows, and how many passed, failed, or have nothing to compare with."""

    n: int
    passed: int
    failed: int
    without: int


def rows(
    claims: Sequence[Claim],
    settings: Settings,
    workers: int,
    report: Progress = silent,
    done: dict[Job, Done] | None = None,
) -> Iterator[LedgerRow]:
    """Give the row of each claim in order, each as soon as it and those before it are known.

    `settings` replace numbers of machines; runs go to so many processes; `report(rows known, all)` is called with each.
    The jobs are taken from `done`, and added to it. Raises UserError when a process is killed.
    """
    found: dict[str, LedgerRow] = {}
    bench = Bench(settings, {} if done is None else done)
    with processes(workers) as pool:
        known = completed([task(claim, bench) for claim in claims], pool)
        for claim in claims:
            while claim.id not in found:
                _, row = next(known)
                found[row.id] = row
                report(len(found), len(claims))
            yield found[claim.id]


def without_runs(claims: Sequence[Claim], settings: Settings) -> list[LedgerRow]:
    """Return the rows of those claims that need no run, in order."""
    found = []
    for claim in claims:
        try:
            found.append(_row(claim, Bench(settings)))
        except Missing:
            continue
    return found


def summary(found: Sequence[LedgerRow]) -> dict[str, Counts]:
    """Return the counts of each kind that occurs."""
    kinds = {kind: Counter(row.passed for row in found if row.kind.split(":")[0] == kind) for kind in KINDS}
    return {
        kind: Counts(n=each.total(), passed=each[True], failed=each[False], without=each[None])
        for kind, each in kinds.items()
        if each
    }


def task(claim: Claim, bench: Bench) -> Task[LedgerRow]:
    """Return the task that computes a claim's row, on a bench of its own."""
    return Task(partial(_row, claim), bench.separate())


def _row(claim: Claim, bench: Bench) -> LedgerRow:
    """Return the row of a claim; raises Missing if jobs are not done."""
    start = perf_counter()
    finding, verdict = _verdict(claim, bench)
    seconds = perf_counter() - start + sum(bench.done[job].seconds for job in bench.jobs)
    return LedgerRow(
        id=claim.id,
        seed=claim.seed,
        what=claim.what,
        published=claim.published,
        ours=verdict.ours,
        error=verdict.error,
        kind=finding.kind,
        passed=verdict.passed,
        note=finding.note,
        seconds=round(seconds, 3),
        tolerance=claim.tolerance,
        machines=tuple(bench.machines),
        runs=len(bench.jobs),
    )


def _verdict(claim: Claim, bench: Bench) -> tuple[Finding, Verdict]:
    """Compute a claim; an error becomes a row that says so, and never ends the ledger."""
    try:
        finding = FINDERS[claim.id](bench)
        _check_kind(finding, bench)
        return finding, judge(claim, finding)
    except Missing:
        raise
    except Exception as error:
        return not_computed(error)


def _check_kind(finding: Finding, bench: Bench) -> None:
    """Raise ValueError for arithmetic that a machine decides, and for the number of a machine without a machine."""
    asked = (*bench.machines, *(str(job.function) for job in bench.jobs))
    if finding.kind == "arithmetic" and asked:
        raise ValueError(f"arithmetic on the document's own numbers requests nothing, but this {', '.join(asked)}")
    if finding.kind == "input" and not bench.machines:
        raise ValueError("an input is a number of a machine, and none was requested")
