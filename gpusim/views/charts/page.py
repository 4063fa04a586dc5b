"""A page of charts: sections with a picture, sentences and a table of the numbers, in one file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from xml.etree.ElementTree import Element, tostring

from gpusim.views import html
from gpusim.views.palette import COLOURS, LINES

FOLDER = files("gpusim.views.charts")


@dataclass(frozen=True)
class Key:
    """A line of a legend: a colour by name of the palette or the page, a letter or none, and what it stands for."""

    colour: str
    letter: str
    text: str
    dashes: bool = False
    mark: bool = True  # whether the colour is shown
    meaning: str = ""
    pale: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table: its head, with a colour if it stands for one and a page to go to, and its cells."""

    head: str
    cells: Sequence[str]
    colour: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """Numbers: the head of each column, the first of which is that of the rows' heads."""

    heads: Sequence[str]
    rows: Sequence[Row]
    caption: str = ""


@dataclass(frozen=True)
class PageSection:
    """A picture with what it shows, its legend, and the table of its numbers; each of these may be missing."""

    head: str
    text: Sequence[str] = ()
    picture: Element | None = None
    keys: Sequence[Key] = ()
    table: Table | None = None


def page(title: str, facts: Sequence[str], sections: Sequence[PageSection]) -> str:
    """Return the HTML of a page, with its title and facts above its sections."""
    from markupsafe import Markup  # noqa: PLC0415  (only pages need it)

    base = (html.FOLDER / "colours.css").read_text(encoding="utf-8")
    return html.rendered(
        _text("charts.html"),
        title=title,
        facts=facts,
        sections=[(each, Markup(_svg(each.picture))) for each in sections],
        colours=COLOURS | {f"line-{number}": colour for number, colour in enumerate(LINES)},
        style=Markup(f"{base}\n{_text('charts.css')}"),
    )


def _svg(picture: Element | None) -> str:
    return "" if picture is None else tostring(picture, encoding="unicode")


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
