"""The page of `gpusim sweep`: speed over the first axis, where the cycles of the fastest go, and the Pareto front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpusim.analysis.account.figures import estimates
from gpusim.analysis.search.sweep import Axis
from gpusim.analysis.search.sweep_table import Cell, Cells, column_of
from gpusim.commands.causes.figures_charts import cycles_section
from gpusim.commands.search.sweep_plot import by_others, curve, label_of, place
from gpusim.commands.search.sweep_screen import Swept
from gpusim.support.plural import plural
from gpusim.views.charts.curves import MOST, Curve, plot
from gpusim.views.charts.page import Key, PageSection, Row, Table, page

FASTEST = 6  # points whose cycles are shown
ROWS = 200  # of a table


def sweep_page(swept: Swept) -> str:
    """Return the page; a sweep of one point, or of none that could be simulated, has no curve."""
    facts = [f"{axis.name}: {' '.join(axis.values)}" for axis in swept.axes]
    facts += [f"{len(swept.simulated):,} of {plural(len(swept.rows), 'point')} simulated"]
    facts += estimates([found for found, _ in swept.simulated], "point")
    facts += [f"not simulated: {plural(count, 'point')}: {reason}" for reason, count in swept.reasons.most_common()]
    return page(f"gpusim sweep: {swept.kernel} on {swept.machine}", facts, list(_sections(swept)))


def _sections(swept: Swept) -> Iterator[PageSection]:
    varied = [axis for axis in swept.axes if len(axis.values) > 1]
    speed = "gflops" if swept.rated else "milliseconds"
    shown = [row for row in swept.table if speed in row]
    if varied and shown:
        yield _speed(shown, column_of(varied[0]), speed)
    if swept.front:
        yield _front(swept)
    if shown:
        runs = [(_name(each.point.values, varied), figures) for figures, each in swept.simulated[:FASTEST]]
        yield cycles_section(runs, "Where the cycles of the fastest points go")


def _speed(shown: Sequence[Cells], x: str, y: str) -> PageSection:
    """Return y over x: a line for each choice of the other axes, or points if that is more lines than one can tell."""
    groups = {name or label_of(y): rows for name, rows in by_others(shown, x).items()}
    many = len(groups) > MOST
    if many:
        curves = [Curve("all points", _points(shown, x, y), alone=True)]
    else:
        curves = [curve(name, rows, x, y) for name, rows in groups.items()]
    found = plot(curves, label_of(x), label_of(y))
    text = [f"{plural(len(groups), 'choice')} of the other axes are too many for lines: each point is a dot."] * many
    keys = [Key(each.colour, each.letter, each.name, bool(each.dashes)) for each in found.lines if not many]
    table = _all_points(shown, x, y) if many else _by_choice(curves, x)
    return PageSection(f"{label_of(y)} over {label_of(x)}", [*text, *found.notes], found.svg, keys, table)


def _by_choice(curves: Sequence[Curve], x: str) -> Table:
    choices = sorted({choice for curve in curves for choice, _ in curve.points}, key=place)
    values = [dict(curve.points) for curve in curves]
    rows = [Row(str(choice), [_cell(each.get(choice)) for each in values]) for choice in choices]
    return Table((label_of(x), *(curve.name for curve in curves)), rows)


def _points(rows: Sequence[Cells], x: str, y: str) -> tuple[tuple[Cell, float], ...]:
    return tuple((row[x], float(row[y])) for row in rows)


def _all_points(shown: Sequence[Cells], x: str, y: str) -> Table:
    names = [name for name in shown[0] if name.startswith(("set.", "p.")) and name != x]
    rows = [Row(str(row[x]), [*(str(row[name]) for name in names), _cell(float(row[y]))]) for row in shown[:ROWS]]
    caption = f"The first {ROWS} of {plural(len(shown), 'point')}; --out DIR writes all" if len(shown) > ROWS else ""
    return Table((label_of(x), *map(label_of, names), label_of(y)), rows, caption)


def _front(swept: Swept) -> PageSection:
    """Return all points in the first two columns of the front, and the front as a line."""
    x, y = swept.compared[:2]
    others = [row for row in swept.table if x in row and y in row and row not in swept.front]
    beaten = [Curve("beaten", _points(others, x, y), alone=True)] if others else []
    curves = [Curve("Pareto front", _points(swept.front, x, y)), *beaten]
    found = plot(curves, label_of(x), label_of(y))
    keys = [Key(each.colour, each.letter, each.name) for each in found.lines]
    names = [column_of(axis) for axis in swept.axes if len(axis.values) > 1]
    rows = [Row(_cell(row[x]), [_cell(row[name]) for name in (*swept.compared[1:], *names)]) for row in swept.front]
    table = Table(tuple(map(label_of, (*swept.compared, *names))), rows)
    head = f"Pareto front of {' and '.join(map(label_of, swept.compared))}"
    text = ["No other point beats one of the front in every column."]
    return PageSection(head, [*text, *found.notes], found.svg, keys, table)


def _cell(value: int | float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "" if value is None else str(value)


def _name(values: dict[str, str], varied: Sequence[Axis]) -> str:
    return " ".join(f"{axis.name}={values[axis.name]}" for axis in varied) or "the point"
