"""Axes of charts: round numbers, where they stand, and labels that have room in the narrowest window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10

NARROW = 356  # pixels of a chart in a window of 390
CHARACTER = 7.6  # pixels, at most in the mean, of a character in the font of pictures
STEPS = 1, 2, 2.5, 5, 10
INTERVALS = 4  # between round numbers, at most
FLAT = 0.25  # of the greatest value: an axis of values that differ by less does not begin at zero
WIDE, MANY = 16, 4  # ratio of the ends, and number of values, from which on an axis is logarithmic
UNITS = (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")
WHOLE = 10_000  # from which on thousands are written as k


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, and the round numbers between them; `log` says that equal steps are factors."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value stands, from 0 at the low end to 1 at the high end."""
        if self.log:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def told(self) -> str:
        """What a reader must know of the axis: where it begins, if not at zero, and that it is logarithmic."""
        if self.log:
            return f"is logarithmic, and begins at {short(self.low)}"
        return "" if self.low <= 0 <= self.high else f"begins at {short(self.low)}, not at zero"


def from_zero(values: Iterable[float]) -> Axis:
    """Return an axis that has zero and all values between two round numbers."""
    found = [0.0, *values]
    return _linear(min(found), max(found))


def of_curve(values: Sequence[float]) -> Axis:
    """Return an axis that begins at zero, but where all values are nearly the same: there it begins below them."""
    least, most = min(values), max(values)
    return _linear(least, most) if 0 < most - least < FLAT * most and least > 0 else from_zero(values)


def of_choices(values: Sequence[float]) -> Axis:
    """Return an axis from the least to the greatest of some values, logarithmic if they are far apart."""
    found = sorted(set(values))
    if len(found) >= MANY and found[0] > 0 and found[-1] / found[0] >= WIDE:
        return Axis(found[0], found[-1], tuple(found), log=True)
    if len(found) < 2:
        return Axis(found[0] - 1, found[0] + 1, tuple(found))
    return Axis(found[0], found[-1], tuple(found))


def _linear(low: float, high: float) -> Axis:
    if low == high:
        high = low + 1
    rough = (high - low) / INTERVALS
    power = 10.0 ** floor(log10(rough))
    for step in (power * factor for scale in (1, 10) for factor in (scale * each for each in STEPS)):
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if last - first <= INTERVALS:
            break
    return Axis(first * step, last * step, tuple(step * k for k in range(first, last + 1)))


def short(value: float) -> str:
    """Return a number in a few characters: 1,234, 12.5 k, 0.0031."""
    for size, unit in UNITS if WHOLE <= abs(value) < 1e15 else ():
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:,.0f}" if 1000 <= abs(value) < WHOLE else f"{value:.3g}"


def with_room(labels: Sequence[tuple[float, str]], room: float) -> list[tuple[float, str]]:
    """Return those labels, at places from 0 to 1 of so many pixels, that stand clear of each other; first and last do.

    A label stands in the middle of its place.
    """
    kept: list[tuple[float, str]] = []
    last = labels[-1:]
    for each in labels[:-1]:
        if all(_clear(other, each, room) for other in (*kept[-1:], *(last if kept else ()))):
            kept.append(each)
    return [*kept, *(each for each in last if not kept or _clear(kept[-1], each, room))]


def _clear(one: tuple[float, str], other: tuple[float, str], room: float) -> bool:
    return abs(other[0] - one[0]) * room >= CHARACTER * (len(one[1]) + len(other[1])) / 2 + CHARACTER
