"""Bars on an axis that begins at zero: each below its label, so that no label meets a bar or another label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.etree.ElementTree import Element, SubElement

from gpusim.views.charts.axis import CHARACTER, NARROW, Axis, from_zero, short
from gpusim.views.picture import FONT, box, words

LINE, BAR, GAP, EDGE = 15, 14, 7, 4
HALO = "paint-order: stroke; stroke: var(--background); stroke-width: 5px"  # a label's, where lines of the axis pass
LEAST = 12  # characters of a line of a label, however long its figure is


@dataclass(frozen=True)
class Segment:
    """A part of a bar: its colour by name of the palette or the page, its length, and what it is."""

    colour: str
    value: float
    title: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Bar:
    """A bar below its label and figure; segments follow each other from zero, those below zero to the left."""

    label: str
    figure: str
    segments: tuple[Segment, ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The values to which the bar reaches on either side of zero."""
        values = [each.value for each in self.segments]
        return sum(v for v in values if v < 0), sum(v for v in values if v > 0)


def bars(rows: Sequence[Bar], unit: str) -> Element:
    """Return the bars as SVG, below them the axis and its unit."""
    axis = from_zero(end for row in rows for end in row.ends)
    root, y = Element("svg", {"class": "bars", "role": "img", "style": FONT, "width": "100%"}), 0.0
    root.set("aria-label", f"{len(rows)} bars of {unit}; the table has their numbers")
    grid = SubElement(root, "g")
    for row in rows:
        y = _bar(root, row, y, axis)
    _axis(root, grid, axis, y, unit)
    root.set("height", f"{y + 2 * LINE + EDGE:g}")
    return root


def lines(label: str, figure: str) -> list[str]:
    """Return a label in lines that leave room for the figure behind the last one in the narrowest window."""
    return wrap(label, max(LEAST, int(NARROW / CHARACTER) - len(figure) - 1)) or [""]


def _bar(root: Element, row: Bar, y: float, axis: Axis) -> float:
    """Add a label, its figure and its bar below a height; return the height below them."""
    for text in lines(row.label, row.figure):
        y += LINE
        words(root, 0, y - EDGE, text, "var(--text)", style=HALO)
    words(root, "100%", y - EDGE, row.figure, "var(--text)", anchor="end", style=HALO)
    left = right = 0.0
    for each in row.segments:
        start = right if each.value >= 0 else left + each.value
        place = f"{100 * axis.place(start):.4f}%", y, f"{100 * abs(each.value) / (axis.high - axis.low):.4f}%", BAR
        part = box(root, place, f"var(--{each.colour}, var(--other))", opacity=f"{each.opacity:g}")
        SubElement(part, "title").text = each.title
        left, right = left + min(each.value, 0), right + max(each.value, 0)
    return y + BAR + GAP


def _axis(root: Element, grid: Element, axis: Axis, bottom: float, unit: str) -> None:
    """Add lines through the bars and round numbers below them; the outer two stand inside the chart."""
    for tick in axis.ticks:
        at = axis.place(tick)
        x, zero = f"{100 * at:.4f}%", abs(tick) < 1e-9 * (axis.high - axis.low)
        colour = "var(--faint)" if zero else "var(--line)"
        SubElement(grid, "line", x1=x, x2=x, y1="0", y2=f"{bottom:g}", stroke=colour)
        anchor = "start" if at < 0.01 else "end" if at > 0.99 else "middle"
        words(root, x, bottom + LINE - EDGE, "0" if zero else short(tick), "var(--faint)", anchor=anchor)
    words(root, "50%", bottom + 2 * LINE - EDGE, unit, "var(--faint)", anchor="middle")
