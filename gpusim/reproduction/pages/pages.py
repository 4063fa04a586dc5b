"""docs/reproduction.md, written from the rows of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from gpusim.reproduction.bench import Settings
from gpusim.reproduction.claims import SEEDS, limit
from gpusim.reproduction.finding import KINDS
from gpusim.reproduction.gf100 import WITH_TAGS, WITHOUT_TAGS
from gpusim.reproduction.ledger import Counts, LedgerRow, summary
from gpusim.reproduction.pages.drawing import Picture
from gpusim.reproduction.unclaimed import Unclaimed
from gpusim.support.plural import plural

HEAD = """# Reproduction

Claims of documents, and the results that `gpusim reproduce` computes. Written by `make reproduction`, not by hand.
"""
LEGEND = """An error is relative, or, if the tolerance is in points, a difference. A claim that misses its tolerance
fails, and stays in the table. Counts of instructions need no machine.
"""
LEGEND_OF_TURNS = """Turned by: the settings that turn a verdict, each alone, of all plausible ends that were tried. A
machine file gives a plausible range to each number that is a guess or was fitted. A claim that many settings turn rests
on what nobody knows.
"""
LEGEND_OF_PICTURES = """In pictures hollow markers are published, or implied by what is published, as the legend says.
Lines and filled points are computed here.
"""
BAR = r"\|"  # within a cell
WIDTH = 120  # characters of a line of prose
COLUMNS = "id", "claim", "published", "tolerance", "ours", "error", "kind", "", "machines", "note"
TURNS = "turned by"
UNTRIED = "not tried"
FOOTNOTES = {"note 1": WITHOUT_TAGS, "note 2": WITH_TAGS}  # what many notes say, and what stands in place of it
COLUMNS_OF_UNCLAIMED = "place", "what", "because"


def markdown(
    rows: Sequence[LedgerRow],
    settings: Settings,
    unclaimed: Sequence[Unclaimed] = (),
    pictures: Mapping[str, Picture] | None = None,
    *,
    turns: bool = False,
) -> str:
    """Return the page: a summary by kind, and for each document with rows its table, pictures, and what is unclaimed.

    Where `settings` replace numbers of machines its head says so. `pictures` are by their address from the page. With
    `turns` there is a column with the settings that turn a verdict.
    """
    changed = f"On changed machines: {', '.join(texts(settings))}.\n"
    kinds = "".join(f"- {kind}: {meaning}\n" for kind, meaning in KINDS.items())
    legends = LEGEND, *([LEGEND_OF_TURNS] if turns else []), *([LEGEND_OF_PICTURES] if pictures else [])
    parts = [HEAD, *([changed] if settings else []), kinds, *legends, _summary(rows, unclaimed)]
    for seed, title in SEEDS.items():
        of_seed = [line(row, turns=turns) for row in rows if row.seed == seed]
        if of_seed:
            parts += [f"## {title}\n", _table((*COLUMNS, *([TURNS] if turns else [])), of_seed), *_footnotes(of_seed)]
            parts += [_shown(address, one) for address, one in (pictures or {}).items() if one.seed == seed]
            parts += _not_claimed([one for one in unclaimed if one.seed == seed])
    return "\n".join(parts)


def line(row: LedgerRow, *, turns: bool = False) -> str:
    """Return a row of the tables, with `turns` also the settings that turn its verdict.

    What many notes say is left to footnotes.
    """
    figures = row.published, row.tolerance, row.ours, shown_error(row)
    last = (shown_turns(row),) if turns else ()
    machines, note = ", ".join(row.machines), _with_marks(row.note)
    return _cells((row.id, row.what, *figures, row.kind, shown_result(row), machines, note, *last))


def _with_marks(note: str) -> str:
    """Return a note with marks in place of what footnotes say."""
    for mark, text in FOOTNOTES.items():
        note = note.replace(text, mark)
    return note


def _footnotes(lines: Sequence[str]) -> list[str]:
    """Return the footnotes whose marks stand in a table."""
    return [
        f"{mark.capitalize()}: {text}.\n" for mark, text in FOOTNOTES.items() if any(mark in line for line in lines)
    ]


def shown_turns(row: LedgerRow) -> str:
    """Return the settings that turn a verdict, values of one number together, and how many were tried or not.

    Those with which the claim can't be computed follow. A claim of which none was tried says so. Others have none: no
    number of a machine, or no verdict.
    """
    if not row.tried:
        return "" if row.tried is None else UNTRIED
    untried = f", {row.untried} not tried" if row.untried else ""
    impossible = f"; impossible: {_settings(row.impossible)}" if row.impossible else ""
    return f"{_settings(row.turned_by or ()) or 'none'} of {row.tried}{untried}{impossible}"


def _settings(given: Sequence[str]) -> str:
    """Write settings, those of one number together."""
    values: dict[str, list[str]] = {}
    for setting in given:
        path, _, value = setting.partition("=")
        values.setdefault(path, []).append(value)
    return "; ".join(f"{path}={' or '.join(each)}" for path, each in values.items())


def _table(heads: Sequence[str], lines: Iterable[str]) -> str:
    return "\n".join([_cells(heads), f"|{'---|' * len(heads)}", *lines]) + "\n"


def _shown(address: str, picture: Picture) -> str:
    plot = picture.plot
    return f"![{plot.title}]({address})\n" + (f"\n{fill(plot.note, WIDTH)}\n" if plot.note else "")


def _not_claimed(found: Sequence[Unclaimed]) -> list[str]:
    """The heading and the table of what is not claimed, if anything is."""
    lines = [_cells((one.place, one.what, one.because)) for one in found]
    return ["### Not claimed, because\n", _table(COLUMNS_OF_UNCLAIMED, lines)] if lines else []


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
    """Return how many of all claims passed, then the same for each kind, and how many keep their verdict if tried."""
    passed, judged = (sum(row.passed in which for row in rows) for which in ((True,), (True, False)))
    first = f"{passed} of {judged} claims pass; {len(rows) - judged} have nothing to compare with"
    kinds = [f"{kind}: {_passed(each)}" for kind, each in summary(rows).items()]
    return [first, *kinds, *_sensitivity(rows)]


def _sensitivity(rows: Sequence[LedgerRow]) -> list[str]:
    """Say of how many claims with settings these were tried, all or some, and how many keep their verdict."""
    tried = [row for row in rows if row.tried]
    some = sum(bool(row.untried) for row in tried)
    part = f", {some} of them in part" if some else ""
    simulated = plural(sum(row.tried is not None for row in rows), "simulated claim")
    steady = sum(not row.turned_by for row in tried)
    text = f"sensitivity: {len(tried)} of {simulated} tried{part}; {steady} keep their verdict in what was tried"
    return [text] if tried else []


def _passed(counts: Counts) -> str:
    judged = f"{counts['passed']} of {counts['passed'] + counts['failed']} pass"
    return f"{judged}; {counts['without']} without figures" if counts["without"] else judged


def _summary(rows: Sequence[LedgerRow], unclaimed: Sequence[Unclaimed]) -> str:
    seeds = {row.seed for row in rows}
    count = sum(one.seed in seeds for one in unclaimed)
    more = (
        [f"{plural(count, 'sentence')} of the documents {'is' if count == 1 else 'are'} not claimed"] if count else []
    )
    return "\n".join(f"- {text}" for text in (*totals(rows), *more)) + "\n"
