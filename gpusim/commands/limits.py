"""`gpusim limits`: the cost of each limit of a machine for a kernel, found by running it without the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from textwrap import shorten
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from gpusim.analysis.account import report, run_document
from gpusim.analysis.account.limit_study import REAL, LimitStudy, liftings, limit_study
from gpusim.commands.arguments import (
    MOST_WHOLE,
    Architecture,
    CodeOptions,
    Force,
    Json,
    KernelName,
    LaunchFile,
    MachineOfKernel,
    MaxCycles,
    NvccFlags,
    Overrides,
    Parameters,
    Policy,
    Strict,
    changes,
    cycles_of,
    kernel_of,
    machine_of,
    overrides_of,
    placed,
)
from gpusim.commands.document import show, write_json
from gpusim.commands.limits_page import limits_page
from gpusim.commands.notices import Launched, given, ineffective_at_all
from gpusim.commands.page_file import Html, OpenPage, page_file, present
from gpusim.commands.progress import begin_compiling, shown
from gpusim.machine.machine import Machine, read
from gpusim.support import whole_file
from gpusim.support.document import LaunchDocument, Setting, spelled
from gpusim.units.capacities import NEVER
from isa.kernel import Kernel

LONGEST = 32  # characters of a value with blanks


class LimitsDocument(LaunchDocument, frozen=True):
    """The cost of each limit of a machine for a launch, found by running it without the limit."""

    study: LimitStudy


def limits(
    kernel: KernelName,
    *,
    machine: MachineOfKernel = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Policy = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, max=MOST_WHOLE, help="How many runs at a time; by default one per core."),
    ] = None,
    html: Html = None,
    open_page: OpenPage = False,
    max_cycles: MaxCycles = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Lift the machine's limits, alone and in order up to an ideal SM, and show how many cycles each one costs.

    Cycles are those of the SM with most work. No values are computed: without barriers they would be wrong.

    Example: gpusim limits sgemm-lai --machine gtx580 -p m=192 -p n=192 -p k=64

    Example: gpusim limits chain -p length=20 --html limits.html
    """
    page = page_file(html, show=open_page, name="limits.html")
    code = CodeOptions(architecture, launch, nvcc_flags, force, strict)
    chosen = kernel_of(kernel, parameter or (), code, machine)
    machine, setting = placed(chosen, machine, setting or ())
    where = machine_of(machine, setting, policy)
    make = partial(kernel_of, kernel, tuple(parameter or ()), code, machine)
    overrides = overrides_of(setting, policy)
    unfelt = ineffective_at_all(_launches(chosen, machine, overrides), given(chosen, overrides))
    begin_compiling("compiled")
    with shown(f"limits {chosen.name}", "run") as tell:
        found = limit_study(
            make,
            machine,
            overrides,
            max_cycles=cycles_of(kernel, max_cycles) or NEVER,
            workers=jobs,
            tell=tell,
        )
    settings = changes(where, setting)
    if page:
        whole_file.write(page, _page(chosen, where, found, settings))
    if json:
        write_json(LimitsDocument(**run_document.identity(chosen, where, settings), study=found), unfelt)
    else:
        show(*_screen(chosen, where, found, settings))
    present(page, show=open_page, json=json)


def _launches(kernel: Kernel, name: str, overrides: Mapping[str, str]) -> Iterator[Launched]:
    """Yield the launch as it is, and with each limit lifted, alone and in order."""
    file, so_far = read(name), dict[str, Setting]()
    asked = given(kernel, overrides)
    yield Launched(kernel, file, overrides, asked)
    for each in liftings(name, overrides):
        so_far |= each.settings
        for lifted in (each.settings, dict(so_far)):
            yield Launched(kernel, file, {**REAL, **overrides, **lifted}, set(asked) - lifted.keys())


def _screen(
    kernel: Kernel, machine: Machine, found: LimitStudy, settings: Mapping[str, int | str]
) -> Iterator[RenderableType]:
    cycles = f"{found.cycles:,} as it is, {found.ideal:,} with every limit lifted"
    yield report.heading(kernel, machine, settings, [("cycles", cycles)])
    yield ""
    yield _table(found)
    yield ""
    yield from _lifted_by(found)
    for name, note in found.notes.items():
        yield f"{name}: {note}"


def _page(kernel: Kernel, machine: Machine, found: LimitStudy, settings: Mapping[str, int | str]) -> str:
    head = f"{kernel.name} on {machine.key} ({machine.name}), {machine.schedulers.policy}"
    chosen = {"settings": settings, "parameters": kernel.arguments}
    facts = [
        f"{name} {' '.join(f'{key}={spelled(x)}' for key, x in each.items())}" for name, each in chosen.items() if each
    ]
    return limits_page(head, facts, found, list(_lifted_by(found)))


def _lifted_by(found: LimitStudy) -> Iterator[str]:
    for each in found.limits:
        yield f"{each.name}: {' '.join(_setting(path, value) for path, value in each.patterns.items())}"


def _setting(path: str, value: int | str) -> str:
    """Write a setting as `--set` takes it, with a long value cut short."""
    return f'{path}="{shorten(str(value), LONGEST)}"' if " " in str(value) else f"{path}={value}"


def _table(found: LimitStudy) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("limit lifted", overflow="fold")
    for column in ("alone", "saves", "%", "in order", "saves", "%"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in found.limits:
        alone, in_order = _cells(each.alone, each.saves_alone, found), _cells(each.in_order, each.saves_in_order, found)
        table.add_row(each.name, *alone, *in_order)
    return table


def _cells(cycles: int, saved: int, found: LimitStudy) -> tuple[str, str, str]:
    return f"{cycles:,}", f"{saved:,}", f"{100 * saved / found.cycles:.1f}"
