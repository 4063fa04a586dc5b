"""The screens of a result and of a bound, for people; `run_document` has the documents, for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gpusim.analysis.account.breakdown import Breakdown, Step, breakdown
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.finding import Finding, lines
from gpusim.analysis.account.findings.resources import is_done
from gpusim.analysis.account.memory.screen import LEGEND, levels, numbers, shared
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.memory_rates import DRAM, L2, MemoryRate, bound_rates, memory_rates
from gpusim.analysis.account.rates.roofline import roofs
from gpusim.analysis.account.stalls import lost_slots, waited, warp_cycles
from gpusim.bounds.bounds import Bound
from gpusim.engines.sm_run import ChipRun
from gpusim.machine.machine import Machine, seconds
from gpusim.machine.occupancy import Occupancy
from gpusim.simulation.result import Result
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.support.document import NONE, Setting, spelled
from gpusim.support.plural import plural
from isa.dataflow.waits.missing_waits import MissingWait
from isa.dataflow.waits.shared_barriers import SharedBarrier, words
from isa.executing.beyond import told
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.program import Program
from isa.text.printer import named, text_of

if TYPE_CHECKING:
    from gpusim.analysis.account.rates.energy import Spent
    from gpusim.engines.walks.happens_before.conflicts import Race

WARM = "warm: the L2 holds the buffers when the launch begins"
COLD = "cold: they are empty when the launch begins"
GAP = 3  # columns between tables side by side
REASONS_SHOWN = 10
NAMED = 3  # instructions that a line names
WAITING_SHOWN = 5  # instructions
SHARED_SHOWN = 2  # lines at most about instructions that wait for more than they need
WHOLE_GBS = 100  # from which on rates have no decimals
VISIBLE = 0.01  # share of the rate that is reached below which losses share a line


@dataclass(frozen=True)
class _SideBySide:
    """Two tables next to each other, or one below the other where the console is too narrow."""

    left: Table
    right: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = sum(Measurement.get(console, options, table).maximum for table in (self.left, self.right)) + GAP
        if needed > options.max_width:
            yield Group(self.left, "", self.right)
        else:
            grid = Table.grid(padding=(0, GAP))
            grid.add_row(self.left, self.right)
            yield grid


def screen(result: Result, settings: Mapping[str, Setting] = NONE, energy: Spent | None = None) -> RenderableType:
    """Return one screen: the launch, what came of it, breakdown, stalls, memory, longest waits, energy, and limits.

    `settings` are the numbers of the machine that were replaced for this run.
    """
    facts = _facts([*_launch(result.kernel, result.machine, settings), *_outcome(result)])
    slots = _SideBySide(_breakdown(breakdown(result)), _stalls(result))
    policy = result.machine.schedulers.policy
    headline = f"{_headline(result.kernel, result.machine, settings)}, {policy}, {result.engine} engine"
    spent = ("", _energy(energy)) if energy else ()
    moved = [part for table in levels(tables(result)) for part in ("", table, LEGEND)]
    limits = _diagnosis(diagnosis(result))
    return Group(headline, facts, "", slots, *moved, "", _waiting(result), *spent, "", limits)


def bound_screen(
    kernel: Kernel,
    machine: Machine,
    bound: Bound,
    occupancy: Occupancy,
    settings: Mapping[str, Setting] = NONE,
) -> RenderableType:
    """Return the bound of a launch, all limits, and its occupancy; `settings` as for `screen`."""
    limits = numbers("limit", "cycles", "of the bound")
    for name, cycles in sorted(bound.limits.items(), key=lambda item: -item[1]):
        limits.add_row(name, f"{cycles:,}", f"{100 * cycles / bound.cycles:.1f} %")
    facts = [("bound", _bound(bound)), *_memory_of_bound(kernel, machine, bound)]
    facts += [("order", _order(kernel, bound))] if bound.order_dependent else []
    facts += [("occupancy", _occupancy(occupancy, machine))]
    return Group(heading(kernel, machine, settings, facts), "", limits)


def _memory_of_bound(kernel: Kernel, machine: Machine, bound: Bound) -> Iterator[tuple[str, str]]:
    """Yield what the DRAM moves at most, for a kernel that counts no operations."""
    if not kernel.flops and (rates := bound_rates(kernel, machine, bound)):
        yield "memory", f"at most {'; '.join(map(_of_peak, rates))}"


def heading(
    kernel: Kernel, machine: Machine, settings: Mapping[str, Setting], facts: Iterable[tuple[str, str]]
) -> RenderableType:
    """Return the head of a screen: kernel and machine, then facts by name; `settings` as for `screen`."""
    return Group(_headline(kernel, machine, settings), _facts([*_launch(kernel, machine, settings), *facts]))


def _headline(kernel: Kernel, machine: Machine, settings: Mapping[str, Setting]) -> str:
    changed = "a changed " if any(not _asked(kernel, *one) for one in settings.items()) else ""
    return f"{kernel.name} on {changed}{machine.key} ({machine.name})"


def _asked(kernel: Kernel, path: str, value: Setting) -> bool:
    """Tell whether the launch asks for a setting itself."""
    return kernel.settings.get(path) == str(value)


def _launch(kernel: Kernel, machine: Machine, settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    own = {path: value for path, value in settings.items() if _asked(kernel, path, value)}
    if given := settings.keys() - own.keys():
        yield "settings", " ".join(f"{path}={value}" for path, value in settings.items() if path in given)
    if kernel.settings and machine.l2 and not given & set(kernel.settings):
        holds = WARM if "l2.filled" in kernel.settings else COLD
        yield "caches", f"{holds} ({' '.join(f'{path}={value}' for path, value in own.items())})" if own else holds
    if kernel.arguments:
        yield "parameters", " ".join(f"{name}={spelled(value)}" for name, value in kernel.arguments.items())
    program = kernel.program
    shared = f"{plural(program.own_shared_bytes, 'byte')} of shared memory"
    if program.reserved_bytes:
        shared += f", {program.reserved_bytes:,} more are the system's"
    resources = f"{plural(program.registers, 'register')}, {shared}"
    launch = f"{plural(kernel.blocks, 'block')} of {plural(kernel.threads, 'thread')}"
    sms = plural(machine.chip.sms, "SM")
    of = f"{kernel.blocks} of {sms}" if kernel.blocks < machine.chip.sms else sms
    yield "launch", f"{launch} on {of}; {resources}"


def _outcome(result: Result) -> Iterator[tuple[str, str]]:
    yield "values", _verification(result)
    if result.races:
        yield "races", _races(result.races)
    if result.missing_waits:
        yield "hazards", _missing(result.kernel, result.missing_waits)
    if result.run.beyond:
        yield "reads", beyond(result)
    yield "cycles", _cycles(result)
    yield "throughput", _throughput(result)
    if rates := memory_rates(result):
        yield (
            "memory",
            "; ".join(_memory(result.machine, rate) for rate in rates) + _beyond_asked(result.machine, rates),
        )
    if line := shared(tables(result)):
        yield "shared", line
    if found := roofs(result):
        noun = "operations" if result.kernel.flops else "instructions"
        yield "work", f"{noun} for each byte: {', '.join(f'{one.per_byte:.3g} of the {one.level}' for one in found)}"
    yield "bound", _bound_of_run(result)
    if result.bound and result.bound.order_dependent:
        yield "order", _order(result.kernel, result.bound)
    yield "occupancy", _occupancy(result.occupancy, result.machine)


def _verification(result: Result) -> str:
    found = result.verification
    if result.kernel.racy:
        return "not checked: the kernel races as published, so what it computes depends on the timing"
    if result.scaling.estimate:
        return "not checked: an estimate computes none"
    if found.scope == "none":
        others = result.kernel.blocks - result.run.blocks
        left = f"; the other {others:,} of {plural(result.kernel.blocks, 'block')} don't run" if others else ""
        return f"not checked: no results are known for the blocks that ran{left}"
    order = f", {found.in_program_order} of them untimed" if found.in_program_order else ""
    where = f"{plural(found.values, 'value')} in {found.blocks:,} of {plural(result.kernel.blocks, 'block')}{order}"
    if found.wrong:
        hint = (
            "; `gpusim races KERNEL` tells if warps, but not lanes of one, lack a barrier"
            if result.kernel.program.shared_bytes
            else ""
        )
        return f"WRONG: {found.wrong:,} of {where}; {found.first_wrong}{hint}"
    error = f"errors up to {found.max_error:.2g}, at most {found.worst_ratio:.2g} times the error bound"
    return f"right: {found.values:,} of {where}; {error if found.max_error else 'exact'}"


def _races(races: Sequence[Race]) -> str:
    first, others = races[0], len(races) - 1
    also = f"; and {plural(others, 'more pair')} in that block" if others else ""
    return f"block {first.block}, shared word {first.address:#x}: {first.first}, {first.second}{also}"


def _missing(kernel: Kernel, missing: Sequence[MissingWait]) -> str:
    """Return the first use of a register for whose result nobody waits, and what it means for the values."""
    first, others = missing[0], len(missing) - 1
    own, its = named(kernel.program, first.pc), named(kernel.program, first.writer)
    deed = f"{own} {'overwrites' if first.overwrites else 'reads'} {first.register}"
    also = f"; and {plural(others, 'other result')}" if others else ""
    lack = f"without a wait for barrier {first.barrier}, with which {its} has written it{also}"
    return f"{deed} {lack}. Values are as if all waited; `gpusim hazards KERNEL` runs the codes as they are"


def beyond(result: Result, strict: str = "--strict") -> str:
    """Return the place of the first load behind a buffer, how many there are, and what that means; there is one.

    `strict` is how the user asks for an error instead.
    """
    assert result.run.beyond
    what = told(result.kernel, result.run.beyond)
    means = "a chip reads what lies in that page of memory, here zeros or the next buffer"
    return f"{what}: {means}; {strict} makes it an error"


def _cycles(result: Result) -> str:
    milliseconds = 1000 * seconds(result.machine, result.cycles)
    if isinstance(result.run, ChipRun):
        sms, blocks = plural(result.run.sms, "SM"), plural(result.run.blocks, "block")
        head, each = f"= {milliseconds:.4g} ms", _fewest_and_most(result.run)
        if result.run.sms < result.machine.chip.sms:
            of = f"{result.run.sms} of the {plural(result.machine.chip.sms, 'SM')}"
            idle = sum(sm.blocks == 0 for sm in result.run.each)
            none = f"; {plural(idle, 'SM')} without a block, as the grid is small" if idle else ""
            have = f"they have {result.run.blocks:,} of the grid's {plural(result.kernel.blocks, 'block')}, {each} each"
            return f"{result.cycles:,} on {of} {head}; {have}{none}"
        return f"{result.cycles:,} of all {sms} {head}; {each} of {blocks} each"
    return f"{result.cycles:,} of the SM with most work = {milliseconds:.4g} ms; {_scaling(result)}"


def _fewest_and_most(run: ChipRun) -> str:
    fewest, most = (of(sm.blocks for sm in run.each) for of in (min, max))
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _scaling(result: Result) -> str:
    scaling = result.scaling
    share = f"{scaling.simulated_blocks:,} of its {plural(scaling.blocks_of_sm, 'block')} simulated"
    if scaling.method.startswith("waves"):
        return f"{share}, scaled" + (f" ({scaling.error_checked})" if scaling.error_checked else "")
    skipped = result.run.skipped
    if (estimate := scaling.estimate) and estimate.cycles:
        many = f"{estimate.cycles:,} cycles ({100 * estimate.cycles / result.cycles:.1f} %) at their mean cost"
        error = f"{estimate.error_percent:g} % at most ({estimate.spread_percent:.2g} % by its spread)"
        return f"an ESTIMATE, wrong by {error}: {many}"
    percent = 100 * skipped / result.cycles
    return f"{share}, {skipped:,} cycles ({percent:.1f} %) in whole periods at once" if skipped else share


def _throughput(result: Result) -> str:
    per_cycle = f"{result.thread_instructions_per_cycle:.2f} thread instructions per cycle and SM"
    if result.gflops is None:
        return per_cycle
    return f"{result.gflops:.1f} GFLOP/s, {result.percent_of_peak:.1f} % of {result.peak_gflops:.1f}; {per_cycle}"


def _memory(machine: Machine, rate: MemoryRate) -> str:
    if not tagged(machine):
        return _of_peak(rate)
    moved = f"{rate.gbs:,.0f}" if rate.gbs >= WHOLE_GBS else f"{rate.gbs:.3g}"
    return f"{moved} GB/s of the {rate.level}, which is busy {rate.percent:.1f} % of the time"


def _of_peak(rate: MemoryRate) -> str:
    return f"{rate.gbs:.4g} GB/s of the {rate.level}, {rate.percent:.1f} % of {rate.peak_gbs:.4g}"


def _beyond_asked(machine: Machine, rates: Sequence[MemoryRate]) -> str:
    """Return why the DRAM moves more than the L2, if it does."""
    gbs = {rate.level: rate.gbs for rate in rates}
    if machine.l2 is None or gbs.get(DRAM, 0.0) <= gbs.get(L2, 0.0) or machine.l2.sector_bytes == SECTOR_BYTES:
        return ""
    return f": of {machine.l2.sector_bytes} bytes that the L2 brings, not all are asked for"


def _bound(bound: Bound) -> str:
    rate = f"{bound.gflops:.1f} GFLOP/s, {bound.percent_of_peak:.1f} % of peak, " if bound.gflops else ""
    return f"{rate}{bound.cycles:,} cycles, set by {bound.limiter}"


def _bound_of_run(result: Result) -> str:
    if result.bound is None:
        return f"none: {result.no_bound}"
    return f"{_bound(result.bound)}; simulated {result.cycles / result.bound.cycles:.3f} times that"


def _order(kernel: Kernel, bound: Bound) -> str:
    """Return in words what the limits leave out where the order of warps decides what is executed."""
    named_ones = [named(kernel.program, pc) for pc in bound.order_dependent]
    shown = ", ".join(named_ones[:NAMED]) + (f" and {len(named_ones) - NAMED} more" if len(named_ones) > NAMED else "")
    decide = "decide what is executed, or where it accesses memory, and depend on the order of warps"
    return f"results of {shown} {decide}: the bound counts what every order executes"


def _occupancy(occupancy: Occupancy, machine: Machine) -> str:
    warps = f"{plural(occupancy.blocks, 'block')}, {occupancy.warps} of {machine.limits.warps} warps"
    return f"{warps}, limited by {occupancy.limiter}; {occupancy.next_step}"


def _breakdown(steps: Breakdown) -> Table:
    table = numbers("breakdown", steps.unit if steps.unit.endswith("/s") else "per cycle", "loss")
    visible = sum(step.loss >= steps.steps[-1].rate * VISIBLE for step in steps.steps[1:]) + 1
    for step in [*steps.steps[:visible], *_together(steps.steps[visible:])]:
        table.add_row(step.cause, f"{step.rate:.1f}", f"{-step.loss:.1f}" if step.loss else "")
    return table


def _together(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with small ones merged."""
    if len(steps) < 2:
        return list(steps)
    cycles, loss = sum(step.cycles for step in steps), sum(step.loss for step in steps)
    return [Step(f"lost slots: {len(steps)} smaller reasons", cycles, loss, steps[-1].rate)]


def _stalls(result: Result) -> Table:
    cycles, lost = warp_cycles(result.run), lost_slots(result.run)
    table = numbers("stall reason", "warp-cycles", "lost slots")
    for reason in list(dict.fromkeys([*cycles, *lost]))[:REASONS_SHOWN]:
        table.add_row(reason, _percent(cycles, reason), _percent(lost, reason))
    return table


def _percent(parts: dict[str, int], reason: str) -> str:
    return f"{100 * parts[reason] / sum(parts.values()):.1f} %" if reason in parts else ""


def _waiting(result: Result) -> RenderableType:
    """Return the instructions before which warps wait longest, and those of them that wait for more than they need."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    program = result.kernel.program
    table.add_column(program.numbering, justify="right")
    table.add_column("warps wait most before", overflow="fold")
    table.add_column("warp-cycles", justify="right")
    table.add_column("mostly", overflow="fold")
    longest = waited(result)

    def place(pc: int) -> str:
        return f"{program.numbering} {program.number(pc)}"

    for one in longest[:WAITING_SHOWN]:
        table.add_row(program.number(one.pc), one.text, f"{100 * one.share:.1f} %", one.reason)
    found = [(one.pc, one.shared_barriers[0]) for one in longest if one.shared_barriers]
    if result.kernel.target and any(program.source(pc)[1] for pc, _ in found):
        return Group(table, *list(dict.fromkeys(_shared_in_source(program, found)))[:SHARED_SHOWN])
    shared = [(place(pc), words(first, lambda pc: text_of(program, pc), place)) for pc, first in found[:SHARED_SHOWN]]
    return Group(table, *(f"{where} may wait longer than it needs: for {what}" for where, what in shared))


def _shared_in_source(program: Program, found: Iterable[tuple[int, SharedBarrier]]) -> Iterator[str]:
    """Yield in lines of source what is waited for too early, where it is of another line than what waits."""
    for pc, first in found:
        where, other = (lines(program, (one,)).strip(" ()") for one in (pc, first.pc))
        if where and other and where != other:
            yield f"{where} may wait for an access of {other} that it does not need: load what is used together"


def _diagnosis(found: Sequence[Finding]) -> RenderableType:
    """Return what limits the launch most, and what to do about it."""
    if not found:
        return "nothing limits this launch by 5 % or more"
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("saves", justify="right")
    table.add_column("known by")
    table.add_column("what limits", overflow="fold", ratio=1)
    table.add_column("what to do", overflow="fold", ratio=1)
    for one in found:
        table.add_row("" if is_done(one) else f"{100 * one.share:.0f} %", one.sure, one.what, one.remedy)
    return Group(table, "saves: at most, of the time; `gpusim limits` simulates what lifting a limit saves")


def _energy(spent: Spent) -> Group:
    """Return the energy of each kind of work of the launch, and its power."""
    table = numbers("energy", "times", "pJ each", "known by", "mJ", "of the work")
    for part in spent.parts:
        cells = f"{part.count:,}", f"{part.picojoules:.2f}", part.method
        table.add_row(part.name, *cells, *_joules(part.joules, part.share))
    table.add_row("in all", "", "", "", *_joules(spent.joules, 1.0))
    rate = f"{spent.picojoules_per_flop:.2f} pJ for each operation, " if spent.picojoules_per_flop else ""
    power = f"{rate}{spent.watts:.1f} W in the mean, {spent.idle_watts:.1f} W of them without work"
    counted = "`gpusim traffic --forwarding`" if spent.forwarding else "`gpusim traffic`"
    return Group(table, power, f"times are words, as {counted} counts them, and thread instructions")


def _joules(joules: float, share: float) -> tuple[str, str]:
    return f"{1000 * joules:.4g}", f"{100 * share:.1f} %"


def _facts(rows: Iterable[tuple[str, str]]) -> Padding:
    grid = Table.grid(padding=(0, 2))
    for name, text in rows:
        grid.add_row(Text(name, style="bold"), text)
    return Padding(grid, (0, 0, 0, 0))
