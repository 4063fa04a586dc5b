"""`gpusim reproduce`: what five documents claim, beside what comes out here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from gpusim import whole_file
from gpusim.commands.arguments import Json, pairs
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.machine import load
from gpusim.processes import cores
from gpusim.reproduction.claims import Claim, select
from gpusim.reproduction.ledger import Row, rows, summary
from gpusim.reproduction.pages import markdown, shown_error, shown_result, totals
from isa.errors import UserError

COLUMNS = {"id": 4, "claim": 22, "published": 12, "ours": 11, "error": 7, "kind": 10, "": 4, "s": 3}  # 80 in all


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID|SEED|all]...", help="Claims such as LS37, or documents; all.")
    ] = None,
    *,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="MACHINE:PATH=VALUE", help="Replace a number of a machine; repeatable."),
    ] = None,
    table: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the rows to a file, too.")] = None,
    page: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the rows as docs/reproduction.md has them.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute what five documents claim: lai, kurzak, cme213, vega, tan; published, ours, error, how, pass or fail.

    A claim that fails is a result too: the exit code is 0.

    Example: gpusim reproduce LS37 LS49 --set gtx580:load_store.queue=2
    """
    claims, settings = select(names or ["all"]), _settings(setting or ())
    for path in (table, page):
        if path:
            whole_file.check(path)
    tell_of_compiling("compiled", "1")
    found: list[Row] = []
    with shown("reproduce", "claim") as tell:
        for row in rows(claims, settings, cores(), tell):
            found.append(row)
            if not json:
                show(*_lines(row, claims[len(found) - 1], first=len(found) == 1))
    if table:
        whole_file.write(table, _csv(found))
    if page:
        whole_file.write(page, markdown(found, {claim.id: claim for claim in claims}))
    if json:
        write_json({"set": settings, "claims": [asdict(row) for row in found], "summary": summary(found)})
    else:
        show("", *totals(found))


def _settings(texts: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    """The settings by machine; raises UserError for what no machine takes."""
    settings: dict[str, dict[str, str]] = {}
    for name, value in pairs("--set", "machine:path=value", texts).items():
        key, colon, path = name.partition(":")
        if not colon:
            raise UserError(f"--set {name}={value}: which machine? give --set machine:path=value")
        settings.setdefault(key, {})[path] = value
    for key, overrides in settings.items():
        load(key, overrides)
    return settings


def _lines(row: Row, claim: Claim, *, first: bool) -> Iterator[RenderableType]:
    """Give a row as it is shown before the next one is known, the first with its heads; then its note."""
    table = Table(box=None, show_header=first, header_style="bold", pad_edge=False, collapse_padding=True)
    for name, width in COLUMNS.items():
        table.add_column(name, width=width, justify="right" if name in ("error", "s") else "left")
    kind, _, more = row.kind.partition(": ")
    cells = row.id, row.what, row.published, row.ours, shown_error(row, claim.limit)
    table.add_row(*cells, kind, shown_result(row), f"{row.seconds:.0f}")
    yield table
    if more or row.note:
        yield Padding("; ".join(part for part in (more, row.note) if part), (0, 0, 0, COLUMNS["id"] + 1))


def _csv(found: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    writer.writerows(asdict(row).values() for row in found)
    return text.getvalue()
