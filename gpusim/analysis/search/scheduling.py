"""Orders of one program side by side: stalls of one warp by the static model, and cycles of the whole launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np

from gpusim.analysis.search.latencies import latencies
from gpusim.analysis.search.schedule_search import Found, Order
from gpusim.launch.feed import EXECUTION_DRIVEN
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.support.document import Gflops, KernelKey, Labels, MachineKey, OfSettings, Pc, SourceLine, Text, doc
from gpusim.support.plural import plural
from isa.errors import UserError
from isa.kernel import Kernel
from isa.schedule.reorder import moved, reordered, static_stalls
from isa.schedule.schedule import Latencies
from isa.text import listing, printer

GIVEN, STATIC, SEARCHED = "as given", "static", "searched"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One order: its static stalls in cycles of one warp, simulated cycles and GFLOP/s, and the check of its values.

    `values`: right or wrong, compared with the kernel's expected values; the same or others, compared with the program
    as given, bit for bit; or unchecked.
    """

    name: str
    order: Order
    kernel: Kernel
    stalls: float
    cycles: int
    gflops: Gflops
    values: str

    @property
    def moved(self) -> int:
        """Number of instructions that were moved."""
        return len(moved(self.order))

    @property
    def is_wrong(self) -> bool:
        """Whether the order computes wrong values."""
        return self.values in ("wrong", "others")


@dataclass(frozen=True)
class Ordered:
    """An order: instructions moved, static stalls in cycles of one warp, simulated cycles and GFLOP/s of the launch.

    `values`: right or wrong; the same or others, compared with those of the program as given; or unchecked.
    """

    name: str
    moved: int
    stalls: float
    cycles: int
    gflops: Gflops
    values: str


@dataclass(frozen=True)
class Searched:
    """How many orders were judged, the orders judged and the cycles at each improvement, and the fewest cycles."""

    judged: int
    trail: tuple[tuple[int, int], ...]
    cycles: int


@dataclass(frozen=True)
class Placed:
    """An instruction in its new place; `was` is its pc in the program as given."""

    pc: Pc
    was: int
    line: SourceLine
    text: Text


class ScheduleDocument(OfSettings, frozen=True, tag=2):
    """Orders of a program side by side, and the program in the chosen order."""

    kernel: KernelKey
    machine: MachineKey
    orders: Annotated[list[Ordered], doc("The orders, first the program's as given.")]
    search: Annotated[Searched | None, doc("Null if it was not asked for.")]
    chosen: Annotated[str, doc("Name of the order that `instructions` are in.")]
    latencies: Annotated[Latencies, doc("Latencies that the static scheduler uses, by mnemonic of the program.")]
    labels: Labels
    instructions: Annotated[list[Placed], doc("The program in the chosen order.")]


def document(machine: Machine, outcomes: Sequence[Outcome], best: Outcome, found: Found | None) -> ScheduleDocument:
    """Return the orders, what a search found, and the program in the best order as a document."""
    program, table = best.kernel.program, latencies(machine)
    used = sorted({i.row.mnemonic for i in program.instructions})
    return ScheduleDocument(
        kernel=best.kernel.name,
        machine=machine.key,
        orders=[Ordered(o.name, o.moved, o.stalls, o.cycles, o.gflops, o.values) for o in outcomes],
        search=Searched(found.judged, found.trail, found.cycles) if found else None,
        chosen=best.name,
        latencies=Latencies({name: table.of[name] for name in used}, table.issue_interval),
        labels=dict(program.labels),
        instructions=[
            Placed(pc, was, i.line, printer.show_instruction(i))
            for pc, (was, i) in enumerate(zip(best.order, program.instructions, strict=True))
        ],
    )


def compare(
    kernel: Kernel,
    machine: Machine,
    orders: Mapping[str, Order],
    *,
    max_cycles: int | None = None,
    sms: Sms = 1,
    threads: int | None = None,
    tell: Callable[[int, int, str], None] | None = None,
) -> list[Outcome]:
    """Simulate the kernel with its program in each of the named orders; the first is the program as given.

    `tell(blocks done, blocks in all, name)` is called now and then. Other options and errors are those of `simulate`.
    """
    table, outcomes, first = latencies(machine), list[Outcome](), None
    for name, order in orders.items():
        other = replace(kernel, program=reordered(kernel.program, order))
        progress = partial(_progress, tell, name) if tell else None
        result = simulate(other, machine, max_cycles=max_cycles, sms=sms, threads=threads, progress=progress)
        first = first or result
        rate = result.gflops
        stalls = float(static_stalls(other.program, table))
        outcomes.append(Outcome(name, order, other, stalls, result.cycles, rate, _values(result, first)))
    return outcomes


def _progress(tell: Callable[[int, int, str], None], name: str, done: int, total: int) -> None:
    tell(done, total, name)


def _values(result: Result, first: Result) -> str:
    found, runs = result.verification, (result.run, first.run)
    if found.wrong:
        return "wrong"
    same = all(run.feed == EXECUTION_DRIVEN and run.blocks == runs[0].blocks for run in runs)
    comparable = same and result is not first and not result.kernel.racy
    if comparable and not np.array_equal(runs[0].memory, runs[1].memory):
        return "others"
    return "right" if found.verified else "the same" if comparable else "unchecked"


def least(outcomes: list[Outcome]) -> Outcome:
    """Return the order with the fewest cycles and no wrong values, the first of equals."""
    right = [outcome for outcome in outcomes if not outcome.is_wrong]
    return min(right or outcomes[:1], key=lambda outcome: outcome.cycles)


def summary(machine: Machine, outcomes: list[Outcome]) -> list[str]:
    """Return the lines that compare the orders."""
    kernel = outcomes[0].kernel
    head = f"{kernel.name} on {machine.key} ({machine.name} at {machine.chip.shader_mhz} MHz)"
    rows = [f"{o.name:<9}{o.moved:>6}{o.stalls:>15,.0f}{o.cycles:>14,}{_rate(o):>10}  {o.values}" for o in outcomes]
    columns = "order     moved  static stalls        cycles   GFLOP/s  values"
    return [head, "", columns, *rows]


def _rate(outcome: Outcome) -> str:
    return "-" if outcome.gflops is None else f"{outcome.gflops:,.1f}"


def remarks(chosen: Outcome) -> list[str]:
    """Return the lines that say what the text of an order contains and lacks."""
    if not chosen.moved:
        return [f"nothing moved: {chosen.name} is the order as given"]
    behind = f"{plural(chosen.moved, 'instruction')} moved, marked with their old pc"
    return [f"{chosen.name}: {behind}", *_unsaid(chosen.kernel)]


def _unsaid(kernel: Kernel) -> list[str]:
    """The facts of the kernel that a listing can't state."""
    try:
        listing.write(kernel)
    except UserError as error:
        return [f"the program alone, not a launch: {error}"]
    if kernel.outcome is None:
        return ["a listing has no values to compare this kernel's with: running it checks none"]
    return []


def text(outcome: Outcome, head: list[str]) -> str:
    """Return the program in its order below comments; each moved instruction has its old pc after it.

    It is a whole listing that can run if the kernel's memory has a text form.
    """
    taken = moved(outcome.order)
    notes = {pc: f"was {old}" for pc, old in enumerate(outcome.order) if old in taken}
    comments = "".join(f"// {line}".rstrip() + "\n" for line in head)
    try:
        return comments + listing.write(outcome.kernel, notes)
    except UserError:
        return comments + printer.show(outcome.kernel.program, notes)
