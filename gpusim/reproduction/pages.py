"""docs/reproduction.md, written from the rows of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpusim.reproduction.bench import Settings
from gpusim.reproduction.claims import SEEDS, limit
from gpusim.reproduction.finding import KINDS
from gpusim.reproduction.ledger import Counts, LedgerRow, summary

HEAD = """# Reproduction

Claims of documents, and the results that `gpusim reproduce` computes. Written by `make reproduction`, not by hand.
"""
LEGEND = """An error is relative, or, if the tolerance is in points, a difference. A claim that misses its tolerance
fails, and stays in the table. Counts of instructions need no machine.
"""
BAR = r"\|"  # within a cell
COLUMNS = "id", "claim", "published", "tolerance", "ours", "error", "kind", "", "machines", "note"


def markdown(rows: Sequence[LedgerRow], settings: Settings) -> str:
    """Return the document with a summary by kind and a table for each document that has rows.

    Where `settings` replace numbers of machines its head says so.
    """
    changed = f"On changed machines: {', '.join(texts(settings))}.\n"
    kinds = "".join(f"- {kind}: {meaning}\n" for kind, meaning in KINDS.items())
    parts = [HEAD, *([changed] if settings else []), kinds, LEGEND, _summary(rows), *_tables(rows)]
    return "\n".join(parts)


def _tables(rows: Sequence[LedgerRow]) -> Iterator[str]:
    for seed, title in SEEDS.items():
        of_seed = [line(row) for row in rows if row.seed == seed]
        if of_seed:
            yield "\n".join([f"## {title}\n", _cells(COLUMNS), f"|{'---|' * len(COLUMNS)}", *of_seed]) + "\n"


def line(row: LedgerRow) -> str:
    """Return a row of the tables."""
    figures = row.published, row.tolerance, row.ours, shown_error(row)
    return _cells((row.id, row.what, *figures, row.kind, shown_result(row), ", ".join(row.machines), row.note))


def _cells(row: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', BAR) for cell in row)} |"


def texts(settings: Settings) -> list[str]:
    """Return settings as `--set` takes them."""
    return [f"{key}:{path}={value}" for key, changes in settings.items() for path, value in changes.items()]


def shown_error(row: LedgerRow) -> str:
    """Return the error in words: percent, or a difference where the tolerance is absolute."""
    if row.error is None:
        return ""
    most = limit(row.tolerance)
    return f"{row.error:+.2f}" if most and not most.relative else f"{100 * row.error:+.1f} %"


def shown_result(row: LedgerRow) -> str:
    """Return pass, fail, or a dash if there is nothing to compare with."""
    return {True: "pass", False: "fail", None: "-"}[row.passed]


def totals(rows: Sequence[LedgerRow]) -> list[str]:
    """Return how many of all claims passed, then the same for each kind."""
    passed, judged = (sum(row.passed in which for row in rows) for which in ((True,), (True, False)))
    first = f"{passed} of {judged} claims pass; {len(rows) - judged} have nothing to compare with"
    return [first, *(f"{kind}: {_passed(each)}" for kind, each in summary(rows).items())]


def _passed(counts: Counts) -> str:
    judged = f"{counts['passed']} of {counts['passed'] + counts['failed']} pass"
    return f"{judged}; {counts['without']} without figures" if counts["without"] else judged


def _summary(rows: Sequence[LedgerRow]) -> str:
    return "\n".join(f"- {text}" for text in totals(rows)) + "\n"
