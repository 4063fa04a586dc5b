"""The claims of the five documents, as `claims.csv` lists them, and the tolerance of each.

`published` is a row of figures with ` / ` between them, or words. A figure may have a unit, and a question mark if the
document itself speculates; a single question mark is a figure that the document leaves out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isa.errors import UserError
from isa.reading.nearest import nearest

FILE = Path(__file__).with_name("claims.csv")
SEEDS = {
    "lai": "Lai and Seznec, Bound the peak performance of SGEMM on GPU, INRIA RR-7923, 2012",
    "kurzak": "Kurzak, Autotuning BLAS for GPUs, PPAM 2011 (slides)",
    "cme213": "CME213, lecture 9, Stanford, 2012",
    "vega": "SGEMM on Vega with scalar loads and very long registers, for the MI60",
    "tan": "Tan et al., Fast implementation of DGEMM on Fermi GPU, SC 2011",
}
EXACT = "exact"
_FIGURE = re.compile(r"\?|(?P<number>[+-]?\d+(?:\.(?P<decimals>\d+))?)\??(?: [^ ]+)?")
_LIMIT = re.compile(r"(?P<number>\d+(?:\.\d+)?) (?P<unit>%|points|registers)")


@dataclass(frozen=True, slots=True)
class Figure:
    """A published number, None if the document leaves it out, and its number of printed decimals."""

    value: float | None
    decimals: int


@dataclass(frozen=True, slots=True)
class Limit:
    """How far off a figure may be: relative to the published one, or else absolute."""

    size: float
    relative: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, with what was published and its tolerance as text; `seed` is one of SEEDS."""

    id: str
    seed: str
    what: str
    published: str
    tolerance: str

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The published figures; none if the claim is in words."""
        matches = [_FIGURE.fullmatch(part) for part in self.published.split(" / ")]
        return tuple(_figure(match) for match in matches if match) if all(matches) else ()

    @property
    def limit(self) -> Limit | None:
        """The tolerance as a number, see `limit`."""
        return limit(self.tolerance)


def limit(tolerance: str) -> Limit | None:
    """Return a tolerance as a number; None if figures must be exact, or the tolerance is in words."""
    match = _LIMIT.fullmatch(tolerance)
    if match is None:
        return None
    relative = match["unit"] == "%"
    return Limit(float(match["number"]) / (100 if relative else 1), relative)


def _figure(match: re.Match[str]) -> Figure:
    number = match["number"]
    return Figure(None if number is None else float(number), len(match["decimals"] or ""))


def read() -> tuple[Claim, ...]:
    """Return all claims in their order."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return tuple(Claim(**row) for row in csv.DictReader(file))


def published(name: str) -> tuple[Figure, ...]:
    """Return the published figures of the claim of that id, for claims that follow from it."""
    return next(claim.figures for claim in read() if claim.id == name)


def select(names: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims of those ids and seeds, in any case, in the ledger's order; `all` is every claim.

    Raises UserError for a name that is neither.
    """
    claims = read()
    known = {name.lower(): name for name in ("all", *SEEDS, *(claim.id for claim in claims))}
    for name in names:
        if name.lower() not in known:
            begun = [each for each in known if each.startswith(name.lower())]
            near = begun[0] if begun else nearest(name.lower(), known)
            other = f"give a claim such as LS37, or one of {', '.join(SEEDS)}"
            advice = f"did you mean {known[near]}?" if near else other
            raise UserError(f"reproduce {name}: there is no such claim or document; {advice}")
    chosen = {known[name.lower()] for name in names}
    return tuple(claim for claim in claims if {"all", claim.seed, claim.id} & chosen)
