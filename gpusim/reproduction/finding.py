"""The result computed here for a claim, how it was obtained, and whether it meets the claim."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from math import trunc
from typing import Any

from gpusim.reproduction.bench import Bench
from gpusim.reproduction.claims import EXACT, Claim, Figure, Limit
from isa.errors import UserError

Alike = Callable[[float, Figure], bool]

NOT_REPRODUCIBLE, NOT_COMPUTED = "not reproducible", "not computed"
SIMULATED = "fitted", "in sight", "predicted"
KINDS = {
    "counted": "in an instruction stream, or checked in the values that it leaves; no time is in it",
    "analytic": "from published formulas and numbers of machine files or programs; if runs test them, the note says so",
    "input": "a number of a machine file itself, or what a rule of the model says outright",
    "arithmetic": "from other numbers of the document, or a data sheet: no program and no machine file decides it",
    "fitted": "parameters of the machine were fitted to it",
    "in sight": "simulated; the choices that follow were made by people who saw the result",
    "predicted": "simulated; nobody saw the result while choosing",
    NOT_REPRODUCIBLE: "information that it needs was not published; the reason follows",
    NOT_COMPUTED: "an error kept it from being computed; it counts as failed",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Figures in the order of the claim's, or words, and the kind, with a remark after a colon.

    `passed` is set only if neither the claim's tolerance nor equal words decide.
    """

    ours: tuple[float, ...] | str
    kind: str
    note: str = ""
    passed: bool | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`error` is the largest one, relative or, where the tolerance is absolute, a difference; None without figures.

    `passed` is None if there is nothing to compare with.
    """

    ours: str
    error: float | None
    passed: bool | None


Finder = Callable[[Bench], Finding]


def registrar(into: MutableMapping[str, Finder]) -> Callable[[str], Callable[[Finder], Finder]]:
    """Return the decorator `@claim(id)`, which enters a function as the one that computes that claim."""

    def claim(name: str) -> Callable[[Finder], Finder]:
        def enter(function: Finder) -> Finder:
            into[name] = function
            return function

        return enter

    return claim


def _of(kind: str) -> Callable[..., Finding]:
    def finding(*ours: Any, note: str = "", passed: bool | None = None) -> Finding:
        words = len(ours) == 1 and isinstance(ours[0], str)
        return Finding(ours[0] if words else tuple(float(figure) for figure in ours), kind, note, passed)

    return finding


counted, analytic, arithmetic = (_of(kind) for kind in ("counted", "analytic", "arithmetic"))
given, predicted = (_of(kind) for kind in ("input", "predicted"))


def fitted(by: str, *ours: Any, note: str = "", passed: bool | None = None) -> Finding:
    """Return figures to which parameters were fitted; `by` says how many and to which data, see `Bench.fitted`.

    Raises ValueError if it says nothing.
    """
    return _of(_named("fitted", by))(*ours, note=note, passed=passed)


def in_sight(choices: str, *ours: Any, note: str = "", passed: bool | None = None) -> Finding:
    """Return simulated figures that people saw while they chose; `choices` names each choice, with `; ` between.

    Raises ValueError if it names none.
    """
    return _of(_named("in sight", choices))(*ours, note=note, passed=passed)


def _named(kind: str, what: str) -> str:
    if not all(part.strip() for part in what.split(";")):
        raise ValueError(f"{kind}: {what!r} does not name everything that was; leave out the empty part")
    return f"{kind}: {what}"


def not_reproducible(why: str, ours: str = "", note: str = "") -> Finding:
    """Return the finding that a claim can't be computed, and why."""
    return Finding(ours, f"{NOT_REPRODUCIBLE}: {why}", note)


def not_computed(error: Exception) -> tuple[Finding, Verdict]:
    """Return finding and verdict of a claim that ended with an error, named after the kind: it fails."""
    return Finding("", f"{NOT_COMPUTED}: {cause(error)}"), Verdict("", None, passed=False)


def cause(error: Exception) -> str:
    """Return an error in words, with its type unless it is one of bad input."""
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"


def judge(claim: Claim, finding: Finding) -> Verdict:
    """Compare a finding with its claim; raises ValueError if the finding has neither fitting figures nor words."""
    if isinstance(finding.ours, str):
        same = finding.ours == claim.published
        nothing = finding.kind.startswith(NOT_REPRODUCIBLE)
        return Verdict(finding.ours, None, None if nothing else same if finding.passed is None else finding.passed)
    ours, figures, limit = finding.ours, claim.figures, claim.limit
    if len(ours) != len(figures) and finding.passed is None:
        raise ValueError(f"{len(ours)} figures for {len(figures)} published ones")
    errors = [_error(f, p, limit) for f, p in zip(ours, figures, strict=False) if p.value is not None]
    shown = " / ".join(_shown(f, p) for f, p in zip(ours, figures, strict=False))
    passed = _within(claim, ours, errors, _alike(finding)) if finding.passed is None else finding.passed
    return Verdict(shown, max(errors, key=abs, default=None), passed)


def _within(claim: Claim, ours: tuple[float, ...], errors: list[float], alike: Alike) -> bool:
    if claim.limit:
        return all(abs(error) <= claim.limit.size for error in errors)
    if claim.tolerance != EXACT:
        raise ValueError(f"the tolerance {claim.tolerance!r} needs a verdict of its own")
    return all(alike(figure, published) for figure, published in zip(ours, claim.figures, strict=True))


def _alike(finding: Finding) -> Alike:
    return _counted_alike if finding.kind == "counted" else _printed_alike


def _counted_alike(ours: float, figure: Figure) -> bool:
    """Tell whether a count is the printed one; shares are printed with decimals."""
    return ours == figure.value if figure.decimals == 0 and figure.value is not None else _printed_alike(ours, figure)


def _printed_alike(ours: float, figure: Figure) -> bool:
    """Tell whether a number is the printed one, rounded or cut off at its last digit."""
    scale = 10**figure.decimals
    return figure.value is None or round(figure.value * scale) in (round(ours * scale), trunc(ours * scale))


def _error(ours: float, figure: Figure, limit: Limit | None) -> float:
    published = figure.value or 0.0
    return ours - published if (limit and not limit.relative) or published == 0 else ours / published - 1


def _shown(ours: float, figure: Figure) -> str:
    """Write a number with the decimals of the published one, and more if it would show as 0."""
    return f"{ours:.{figure.decimals}f}" if round(ours, figure.decimals) or not ours else f"{ours:.2g}"
