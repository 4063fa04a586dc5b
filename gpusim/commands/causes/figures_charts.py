"""Charts of the figures of several runs: where their cycles go, how busy each unit is, what makes the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

from gpusim.analysis.account.comparison import USED, Part, parts
from gpusim.analysis.account.figures import Figures
from gpusim.sm.unit.stall import Stall, label
from gpusim.views.charts.bars import Bar, Segment, bars
from gpusim.views.charts.page import Key, PageSection, Row, Table

Named = Sequence[tuple[str, Figures]]  # runs by their labels
SELECTED = label(Stall.SELECTED)  # the colour of a used issue slot
MEANING = {label(reason): reason.meaning for reason in Stall}
LEAST = 0.001  # share of the cycles, in each run, below which a reason has no row
BUSY = 0.01  # share of the cycles, in each run, below which a unit has no bar
VISIBLE = 0.01  # share of a difference below which a part of it has no bar


def cycles_section(runs: Named, head: str) -> PageSection:
    """Return a bar for each run, from zero to its cycles: issue slots used, and lost by reason."""
    lost = reasons([figures for _, figures in runs])
    rows = [_cycles_bar(name, figures, lost) for name, figures in runs]
    table = Table(("cycles of issue slots", *(name for name, _ in runs)), list(_cycles_rows(runs, lost)))
    text = "Each bar is the cycles of a run: issue slots used, and lost by stall reason, which add up to them."
    keys = [Key(SELECTED, "", "used"), *(Key(reason, "", reason, meaning=MEANING[reason]) for reason in lost)]
    return PageSection(head, [text], bars(rows, "shader cycles, from zero"), keys, table)


def busy_section(runs: Named) -> PageSection:
    """Return bars of how busy each run keeps each unit at least, in percent of its cycles."""
    shares = [figures.limits for _, figures in runs]
    names = largest(shares, [100.0] * len(shares), BUSY)
    letters = dict(zip((name for name, _ in runs), ascii_uppercase, strict=False))
    rows = [_busy_bar(unit, letters[name], figures.limits.get(unit, 0.0)) for unit in names for name, figures in runs]
    keys = [Key("text", letter, name, mark=False) for name, letter in letters.items()]
    table = Table(
        ("busy at least, % of cycles", *letters),
        [Row(unit, [f"{each.get(unit, 0.0):.1f}" for each in shares]) for unit in names],
    )
    idle = sorted({name for each in shares for name, share in each.items() if share > 0} - set(names))
    text = ["The least share of its cycles for which a run keeps each unit busy; a run can't take less than 100 %."]
    text += [f"Busy for less than {100 * BUSY:g} % of the cycles of any run: {', '.join(idle)}."] if idle else []
    return PageSection("How busy each unit is", text, bars(rows, "% of the run's cycles, from zero"), keys, table)


def difference_section(first: tuple[str, Figures], other: tuple[str, Figures], sentence: str) -> PageSection:
    """Return bars of the parts of the difference between two runs, fewer cycles to the left of zero."""
    found = parts(first[1], other[1])
    most = max(abs(part.cycles) for part in found)
    shown = [part for part in found if abs(part.cycles) >= max(VISIBLE * most, 0.5)]
    picture = bars([_part_bar(part) for part in shown], "cycles less, or more, than the first") if shown else None
    table = Table(
        ("part", "cycles", "% of the difference"),
        [Row(each.cause, (f"{each.cycles:+,.0f}", f"{100 * each.share:.1f}"), _colour(each.cause)) for each in shown],
    )
    return PageSection(f"From {first[0]} to {other[0]}", [sentence], picture, (), table if shown else None)


def reasons(each: Sequence[Figures]) -> list[str]:
    """Return the reasons for lost cycles that are large enough in some run, the largest share first."""
    return largest([figures.lost for figures in each], [float(figures.cycles) for figures in each])


def largest(each: Sequence[Mapping[str, float]], wholes: Sequence[float], least: float = LEAST) -> list[str]:
    """Return the names whose share is large enough in some run, the largest share first."""
    shares = {
        name: max(parts.get(name, 0.0) / whole for parts, whole in zip(each, wholes, strict=True))
        for name in dict.fromkeys(name for parts in each for name in parts)
    }
    return sorted((name for name, share in shares.items() if share >= least), key=lambda name: -shares[name])


def _cycles_bar(name: str, figures: Figures, reasons: Sequence[str]) -> Bar:
    pieces = {SELECTED: figures.used} | {reason: figures.lost.get(reason, 0.0) for reason in reasons}
    segments = [
        Segment(colour, cycles, f"{'used' if colour == SELECTED else colour}: {_of(cycles, figures.cycles)}")
        for colour, cycles in pieces.items()
        if cycles > 0
    ]
    return Bar(name, f"{figures.cycles:,} cycles", tuple(segments))


def _of(cycles: float, whole: float) -> str:
    return f"{cycles:,.0f} cycles, {100 * cycles / whole:.1f} %"


def _cycles_rows(runs: Named, reasons: Sequence[str]) -> Iterator[Row]:
    """Yield a row for all cycles, used slots and each reason."""
    each = [figures for _, figures in runs]
    yield Row("all", [f"{figures.cycles:,}" for figures in each])
    yield Row("used", [f"{figures.used:,.0f}" for figures in each], SELECTED)
    for reason in reasons:
        yield Row(reason, [f"{figures.lost.get(reason, 0.0):,.0f}" for figures in each], reason)


def _busy_bar(unit: str, letter: str, percent: float) -> Bar:
    return Bar(
        f"{letter} {unit}", f"{percent:.1f} %", (Segment("link", percent, f"{letter}, {unit}: {percent:.1f} %"),)
    )


def _part_bar(part: Part) -> Bar:
    title = f"{part.cause}: {part.cycles:+,.0f} cycles"
    return Bar(part.cause, f"{part.cycles:+,.0f} cycles", (Segment(_colour(part.cause), part.cycles, title),))


def _colour(cause: str) -> str:
    return SELECTED if cause == USED else cause
