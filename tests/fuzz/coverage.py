"""The coverage of a campaign: counts, added up over processes, and all that could have occurred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import msgspec
import numpy as np

from fuzz.trial import Trial
from gpusim.machine.machine import Machine
from gpusim.machine.schema import OPTIONAL, leaves
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from gpusim.sm.unit.stall import Stall
from isa.table import ROWS

Coverage = Counter[str]  # pairs by `kind: name`


def of_trial(trial: Trial) -> Iterator[str]:
    """Yield what a pair covered, each once, without `cycles` and `skipped`."""
    yield from (f"mechanism: {each}" for each in mechanisms(trial.machine))
    yield f"file: {trial.machine.key}"
    for run in (trial.execution, trial.trace_driven):
        if run.error:
            yield f"ended by: {type(run.error).__name__}"
    if trial.trace_driven.run:
        yield f"feed: {trial.trace_driven.run.feed}"
        yield from ["skipping"] if trial.trace_driven.run.skipped else []
    if run := trial.execution.run:
        yield from (f"event: {TRACE_KINDS[kind]}" for kind in np.unique(run.trace.kind).tolist())
        yield from (f"reason: {reason.name}" for reason in Stall if run.stalls[:, reason].any())
        yield from ["reason: NO_WARP"] if run.empty else []
        rows = (i.row.mnemonic for i, n in zip(trial.kernel.program.instructions, run.issued, strict=False) if n)
        yield from {f"mnemonic: {mnemonic}" for mnemonic in rows}


def cycles(trial: Trial) -> Coverage:
    """Return the cycles that were simulated without values, and how many of them were taken at once."""
    run = trial.trace_driven.run
    return Coverage({"cycles": run.cycles, "skipped": run.skipped} if run else {})


def mechanisms(machine: Machine) -> Iterator[str]:
    """Yield the sections that a machine has, and the values of its keys with a few choices."""
    tree = msgspec.to_builtins(machine)
    yield from (f"[{section}]" for section in OPTIONAL if tree.get(section))
    for path, value in _values(tree):
        if path in _CHOICES:
            yield f"{path} = {value}"


def every() -> set[str]:
    """Return all that `of_trial` may yield, except files and errors."""
    chosen = {f"mechanism: {path} = {value}" for path, values in _CHOICES.items() for value in values}
    sections = {f"mechanism: [{section}]" for section in OPTIONAL}
    kinds = {f"event: {kind}" for kind in TRACE_KINDS} | {f"reason: {reason.name}" for reason in Stall}
    return chosen | sections | kinds | {f"mnemonic: {row.mnemonic}" for row in ROWS}


def _choices() -> dict[str, tuple[Any, ...]]:
    """The keys of a machine that take one of a few values."""
    found = {path: get_args(kind) for path, kind in leaves() if get_origin(kind) is Literal}
    return found | {"schedulers.policy": POLICY_NAMES}


_CHOICES = _choices()


def _values(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _values(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
