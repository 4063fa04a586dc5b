"""The tables of `gpusim validate MACHINE --kernels`, for the screen and for a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill

from rich.console import RenderableType

from gpusim.analysis.validate.agreement import (
    counter_errors,
    counter_sizes,
    cycle_sizes,
    order,
    stall_match,
    stall_sizes,
)
from gpusim.analysis.validate.kernels import CONFIGURATIONS, Compared
from gpusim.analysis.validate.profiler import COUNTERS
from gpusim.commands.frame.document import new_table, right
from gpusim.machine.machine import Machine

ABOUT = (
    "Cycles on the chip, and the error of the simulated ones: of a block (solo, persm: one block, or one on each SM), "
    "or of an SM from the first entry to the last exit (resident: as many blocks as fit; full: all of a problem). "
    "One SM is simulated with all its blocks; nothing is extrapolated."
)
ABOUT_STALLS = (
    "First stall reasons by ncu's names, with their shares of the warp-cycles in percent; chip: the chip's share of "
    "the first one here; diff: mean difference of the shares of a reason, over those with 1 %."
)
ABOUT_COUNTERS = (
    "Errors of what was counted in the whole grid; ncu's counters that are not listed are not counted here."
)
HEAD = """# Whole kernels on the {name}

Written by `make validation`, not by hand. [Validation](validation.md) says what was fitted to what.
"""
LINE = 120  # characters of a line of prose in a page
Cells = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """A table: what it shows, its columns, of which the first `words` hold words, and its rows."""

    about: str
    names: Cells
    words: int
    rows: Sequence[Cells]


def screen(machine: Machine, found: Sequence[Compared], settings: Sequence[str] = ()) -> Iterator[RenderableType]:
    """Yield what was changed of the machine, the tables and the lines below them."""
    yield f"{machine.name}: whole kernels as they were timed, and simulated ones"
    if settings:
        yield f"settings {' '.join(settings)}"
    for each in _tables(found):
        table = new_table(*each.names[: each.words], *right(*each.names[each.words :]), tight=True)
        for row in each.rows:
            table.add_row(*row)
        yield from ("", table, "", each.about)
    yield from ("", *_totals(found))


def markdown(machine: Machine, found: Sequence[Compared], picture: str) -> str:
    """Return a page with the same, and with the picture at an address unless that is empty."""
    shown = [f"![Simulated over measured cycles, and shares of stall reasons]({picture})\n"] if picture else []
    tables = [f"{fill(each.about, LINE)}\n\n{_piped(each)}\n" for each in _tables(found)]
    totals = "".join(f"- {line}\n" for line in _totals(found))
    return "\n".join((HEAD.format(name=machine.name), totals, *shown, *tables))


def _piped(table: Columns) -> str:
    words = ["---"] * table.words + ["--:"] * (len(table.names) - table.words)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (table.names, tuple(words), *table.rows))


def _tables(found: Sequence[Compared]) -> Iterator[Columns]:
    """Yield those that have rows."""
    for each in (_cycles(found), _stalls(found), _counters(found)):
        if each.rows:
            yield each


def _cycles(found: Sequence[Compared]) -> Columns:
    known = {(one.timed.kernel, one.timed.configuration): one for one in found}
    shown = [each for each in CONFIGURATIONS if any(one.timed.configuration == each for one in found)]
    rows = []
    for kernel in dict.fromkeys(one.timed.kernel for one in found):
        cells = [cell for each in shown for cell in _cycle_cells(known[kernel, each])]
        rows.append((kernel, *cells))
    return Columns(ABOUT, ("kernel", *(name for each in shown for name in (each, "error"))), 1, rows)


def _cycle_cells(one: Compared) -> Cells:
    return f"{one.timed.cycles:,.0f}", _percent(one.error)


def _stalls(found: Sequence[Compared]) -> Columns:
    rows = []
    for one in found:
        if match := stall_match(one):
            names = one.timed.kernel, one.timed.configuration, match.chip_first, match.first
            shares = match.chip_share, match.share, match.chip_share_of_first, match.mean_difference
            rows.append((*names, *(f"{100 * share:.1f}" for share in shares), "yes" if match.agrees else "no"))
    names = "kernel", "launch", "chip's first", "first here"
    return Columns(ABOUT_STALLS, (*names, "%", "here", "chip", "diff", "agrees"), len(names), rows)


def _counters(found: Sequence[Compared]) -> Columns:
    errors = {(one.timed.kernel, one.timed.configuration): counter_errors(one) for one in found}
    counted = [name for name in COUNTERS if any(name in each for each in errors.values())]
    rows = [
        (*launch, *(_percent(each[name]) if name in each else "-" for name in counted))
        for launch, each in errors.items()
        if each
    ]
    return Columns(ABOUT_COUNTERS, ("kernel", "launch", *(name.replace("_", " ") for name in counted)), 2, rows)


def _totals(found: Sequence[Compared]) -> Iterator[str]:
    """Yield a line for each summary."""
    for each, size in cycle_sizes(found).items():
        worst = f"worst {_percent(size['worst_error'])} ({size['worst']})"
        yield f"{each}: {size['n']}, mean error {100 * size['mean_error']:.1f} %, {worst}"
    for each, correlation in order(found).items():
        yield f"{each}: rank correlation of the sgemm kernels by speed {correlation:.3f}"
    for each, stalls in stall_sizes(found).items():
        agree = f"agrees in {stalls['agree']} of {stalls['n']}, is the same in {stalls['same']}"
        yield f"{each}: first stall reason {agree}; shares differ by {100 * stalls['mean_difference']:.1f} points"
    for each, of in counter_sizes(found).items():
        for name, size in of.items():
            error = f"mean error {100 * size['mean_error']:.2f} %, worst {_percent(size['worst_error'])}"
            yield f"{each}: {name.replace('_', ' ')}: {error}"


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %"
