"""`gpusim validate`: figures that somebody published or measured, beside simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from gpusim.analysis.validation import Outcome, outcomes, published, summary
from gpusim.commands.arguments import Json, Settings, changes, machine_of
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from workloads.catalog import make

UNITS = {"cycles per instruction": "cycles", "thread instructions per cycle": "per cycle"}


def validate(
    machine: Annotated[str, typer.Argument(help="A machine's name.")],
    *,
    setting: Settings = None,
    json: Json = False,
) -> None:
    """Run the microbenchmarks behind a machine's published figures: published, simulated, error, and what each proves.

    Example: gpusim validate gtx580
    """
    where = machine_of(machine, setting or (), None)
    points = published(where)
    tell_of_compiling("compiled", "1")
    found: list[Outcome] = []
    with shown(f"validate {where.key}") as tell:
        for outcome in outcomes(points, where, make):
            found.append(outcome)
            tell(len(found), len(points))
    settings = changes(where, setting or ())
    if json:
        write_json(
            {"machine": where.key, "set": settings, "points": [_row(o) for o in found], "summary": summary(found)}
        )
    else:
        show(f"{where.name}: published figures and simulated ones", _table(found), *_totals(found))


def _row(outcome: Outcome) -> dict[str, Any]:
    point = outcome.point
    return {
        "id": point.id,
        "what": point.what,
        "quantity": point.quantity,
        "published": point.value,
        "simulated": outcome.simulated,
        "error": outcome.error,
        "kind": point.kind,
        "confidence": point.confidence,
        "source": point.source,
        "note": point.note,
    }


def _table(found: Sequence[Outcome]) -> Table:
    table = Table("figure", box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    for column in ("published", "simulated", "error"):
        table.add_column(column, justify="right")
    for column in ("unit", "kind", "conf.", "source; note"):
        table.add_column(column)
    for outcome in found:
        point = outcome.point
        figures = f"{point.value:g}", f"{outcome.simulated:.2f}", f"{100 * outcome.error:+.1f} %"
        source = "; ".join(part for part in (point.source, point.note) if part)
        table.add_row(point.what, *figures, UNITS[point.quantity], point.kind, point.confidence, source)
    return table


def _totals(found: Sequence[Outcome]) -> list[str]:
    return [
        f"{kind}: {int(line['n'])}, median error {100 * line['median_error']:.1f} %, 95th percentile "
        f"{100 * line['p95_error']:.1f} %"
        for kind, line in summary(found).items()
    ]
