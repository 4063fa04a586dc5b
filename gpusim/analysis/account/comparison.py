"""Where the difference between two runs lies: each of its cycles has a cause.

The cycles of a run are its issue slots used and those lost for each reason (`Figures`), so that the difference of the
cycles of two runs is the sum of the differences of these, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gpusim.analysis.account.figures import Figures
from gpusim.support.document import doc
from gpusim.units.stall import MEANING, Stall

USED = "issue slots used"
TENFOLD = 10  # from which on a factor is read more easily than percent
UNITS = {  # the limit of the bound behind a cause
    USED: "issue slots",
    "mio_throttle": "load/store unit",
    "short_scoreboard": "load/store unit",
    "long_scoreboard": "memory bandwidth",
    "drain": "memory bandwidth",
    "dispatch_stall": "register banks",
}


@dataclass(frozen=True)
class Part:
    """A part of the difference: slots used, or lost for a reason; cycles more than before, and their share of all."""

    cause: str
    cycles: float
    share: Annotated[float, doc("Of the whole difference; 0 where there is none.")]


def parts(one: Figures, other: Figures) -> list[Part]:
    """Return what the other's cycles are more than the one's, part by part, the largest in the sense of all first.

    The cycles of all parts add up to the difference, and the shares to 1.
    """
    total = other.cycles - one.cycles
    causes = {USED: other.used - one.used}
    causes |= {reason: other.lost.get(reason, 0.0) - one.lost.get(reason, 0.0) for reason in {**one.lost, **other.lost}}
    found = [Part(cause, cycles, cycles / total if total else 0.0) for cause, cycles in causes.items()]
    return sorted(found, key=lambda part: (-part.share, -abs(part.cycles), part.cause))


def explanation(one: Figures, other: Figures, name: str, other_name: str) -> str:
    """Return a line: how many cycles more or fewer the other takes, and which part is most of that."""
    total = other.cycles - one.cycles
    if not total:
        return f"{other_name} takes as many cycles as {name}."
    first, word = parts(one, other)[0], "more" if total > 0 else "fewer"
    lead = f"{other_name} takes {abs(total):,} cycles {word} than {name} ({change(one.cycles, other.cycles)})"
    return f"{lead}; {100 * first.share:.0f} % of that: {_in_words(first.cause)}{_busy(first.cause, one, other)}."


def change(one: float, other: float) -> str:
    """Return a number relative to one above 0 as screens tell it: percent more or less, from ten times on a factor."""
    ratio = other / one
    return f"x{ratio:,.0f}" if ratio >= TENFOLD else f"{100 * (ratio - 1):+.1f} %"


def _in_words(cause: str) -> str:
    if cause == USED:
        return "slots used, by instructions and their replays"
    return f"slots lost to {cause} ({MEANING[Stall[cause.upper()]]})"


def _busy(cause: str, one: Figures, other: Figures) -> str:
    """How busy both runs keep the unit behind a cause, where there is one."""
    unit = UNITS.get(cause, "")
    if unit not in one.limits or unit not in other.limits:
        return ""
    return f"; {unit} busy {one.limits[unit]:.0f} % of the cycles before, {other.limits[unit]:.0f} % now"
