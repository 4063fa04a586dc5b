"""`gpusim report`: pressure of each instruction on each resource, long paths, and causes of lost issue slots.

With `--by line`: what each line of source issued, waited for and accessed (gpusim/commands/causes/report_lines.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Annotated, Any

from rich.console import RenderableType
from rich.table import Table
from typer import Option

from gpusim.analysis.account import report as reports
from gpusim.analysis.account import run_document
from gpusim.analysis.account.memory.screen import MEANING, grouped, left_out
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.pressure_report import (
    Bottleneck,
    InstructionPressure,
    PressureReport,
    RegionPressure,
    pressure_report,
)
from gpusim.analysis.account.source_lines import by_line
from gpusim.bounds.bounds import Bound
from gpusim.bounds.of_run import enough
from gpusim.commands.causes import report_lines
from gpusim.commands.frame.arguments import chosen, cycles_of, file_of, sms_of, whole_number
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.notices import ineffective_settings, tell_of_all, tell_of_beyond
from gpusim.commands.frame.options import Launch, Simulation, SourceOptions, repeated
from gpusim.commands.frame.progress import begin_compiling, of_run, shown
from gpusim.machine.simulated_sms import count
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.support.document import Document, LaunchDocument, doc
from gpusim.support.plural import plural
from gpusim.support.repeats import repeats
from gpusim.views.timeline.memory_tables import MemoryTables
from isa.code_region import CodeRegion, Lines, code_regions
from isa.errors import UserError
from isa.kernel import Kernel

LONG = 60  # instructions beyond which neighbours that are alike share a line
MOST = 8  # bottlenecks shown
EXTRA = {"shared_passes": "passes", "bank_conflicts": "conflicts"}  # columns shown if an instruction has such a figure
Alike = tuple[InstructionPressure, ...]
SHORT = {
    "issue slots": "slot",
    "load/store unit": "ld/st",
    "shared-memory unit": "shared",
    "memory bandwidth": "memory",
    "register banks": "banks",
    "copy engine": "engine",
    "copies from the L2": "L2",
    "device memory": "DRAM",
    "L1 tag stage": "tags",
    "L2 channel": "L2 ch",
    "L2 channel, loads": "L2 in",
    "L2 channel, stores": "L2 out",
    "L2, loads": "L2 ld",
    "L2, stores": "L2 st",
    "L2, answers": "L2 ans",
    "L2, atomics": "L2 atom",
}
COLUMNS = 6  # resources shown, those under most pressure
MILLION = 1_000_000  # cycles from which on they are shown in millions
PATHS = "CP and LCD: cycles that it adds to the critical and to the loop-carried path of its region."
REGIONS = "Cycles of the whole run; CP of one execution of the region, LCD of one round of its loop."


class By(StrEnum):
    """What a row of the table is."""

    INSTRUCTION = "instruction"
    LINE = "line"


class ReportDocument(LaunchDocument, frozen=True, tag=3):
    """Pressure of each instruction on each resource, long paths, and causes of lost issue slots."""

    cycles: Annotated[int, doc("Shader cycles until the SM with most work is done, and the L2 with its atomics.")]
    bound: Annotated[Bound | None, doc("Null if there is none.")]
    no_bound: Annotated[str, doc("Why there is none; empty if there is one.")]
    all_sms: Annotated[str, doc("Why all SMs were simulated where one was asked for; empty if none was.")]
    totals: Annotated[Mapping[str, float], doc("Cycles that the whole run takes of each resource.")]
    instructions: Annotated[tuple[InstructionPressure, ...], doc("The program.")]
    regions: Annotated[tuple[RegionPressure, ...], doc("Code regions, and last the instructions of none.")]
    bottlenecks: Annotated[tuple[Bottleneck, ...], doc("Reasons for lost issue slots, the costliest first.")]
    moved: Annotated[MemoryTables, doc("What the whole launch moved at each level of memory.")]


def report(
    launch: Launch,
    code: SourceOptions,
    how: Simulation,
    lines: Annotated[
        Sequence[str], repeated("--lines", "FIRST:LAST", "A region, by lines of the listing or source")
    ] = (),
    by: Annotated[By, Option("--by", help="What a row of the table is; lines are those of the source.")] = (
        By.INSTRUCTION
    ),
    whole: Annotated[bool, Option("--all", help="Every instruction on a line of its own.")] = False,
    totals: Annotated[
        bool, Option("--totals", help="Cycles of the whole run by instruction, not of one execution.")
    ] = False,
) -> Answer:
    """Simulate a kernel and show, by instruction and region, pressure on each resource, paths and lost issue slots.

    Regions are marked by comments in a listing (GPUSIM-BEGIN name, GPUSIM-END); without any, they are the loops. --by
    line sums instructions, waits and memory traffic for each line of the source.

    Example: gpusim report mix --machine gtx580

    Example: gpusim report examples/reduce.asm --by line
    """
    at = chosen(launch, code)
    if by is By.LINE:
        _check_by_line(at.kernel, {"--lines": bool(lines), "--all": whole, "--totals": totals})
    regions, which = _regions(at.kernel, lines), sms_of(how.sms)
    count(at.machine, which)
    unfelt = ineffective_settings(at, sms=which)
    begin_compiling()
    simulated = partial(simulate, at.kernel, at.machine, values=False, sms=which, threads=how.threads)
    with shown(at.kernel.name) as tell:
        result = simulated(max_cycles=cycles_of(launch.kernel, how.max_cycles), progress=of_run(tell))
        if by is By.LINE:
            lined = by_line(result, file_of(launch.kernel), roots=code.source_roots)
            made: Document = report_lines.document(lined, at.changes)
            parts = report_lines.screen(lined, at.changes)
        else:
            found = pressure_report(result, regions, limit=enough(at.kernel, result.run))
            made, parts = _document(found, at.changes), _screen(found, at.changes, whole=whole, totals=totals)
    tell_of_beyond(result)
    tell_of_all(result)
    return Answer(made, parts, unfelt)


def _check_by_line(kernel: Kernel, given: Mapping[str, bool]) -> None:
    """Raise UserError for a kernel without lines of source, and for an option that --by line has no use for."""
    for option, present in given.items():
        if present:
            raise UserError(f"--by line: it has no use for {option}; leave one of the two out")
    report_lines.check(kernel)


def _regions(kernel: Kernel, texts: Sequence[str]) -> Sequence[CodeRegion]:
    """Return the regions that `--lines` names; raises UserError for one without instructions."""
    regions: list[CodeRegion] = []
    for text in texts:
        first, colon, last = text.partition(":")
        start, end = whole_number(first), whole_number(last)
        if not colon or start is None or end is None:
            raise UserError(f"--lines {text}: give the first and the last line, such as --lines 10:40")
        found = code_regions(kernel.program, [Lines(f"lines {text}", start, end)])
        if not found:
            raise UserError(
                f"--lines {text}: {kernel.name} has no instruction there; give lines of the listing or source"
            )
        regions += found
    return regions


def _document(found: PressureReport, settings: Mapping[str, int | str]) -> ReportDocument:
    result = found.result
    return ReportDocument(
        **run_document.identity(result.kernel, result.machine, settings),
        cycles=result.cycles,
        bound=result.bound,
        no_bound=result.no_bound,
        all_sms=result.all_sms,
        totals=found.totals,
        instructions=found.instructions,
        regions=found.regions,
        bottlenecks=found.bottlenecks,
        moved=tables(result),
    )


def _screen(
    found: PressureReport, settings: Mapping[str, int | str], *, whole: bool, totals: bool
) -> Iterator[RenderableType]:
    result, names = found.result, _shown(found)
    yield reports.heading(result.kernel, result.machine, settings, [("cycles", _cycles(result))])
    yield ""
    yield _instructions(found, names, whole=whole, totals=totals)
    yield f"{'Cycles of the whole run' if totals else 'Cycles of the SM for each execution'}; {PATHS}"
    if others := ", ".join(f"{name} {found.totals[name]:,.0f}" for name in found.totals if name not in names):
        yield f"Not shown, cycles of the whole run: {others}"
    yield ""
    yield _regions_table(found, names)
    yield REGIONS
    yield ""
    yield _bottlenecks(found)
    for each in found.bottlenecks[:MOST]:
        yield f"{each.reason}: {each.meaning}"
    for table in grouped(tables(result)):
        yield ""
        yield table
    if result.memory.whole.sectors:
        yield MEANING
    if line := left_out(tables(result)):
        yield line


def _cycles(result: Result) -> str:
    bound = result.bound
    if bound is None:
        return f"{result.cycles:,}; no bound: {result.no_bound}"
    ratio = f"simulated {result.cycles / bound.cycles:.3f} times that"
    return f"{result.cycles:,}; bound {bound.cycles:,}, set by {bound.limiter}; {ratio}"


def _shown(found: PressureReport) -> Sequence[str]:
    """Return the resources under most pressure, in the order of the limits."""
    most = sorted(found.totals, key=lambda name: -found.totals[name])[:COLUMNS]
    return [name for name in found.totals if name in most]


def _table(columns: Iterable[str], left: str) -> Table:
    """Return an empty table whose column `left` folds and whose other columns hold numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        if name == left:
            table.add_column(name, overflow="fold", min_width=9)
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def _instructions(found: PressureReport, names: Sequence[str], *, whole: bool, totals: bool) -> Table:
    """Return cycles by instruction, and last the share of the bound that all take of each resource."""
    extra = [name for name in EXTRA if any(getattr(each, name) for each in found.instructions)]
    heads = *_headers(names), *(EXTRA[name] for name in extra), "CP", "LCD"
    table = _table((found.result.kernel.program.numbering, "issued", "instruction", *heads), "instruction")
    labels = {pc: name for name, pc in found.result.kernel.program.labels.items()}
    for some, again in _folded(found, whole=whole or len(found.instructions) <= LONG):
        for alike in some:
            if alike[0].pc in labels:
                table.add_row("", "", f"{labels[alike[0].pc]}:")
            table.add_row(*_row(found, alike, names, extra, totals=totals))
        if again > 1:
            table.add_row("", "", f"... {plural(again - 1, 'time')} more")
    least = found.result.bound
    if least and not least.order_dependent:  # whose limits leave out some of these cycles
        shares = (f"{100 * found.totals[name] / least.cycles:.0f}" for name in names)
        table.add_row("", _count(int(found.result.run.issued.sum())), "all, % of the bound", *shares)
    return table


def _folded(found: PressureReport, *, whole: bool) -> Iterator[tuple[list[Alike], int]]:
    """Yield groups of alike neighbours that repeat together, and how often; with `whole` each instruction by itself."""
    code, labelled = found.result.kernel.program.instructions, set(found.result.kernel.program.labels.values())

    def kind(one: InstructionPressure) -> tuple[Any, ...]:
        own = one.pc if whole or one.pc in labelled else -1
        figures = tuple(getattr(one, name) for name in ("issued", *EXTRA, "critical", "carried"))
        return own, code[one.pc].row.mnemonic, tuple(one.cycles.items()), figures

    lines = [tuple(group) for _, group in groupby(found.instructions, kind)]
    for first, length, times in repeats([(kind(line[0]), len(line)) for line in lines]):
        yield lines[first : first + length], times


def _headers(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield SHORT.get(name, name.removeprefix("pipe ").replace(" ", "/"))


def _row(
    found: PressureReport, alike: Alike, names: Iterable[str], extra: Iterable[str], *, totals: bool
) -> Iterator[str]:
    """Yield the cells of neighbours that are alike."""
    first, count, program = alike[0], len(alike), found.result.kernel.program
    number = program.number(first.pc)
    yield number if count == 1 else f"{number}-{program.number(alike[-1].pc).removeprefix('0x')}"
    yield _count(first.issued)
    mnemonic = program.instructions[first.pc].row.mnemonic
    yield first.text if count == 1 else f"{count} x {mnemonic}"
    for name in names:
        cycles = first.cycles.get(name, 0.0)
        each = f"{cycles / first.issued:.3g}" if cycles else ""
        yield _count(cycles * count) if cycles and totals else each
    yield from (f"{figure:.3g}" if (figure := getattr(first, name)) else "" for name in extra)
    yield from ("" if part is None else f"{part}" for part in (first.critical, first.carried))


def _count(number: float) -> str:
    """Write a number of cycles, or issues, that fits a column."""
    return f"{number / MILLION:,.1f} M" if number >= MILLION else f"{number:,.0f}"


def _regions_table(found: PressureReport, names: Sequence[str]) -> Table:
    """Return cycles of the whole run by region and their total, and the paths of one execution."""
    table = _table(("region", "issued", *_headers(names), "CP", "LCD"), "region")
    for region in found.regions:
        cycles = (_count(region.cycles.get(name, 0.0)) for name in names)
        paths = (f"{path:,.0f}" if path else "" for path in (region.critical, region.carried))
        table.add_row(region.name, _count(region.issued), *cycles, *paths)
    totals = (_count(found.totals[name]) for name in names)
    table.add_row("all", _count(int(found.result.run.issued.sum())), *totals)
    return table


def _bottlenecks(found: PressureReport) -> Table:
    """Return the reasons for lost issue slots, and where warps waited most for each."""
    program = found.result.kernel.program
    table = _table(("lost slots", "of those lost", "of all", program.numbering), "lost slots")
    table.add_column("mostly before", overflow="fold")
    for each in found.bottlenecks[:MOST]:
        lost, every = (f"{100 * share:.1f} %" for share in (each.share_of_lost, each.share_of_slots))
        table.add_row(each.reason, lost, every, program.number(each.pc) if each.pc >= 0 else "", each.text)
    return table
