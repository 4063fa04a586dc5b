"""The palette: one colour for each stall reason and state, on light and on dark ground, and the letters on it.

Stall reasons have theirs beside their meaning (gpusim/sm/unit/stall.py); an instruction's states after its issue have
theirs here. The HTML view, the pictures, the lessons, the plots and the docs take both from here.
"""

from __future__ import annotations

from typing import NamedTuple

from gpusim.sm.unit.stall import Stall, label

BLACK, WHITE = "#000000", "#ffffff"
BALANCE = 0.1791  # luminance on which black and white have the same contrast: the root of 1.05 * 0.05, less 0.05


class Colour(NamedTuple):
    """A colour as #rrggbb on light and on dark ground."""

    light: str
    dark: str

    @property
    def letters(self) -> Colour:
        """The colours of letters that stand on it."""
        return Colour(letters_on(self.light), letters_on(self.dark))


STATES = {
    "queued": Colour("#9eb5c8", "#54697c"),
    "occupies": Colour("#0c70af", "#3c97db"),
    "under_way": Colour("#bfdbff", "#174461"),
}
COLOURS = STATES | {label(reason): Colour(reason.light, reason.dark) for reason in Stall}

LINES = (  # of curves, which show no reason: ten that are told apart by colour or by dashes
    Colour("#0c70af", "#3c97db"),
    Colour("#b3400b", "#ff8a5c"),
    Colour("#1b7a3d", "#4fc47a"),
    Colour("#8b3f8f", "#d38bd6"),
    Colour("#5d6770", "#aab4bd"),
)


def letters_on(colour: str) -> str:
    """Return black or white, whichever has more contrast on a colour: 4.58 to 1 or more."""
    return BLACK if luminance(colour) > BALANCE else WHITE


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG 2.1 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, from 0 to 1, as WCAG 2.1 defines it."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
