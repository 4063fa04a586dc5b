"""docs/reproduction.md, written from the rows of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpusim.reproduction.claims import SEEDS, Claim, Limit
from gpusim.reproduction.ledger import Row, summary

HEAD = """# Reproduction

What five documents claim, and what `gpusim reproduce` computes today. Written by `make reproduction`; not by hand.

counted: in an instruction stream. analytic: from published formulas and the numbers of the machine files. input: a
number of a machine file itself. calibrated: parameters were fitted to it. predicted: none was. An error is relative,
or, where the tolerance is in points, a difference. A claim fails where it misses its tolerance, and stays.
"""


def markdown(rows: Sequence[Row], claims: Mapping[str, Claim]) -> str:
    """Return the document with a summary by kind and a table for each of the five."""
    parts = [HEAD, _summary(rows)]
    for seed, title in SEEDS.items():
        of_seed = [line(row, claims[row.id]) for row in rows if row.seed == seed]
        head = "| id | claim | published | tolerance | ours | error | kind | | note |\n|" + "---|" * 9
        parts.append("\n".join([f"## {title}\n", head, *of_seed]) + "\n")
    return "\n".join(parts)


def line(row: Row, claim: Claim) -> str:
    """Return a row of the tables."""
    error = shown_error(row, claim.limit)
    cells = row.id, row.what, row.published, claim.tolerance, row.ours, error, row.kind, shown_result(row), row.note
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shown_error(row: Row, limit: Limit | None) -> str:
    """Return the error in words: percent, or a difference where the tolerance is absolute."""
    if row.error is None:
        return ""
    return f"{row.error:+.2f}" if limit and not limit.relative else f"{100 * row.error:+.1f} %"


def shown_result(row: Row) -> str:
    """Return pass, fail, or a dash where there is nothing to compare with."""
    return {True: "pass", False: "fail", None: "-"}[row.passed]


def totals(rows: Sequence[Row]) -> list[str]:
    """Return how many of all passed, then the same of each kind."""
    passed, judged = (sum(row.passed in which for row in rows) for which in ((True,), (True, False)))
    first = f"{passed} of {judged} claims pass; {len(rows) - judged} have nothing to compare with"
    return [first, *(f"{kind}: {_passed(each)}" for kind, each in summary(rows).items())]


def _passed(counts: Mapping[str, int]) -> str:
    judged = f"{counts['passed']} of {counts['passed'] + counts['failed']} pass"
    return f"{judged}; {counts['without']} without figures" if counts["without"] else judged


def _summary(rows: Sequence[Row]) -> str:
    return "\n".join(f"- {text}" for text in totals(rows)) + "\n"
