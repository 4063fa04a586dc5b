"""A figure's colours for dark pages: light letters and axes, and the palette's colours for dark ground."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from gpusim.views.palette import COLOURS

LETTERS, GROUND, GRID = "0.9", "0.1", "0.3"  # greys
LIGHT_GRID = 0.85  # greys from here on are grids, and white is the ground
DARKER = {to_hex(one.light): one.dark for one in reversed(COLOURS.values())}


def darken(figure: Figure) -> None:
    """Give a figure that was drawn for light ground the colours for dark ground."""
    for artist in figure.findobj():
        if isinstance(artist, Text):
            if to_hex(artist.get_color()) == to_hex("black"):
                artist.set_color(LETTERS)
        else:
            for name in _colours(artist):
                _replace(artist, name)


def _colours(artist: Artist) -> Iterator[str]:
    """The colours that an artist has, by name."""
    if isinstance(artist, Line2D):
        yield from ("color", "markerfacecolor", "markeredgecolor")
    elif isinstance(artist, Patch | Collection):
        yield from ("facecolor", "edgecolor")


def _replace(artist: Any, name: str) -> None:
    given = getattr(artist, f"get_{name}")()
    if isinstance(artist, Collection):
        getattr(artist, f"set_{name}")([on_dark(one) for one in given])
    else:
        getattr(artist, f"set_{name}")(on_dark(given))


def on_dark(colour: Any) -> Any:
    """Return a colour for dark ground: black is light, white is the ground, and the palette's are its dark ones."""
    if isinstance(colour, str) and colour in ("none", "auto"):
        return colour
    *channels, alpha = to_rgba(colour)
    name = to_hex(colour)
    if name in DARKER:
        return to_rgba(DARKER[name], alpha)
    if name in (to_hex("black"), to_hex("white")):
        return to_rgba(LETTERS if name == to_hex("black") else GROUND, alpha)
    if min(channels) == max(channels) >= LIGHT_GRID:
        return to_rgba(GRID, alpha)
    return colour
