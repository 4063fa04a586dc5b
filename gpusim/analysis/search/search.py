"""Search with Optuna for the fastest point of a product that is too large to sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpusim.analysis.account.figures import Figures
from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow, key
from gpusim.analysis.search.sweep_table import cell
from isa.reading import extra

BATCH = 8  # points proposed at a time, independent of the number of processes, so that a search is reproducible


def check() -> None:
    """Raise UserError where Optuna is missing."""
    extra.module("optuna", "optuna")


def search(
    axes: Sequence[Axis],
    trials: int,
    seed: int,
    simulated: Callable[[list[SweepPoint]], list[SweepRow]],
    tell: Callable[[int, int], object],
) -> list[SweepRow]:
    """Return the rows of the points that Optuna's tree-structured Parzen estimator proposes, each once, in that order.

    `simulated` gives the rows of a few points in their order; `tell(trials done, in all)` is called after each batch.
    The points depend on the axes and the seed alone. Raises UserError where Optuna is missing.
    """
    optuna = extra.module("optuna", "optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    found: dict[object, SweepRow] = {}
    for done in range(0, trials, BATCH):
        tell(done, trials)
        asked = [study.ask() for _ in range(min(BATCH, trials - done))]
        for trial, row in zip(asked, simulated([_proposed(trial, axes) for trial in asked]), strict=True):
            found[key(row.point)] = row
            if row.figures:
                study.tell(trial, _cost(row.figures))
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return list(found.values())


def _proposed(trial: Any, axes: Sequence[Axis]) -> SweepPoint:
    """The point that a trial of Optuna's proposes: numbers by their index in ascending order, words as they are."""
    chosen: dict[str, dict[str, str]] = {"machine": {}, "kernel": {}}
    for axis in axes:
        if not any(isinstance(cell(value), str) for value in axis.values):
            order = sorted(axis.values, key=lambda value: float(cell(value)))
            chosen[axis.of][axis.name] = order[trial.suggest_int(axis.name, 0, len(order) - 1)]
        else:
            chosen[axis.of][axis.name] = trial.suggest_categorical(axis.name, list(axis.values))
    return SweepPoint(chosen["machine"], chosen["kernel"])


def _cost(figures: Figures) -> float:
    """The cost to minimise: the negative rate, or the time where the kernel counts no operations."""
    return -figures.gflops if figures.gflops else figures.milliseconds
