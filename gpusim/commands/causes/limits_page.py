"""The page of `gpusim limits`: what lifting each limit saves, alone and in order, and the way to the ideal SM."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.analysis.account.limit_study import Lifted, LimitStudy
from gpusim.support.plural import plural
from gpusim.views.charts.bars import Bar, Segment, bars
from gpusim.views.charts.page import Key, PageSection, Row, Table, page

ALONE, IN_ORDER = "link", "heat"  # colours


def limits_page(head: str, facts: Sequence[str], found: LimitStudy, settings: Sequence[str]) -> str:
    """Return the page; `settings` say how each limit is lifted."""
    cycles = f"{found.cycles:,} cycles as it is, {found.ideal:,} with every limit lifted"
    notes = [f"{name}: {note}" for name, note in found.notes.items()]
    how = PageSection("How each limit is lifted", [*settings, *notes])
    return page(f"gpusim limits: {head}", [*facts, cycles], [_savings(found), _way(found), how])


def _savings(found: LimitStudy) -> PageSection:
    felt = [each for each in found.limits if each.saves_alone or each.saves_in_order]
    idle = [each.name for each in found.limits if not (each.saves_alone or each.saves_in_order)]
    text = ["Alone: while all other limits stay. In order: after all limits above it have been lifted."]
    if idle:
        text.append(f"Lifting saves nothing, alone or in order: {', '.join(idle)}.")
    if any(min(each.saves_alone, each.saves_in_order) < 0 for each in felt):
        text.append("Less than zero: cycles are lost, as warps that come sooner may come in a worse order.")
    rows = [bar for each in felt for bar in _pair(each, found.cycles)]
    keys = [Key(ALONE, "", "alone"), Key(IN_ORDER, "", "in order")]
    picture = bars(rows, "% of the cycles as it is, from zero") if rows else None
    return PageSection("What lifting each limit saves", text, picture, keys if rows else (), _table(found))


def _pair(each: Lifted, whole: int) -> tuple[Bar, Bar]:
    return (
        _saving(f"{each.name}, alone", each.saves_alone, whole, ALONE),
        _saving(f"{each.name}, in order", each.saves_in_order, whole, IN_ORDER),
    )


def _saving(name: str, saved: int, whole: int, colour: str) -> Bar:
    percent = 100 * saved / whole
    return Bar(name, f"{percent:.1f} %", (Segment(colour, percent, f"{name}: saves {plural(saved, 'cycle')}"),))


def _way(found: LimitStudy) -> PageSection:
    """Return a bar for the SM as it is and one after each limit in order, as far as each changes something."""
    rows, before = [_left("as it is", found.cycles, 0)], found.cycles
    for each in found.limits:
        if each.saves_in_order:
            rows.append(_left(f"{each.name} lifted", each.in_order, before - each.in_order))
        before = each.in_order
    text = ["Cycles that are left when limits are lifted one after the other; what saved none has no pale part."]
    if found.least < found.ideal:
        fewest, why = f"Fewest on the way: {found.least:,}.", "as warps come in another order"
        text.append(f"{fewest} Lifted limits may cost cycles, {why}.")
    keys = [Key(ALONE, "", "left"), Key(IN_ORDER, "", "saved by the last one", pale=True)]
    return PageSection("From the real SM to the ideal one", text, bars(rows, "shader cycles, from zero"), keys)


def _left(name: str, cycles: int, saved: int) -> Bar:
    left = Segment(ALONE, cycles, f"{name}: {cycles:,} cycles")
    gone = (Segment(IN_ORDER, saved, f"saved: {saved:,} cycles", 0.5),) if saved > 0 else ()
    return Bar(name, f"{cycles:,} cycles", (left, *gone))


def _table(found: LimitStudy) -> Table:
    heads = ("limit lifted", "cycles alone", "saves", "%", "cycles in order", "saves", "%")
    return Table(heads, [Row(name, cells) for name, *cells in rows_of(found)])


def rows_of(found: LimitStudy) -> list[list[str]]:
    """Return for each limit its name, and cycles, savings and percents: alone, then in order."""
    return [
        [each.name, *_cells(each.alone, each.saves_alone, found), *_cells(each.in_order, each.saves_in_order, found)]
        for each in found.limits
    ]


def _cells(cycles: int, saved: int, found: LimitStudy) -> tuple[str, str, str]:
    return f"{cycles:,}", f"{saved:,}", f"{100 * saved / found.cycles:.1f}"
