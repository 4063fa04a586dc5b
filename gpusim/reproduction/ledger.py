"""The ledger computes every claim, does shared runs once, and gives rows in the order of the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from time import perf_counter
from typing import TypedDict

from gpusim.reproduction import (
    cme213,
    cme213_cublas,
    kurzak_space,
    kurzak_stencil,
    lai_bound,
    lai_sgemm,
    lai_table,
    tan,
    tan_cublas,
    tan_runs,
    tan_schedule,
    vega_access,
    vega_energy,
    vega_kernel,
    vega_listing,
    vega_speed,
)
from gpusim.reproduction.bench import Bench, Done, Job, Missing, Settings, perform
from gpusim.reproduction.claims import Claim
from gpusim.reproduction.finding import KINDS, Finder, Finding, Verdict, judge, not_computed
from gpusim.support.processes import processes

MODULES = (
    lai_bound,
    lai_sgemm,
    lai_table,
    kurzak_space,
    kurzak_stencil,
    cme213,
    cme213_cublas,
    vega_access,
    vega_energy,
    vega_kernel,
    vega_listing,
    vega_speed,
    tan,
    tan_cublas,
    tan_runs,
    tan_schedule,
)
FINDERS: Mapping[str, Finder] = {name: finder for module in MODULES for name, finder in module.CLAIMS.items()}


Progress = Callable[[int, int], None]


def _silent(_known: int, _all: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One claim beside its result; `error` and `passed` are those of `finding.Verdict`.

    `seconds` is the claim's own time and that of the runs it needs, which other claims may share. `machines` are those
    that it was computed on; counts in a program need none.
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


class Counts(TypedDict):
    """The number of rows, and how many passed, failed, or have nothing to compare with."""

    n: int
    passed: int
    failed: int
    without: int


@dataclass(slots=True)
class _Claim:
    """A claim in progress, its own bench, the jobs that it has requested, and those that it waits for."""

    claim: Claim
    bench: Bench
    asked: tuple[Job, ...] = ()
    needs: tuple[Job, ...] = ()


def rows(claims: Sequence[Claim], settings: Settings, workers: int, report: Progress = _silent) -> Iterator[LedgerRow]:
    """Give the row of each claim in order, each as soon as it and those before it are known.

    `settings` replace numbers of machines; runs go to so many processes; `report(rows known, all)` is called with each.
    Raises UserError when a process is killed.
    """
    found: dict[str, LedgerRow] = {}
    completed = _completed(claims, Bench(settings), workers)
    for claim in claims:
        while claim.id not in found:
            row = next(completed)
            found[row.id] = row
            report(len(found), len(claims))
        yield found[claim.id]


def without_runs(claims: Sequence[Claim], settings: Settings) -> list[LedgerRow]:
    """Return the rows of those claims that need no run, in order."""
    bench = Bench(settings)
    return [row for claim in claims if (row := _row(_Claim(claim, bench.separate()))) is not None]


def summary(found: Sequence[LedgerRow]) -> dict[str, Counts]:
    """Return the counts of each kind that occurs."""
    kinds = {kind: Counter(row.passed for row in found if row.kind.split(":")[0] == kind) for kind in KINDS}
    return {
        kind: Counts(n=each.total(), passed=each[True], failed=each[False], without=each[None])
        for kind, each in kinds.items()
        if each
    }


def _completed(claims: Iterable[Claim], bench: Bench, workers: int) -> Iterator[LedgerRow]:
    """Yield rows as they are completed: a claim that lacks runs is tried again when they are done."""
    ready, waiting = [_Claim(claim, bench.separate()) for claim in claims], list[_Claim]()
    under_way: dict[Future[Done], Job] = {}
    with processes(workers) as pool:
        while ready or waiting:
            for each in ready:
                row = _row(each)
                if row is not None:
                    yield row
                    continue
                waiting.append(each)
                new = [job for job in each.needs if job not in under_way.values()]
                under_way |= {pool.submit(perform, job): job for job in new}
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                bench.done[under_way.pop(future)] = future.result()
            ready = [each for each in waiting if bench.done.keys() >= set(each.needs)]
            waiting = [each for each in waiting if each not in ready]


def _row(each: _Claim) -> LedgerRow | None:
    """Return the row of a claim; if jobs are missing, note them and return None."""
    claim, bench, start = each.claim, each.bench, perf_counter()
    try:
        finding, verdict = _verdict(claim, bench)
    except Missing as missing:
        each.needs = missing.jobs
        each.asked += missing.jobs
        return None
    seconds = perf_counter() - start + sum(bench.done[job].seconds for job in each.asked)
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
    )


def _verdict(claim: Claim, bench: Bench) -> tuple[Finding, Verdict]:
    """Compute a claim; an error becomes a row that says so, and never ends the ledger."""
    try:
        finding = FINDERS[claim.id](bench)
        return finding, judge(claim, finding)
    except Missing:
        raise
    except Exception as error:
        return not_computed(error)
