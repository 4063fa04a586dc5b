"""The difference between two runs, divided by cause, cycle for cycle.

The cycles of a run are its used issue slots plus those lost for each reason (`Figures`). So the difference between the
cycles of two runs is exactly the sum of the differences of these parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gpusim.analysis.account.figures import Figures
from gpusim.sm.unit.stall import Stall
from gpusim.support.document import doc

USED = "issue slots used"
TENFOLD = 10  # factor from which on it reads more easily than percent
UNITS = {  # the limit of the bound behind a cause
    USED: "issue slots",
    "mio_throttle": "load/store unit",
    "lg_throttle": "load/store unit",
    "short_scoreboard": "load/store unit",
    "long_scoreboard": "memory bandwidth",
    "drain": "memory bandwidth",
    "dispatch_stall": "register banks",
}


@dataclass(frozen=True)
class Part:
    """A part of the difference: slots used, or lost for a reason; the cycles added, and their share of the whole."""

    cause: str
    cycles: float
    share: Annotated[float, doc("Share of the whole difference; 0 if there is none.")]


def parts(one: Figures, other: Figures) -> list[Part]:
    """Return by how many cycles the other run exceeds the first, part by part, first the parts that contribute most.

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
    """Return the change from one number above 0 to another as shown: percent more or less, from tenfold on a factor."""
    ratio = other / one
    return f"x{ratio:,.0f}" if ratio >= TENFOLD else f"{100 * (ratio - 1):+.1f} %"


def _in_words(cause: str) -> str:
    if cause == USED:
        return "slots used, by instructions and their replays"
    return f"slots lost to {cause} ({Stall[cause.upper()].meaning})"


def _busy(cause: str, one: Figures, other: Figures) -> str:
    """How busy both runs keep the unit behind a cause; empty without such a unit."""
    unit = UNITS.get(cause, "")
    if unit not in one.limits or unit not in other.limits:
        return ""
    return f"; {unit} busy {one.limits[unit]:.0f} % of the cycles before, {other.limits[unit]:.0f} % now"
