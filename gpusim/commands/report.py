"""`gpusim report`: which instructions press on which resources, which paths are long, and what loses issue slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from gpusim.analysis import bounds
from gpusim.analysis import report as reports
from gpusim.analysis.pressure_report import (
    InstructionPressure,
    PressureReport,
    RegionPressure,
    pressure_report,
)
from gpusim.commands.arguments import (
    MAX_CYCLES,
    Json,
    KernelName,
    MachineName,
    Parameters,
    Policy,
    Settings,
    changes,
    kernel_of,
    machine_of,
)
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.plural import plural
from gpusim.repeats import repeats
from gpusim.simulation import simulate
from isa.code_region import CodeRegion, Lines, code_regions
from isa.errors import UserError
from isa.kernel import Kernel
from workloads.catalog import CATALOG

LONG = 60  # instructions beyond which neighbours that are alike share a line
MOST = 8  # bottlenecks shown
Alike = tuple[InstructionPressure, ...]
SHORT = {
    "issue slots": "slot",
    "load/store unit": "ld/st",
    "shared-memory unit": "shared",
    "memory bandwidth": "memory",
    "register banks": "banks",
}
LEGEND = (
    "Cycles of the SM for which one execution keeps a resource; CP and LCD: cycles that it adds to the critical and to "
    "the loop-carried path of its region."
)


def report(
    kernel: KernelName,
    *,
    machine: MachineName = "gtx580",
    parameter: Parameters = None,
    setting: Settings = None,
    policy: Policy = None,
    lines: Annotated[
        list[str] | None,
        typer.Option("--lines", metavar="FIRST:LAST", help="A region of a listing, by its lines; repeatable."),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="Every instruction on a line of its own.")] = False,
    json: Json = False,
) -> None:
    """Simulate a kernel, and tell by instruction and region: pressure on each resource, paths, lost issue slots.

    Regions are what comments mark in a listing (GPUSIM-BEGIN name, GPUSIM-END), else loops.

    Example: gpusim report mix --machine gtx580
    """
    chosen, where = kernel_of(kernel, parameter or ()), machine_of(machine, setting or (), policy)
    regions = _regions(chosen, lines or ())
    settings = changes(where, setting or ())
    tell_of_compiling("compiled")
    with shown(chosen.name) as tell:
        limit = None if kernel in CATALOG else MAX_CYCLES
        result = simulate(chosen, where, values=False, max_cycles=limit, progress=tell)
        found = pressure_report(result, regions, limit=max(bounds.LIMIT, result.run.warp_instructions))
    if json:
        write_json(_document(found, settings))
    else:
        show(*_screen(found, settings, whole=whole))


def _regions(kernel: Kernel, texts: Sequence[str]) -> Sequence[CodeRegion]:
    """Return the regions that `--lines` names; raises UserError for one without instructions."""
    regions: list[CodeRegion] = []
    for text in texts:
        first, colon, last = text.partition(":")
        if not (colon and first.isdecimal() and last.isdecimal()):
            raise UserError(f"--lines {text}: give the first and the last line, such as --lines 10:40")
        found = code_regions(kernel.program, [Lines(f"lines {text}", int(first), int(last))])
        if not found:
            raise UserError(f"--lines {text}: {kernel.name} has no instruction there; give lines of a listing")
        regions += found
    return regions


def _document(found: PressureReport, settings: Mapping[str, int | str]) -> dict[str, Any]:
    result = found.result
    return {
        **reports.identity(result.kernel, result.machine, settings),
        "cycles": result.cycles,
        "bound": result.bound,
        "totals": found.totals,
        "instructions": found.instructions,
        "regions": found.regions,
        "bottlenecks": found.bottlenecks,
    }


def _screen(found: PressureReport, settings: Mapping[str, int | str], *, whole: bool) -> Iterator[RenderableType]:
    result = found.result
    bound, ratio = result.bound, result.cycles / result.bound.cycles
    cycles = f"{result.cycles:,}; bound {bound.cycles:,}, set by {bound.limiter}; simulated {ratio:.3f} times that"
    yield reports.heading(result.kernel, result.machine, settings, [("cycles", cycles)])
    yield ""
    yield _instructions(found, whole=whole)
    yield LEGEND
    yield ""
    yield _regions_table(found)
    yield ""
    yield _bottlenecks(found)
    for each in found.bottlenecks[:MOST]:
        yield f"{each.reason}: {each.meaning}"


def _table(*columns: tuple[str, str]) -> Table:
    """Return an empty table with columns of these names, each left, right or fold."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name, kind in columns:
        if kind == "fold":
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def _instructions(found: PressureReport, *, whole: bool) -> Table:
    """Return cycles for each execution, and last what share of the bound all take of each resource."""
    table = _table(("pc", "right"), ("issued", "right"), ("instruction", "fold"), *_headers(found.totals))
    labels = {pc: name for name, pc in found.result.kernel.program.labels.items()}
    for some, again in _folded(found, whole=whole or len(found.instructions) <= LONG):
        for lines in some:
            if lines[0].pc in labels:
                table.add_row("", "", f"{labels[lines[0].pc]}:")
            table.add_row(*_row(found, lines))
        if again > 1:
            table.add_row("", "", f"... {plural(again - 1, 'time')} more")
    shares = (f"{100 * found.totals[name] / found.result.bound.cycles:.0f}" for name in found.totals)
    table.add_row("", f"{int(found.result.run.issued.sum()):,}", "all, % of the bound", *shares, "", "")
    return table


def _folded(found: PressureReport, *, whole: bool) -> Iterator[tuple[list[Alike], int]]:
    """Yield lines of neighbours that are alike, those that come again together, and how often; or each by itself."""
    code, labelled = found.result.kernel.program.instructions, set(found.result.kernel.program.labels.values())

    def kind(one: InstructionPressure) -> tuple[Any, ...]:
        own = one.pc if whole or one.pc in labelled else -1
        return own, code[one.pc].row.mnemonic, one.issued, tuple(one.cycles.items()), one.critical, one.carried

    lines = [tuple(group) for _, group in groupby(found.instructions, kind)]
    for first, length, times in repeats([(kind(line[0]), len(line)) for line in lines]):
        yield lines[first : first + length], times


def _headers(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        yield SHORT.get(name, name.removeprefix("pipe ").replace(" ", "/")), "right"
    yield from (("CP", "right"), ("LCD", "right"))


def _row(found: PressureReport, some: Alike) -> Iterator[str]:
    """Yield the cells of neighbours that are alike."""
    first, names = some[0], found.totals
    yield f"{first.pc}" if len(some) == 1 else f"{first.pc}-{some[-1].pc}"
    yield f"{first.issued:,}"
    mnemonic = found.result.kernel.program.instructions[first.pc].row.mnemonic
    yield first.text if len(some) == 1 else f"{len(some)} x {mnemonic}"
    for name in names:
        yield f"{first.cycles[name] / first.issued:.3g}" if first.issued and name in first.cycles else ""
    for part in (first.critical, first.carried):
        yield "" if part is None else f"{part}"


def _regions_table(found: PressureReport) -> Table:
    """Return cycles of the whole run by region, their total and the bound."""
    names, bound = tuple(found.totals), found.result.bound
    table = _table(("region", "fold"), ("issued", "right"), *_headers(names))
    for region in found.regions:
        table.add_row(region.name, f"{region.issued:,}", *_totals(region.cycles, names), *_paths(region))
    table.add_row("all", f"{int(found.result.run.issued.sum()):,}", *_totals(found.totals, names), "", "")
    limits = (f"{bound.limits[name]:,}" if name in bound.limits else "" for name in names)
    table.add_row("limit", "", *limits, "", "")
    return table


def _totals(cycles: Mapping[str, float], names: Iterable[str]) -> list[str]:
    return [f"{cycles.get(name, 0.0):,.0f}" for name in names]


def _paths(region: RegionPressure) -> list[str]:
    return [f"{cycles:,.0f}" if cycles else "" for cycles in (region.critical, region.carried)]


def _bottlenecks(found: PressureReport) -> Table:
    """Return the reasons for lost issue slots, and where warps waited most for each."""
    table = _table(
        ("lost slots", "fold"),
        ("of those lost", "right"),
        ("of all", "right"),
        ("pc", "right"),
        ("mostly before", "fold"),
    )
    for each in found.bottlenecks[:MOST]:
        lost, every = (f"{100 * share:.1f} %" for share in (each.share_of_lost, each.share_of_slots))
        table.add_row(each.reason, lost, every, str(each.pc) if each.pc >= 0 else "", each.text)
    return table
