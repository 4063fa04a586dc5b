"""`gpusim limits`: the cost of each limit of a machine for a kernel, found by running it without the limit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import shorten

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account import report, run_document
from gpusim.analysis.account.limit_study import REAL, LimitStudy, liftings, limit_study
from gpusim.commands.causes.limits_page import limits_page, rows_of
from gpusim.commands.frame.arguments import Chosen, chosen, cycles_of, kernel_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table
from gpusim.commands.frame.notices import Launched, given, ineffective_at_all
from gpusim.commands.frame.options import CodeOptions, Jobs, Launch, MaxCycles, PageOptions
from gpusim.commands.frame.page_file import page_of
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.machine.machine import read
from gpusim.sm.unit.capacities import NEVER
from gpusim.support.document import LaunchDocument, Setting, spelled

LONGEST = 32  # characters of a value with blanks


class LimitsDocument(LaunchDocument, frozen=True):
    """The cost of each limit of a machine for a launch, found by running it without the limit."""

    study: LimitStudy


def limits(
    launch: Launch, code: CodeOptions, picture: PageOptions, jobs: Jobs = None, max_cycles: MaxCycles = None
) -> Answer:
    """Lift the machine's limits, alone and in order up to an ideal SM, and show how many cycles each one costs.

    Cycles are those of the SM with most work. No values are computed: without barriers they would be wrong.

    Example: gpusim limits sgemm-lai --machine gtx580 -p m=192 -p n=192 -p k=64

    Example: gpusim limits chain -p length=20 --html limits.html
    """
    page, at = page_of(picture, "limits.html"), chosen(launch, code)
    make = partial(kernel_of, launch.kernel, launch.parameter, code, at.name)
    unfelt = ineffective_at_all(_launches(at), given(at.kernel, at.overrides))
    begin_compiling()
    most = cycles_of(launch.kernel, max_cycles) or NEVER
    with shown(f"limits {at.kernel.name}", "run") as tell:
        found = limit_study(make, at.name, at.overrides, max_cycles=most, workers=jobs, tell=tell)
    return Answer(
        lambda: LimitsDocument(**run_document.identity(at.kernel, at.machine, at.changes), study=found),
        lambda: _screen(at, found),
        unfelt,
        page=page,
        charts=lambda: _page(at, found),
    )


def _launches(at: Chosen) -> Iterator[Launched]:
    """Yield the launch as it is, and with each limit lifted, alone and in order."""
    file, so_far = read(at.name), dict[str, Setting]()
    asked = given(at.kernel, at.overrides)
    yield Launched(at.kernel, file, at.overrides, asked)
    for each in liftings(at.name, at.overrides):
        so_far |= each.settings
        for lifted in (each.settings, dict(so_far)):
            yield Launched(at.kernel, file, {**REAL, **at.overrides, **lifted}, set(asked) - lifted.keys())


def _screen(at: Chosen, found: LimitStudy) -> Iterator[RenderableType]:
    cycles = f"{found.cycles:,} as it is, {found.ideal:,} with every limit lifted"
    if found.least < found.ideal:
        cycles += f"; {found.least:,} at the least, as a lifted limit may cost cycles"
    yield report.heading(at.kernel, at.machine, at.changes, [("cycles", cycles)])
    yield ""
    yield _table(found)
    yield ""
    yield from _lifted_by(found)
    for name, note in found.notes.items():
        yield f"{name}: {note}"


def _page(at: Chosen, found: LimitStudy) -> str:
    head = f"{at.kernel.name} on {at.machine.key} ({at.machine.name}), {at.machine.schedulers.policy}"
    asked = {"settings": at.changes, "parameters": at.kernel.arguments}
    facts = [
        f"{name} {' '.join(f'{key}={spelled(x)}' for key, x in each.items())}" for name, each in asked.items() if each
    ]
    return limits_page(head, facts, found, list(_lifted_by(found)))


def _lifted_by(found: LimitStudy) -> Iterator[str]:
    for each in found.limits:
        yield f"{each.name}: {' '.join(_setting(path, value) for path, value in each.patterns.items())}"


def _setting(path: str, value: int | str) -> str:
    """Write a setting as `--set` takes it, with a long value cut short."""
    return f'{path}="{shorten(str(value), LONGEST)}"' if " " in str(value) else f"{path}={value}"


def _table(found: LimitStudy) -> Table:
    columns = [
        Column(name, justify="right", no_wrap=True) for name in ("alone", "saves", "%", "in order", "saves", "%")
    ]
    return new_table(Column("limit lifted", overflow="fold"), *columns, rows=rows_of(found))
