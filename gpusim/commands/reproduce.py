"""`gpusim reproduce`: the claims of five documents beside the results computed here."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from gpusim.commands.arguments import Json, pairs
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.machine.machine import load
from gpusim.reproduction.bench import Settings
from gpusim.reproduction.claims import SEEDS, Claim, select
from gpusim.reproduction.finding import NOT_COMPUTED
from gpusim.reproduction.ledger import Counts, LedgerRow, rows, summary
from gpusim.reproduction.pages import markdown, shown_error, shown_result, texts, totals
from gpusim.support import whole_file
from gpusim.support.document import Document, doc
from gpusim.support.processes import cores
from isa.errors import UserError

COLUMNS = {
    "id": 4,
    "claim": 20,
    "published": 12,
    "ours": 11,
    "error": 7,
    "kind": 12,
    "": 4,
    "s": 3,
}  # 80 in all; s: seconds of all processes together
NOT_DONE = 1  # exit code


class ReproduceDocument(Document, frozen=True):
    """Claims of documents beside the results computed here."""

    set: Annotated[Settings, doc("Numbers of machines that were replaced, by machine and path.")]
    claims: Annotated[list[LedgerRow], doc("The claims, in the order of the ledger.")]
    summary: Annotated[dict[str, Counts], doc("Counts of rows for each kind.")]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID|SEED|all]...", help=f"Claims such as LS37, or documents: {', '.join(SEEDS)}; all by default."
        ),
    ] = None,
    *,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="MACHINE:PATH=VALUE",
            help="Replace a number of a machine, unless a claim itself sets it; repeatable.",
        ),
    ] = None,
    table: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Also write the rows to a file.")] = None,
    page: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the rows like docs/reproduction.md.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute the claims of five documents: published, ours, error, kind of result, pass or fail. All take minutes.

    A failed claim is a result too, with exit code 0; the code is 1 if an error prevents the computation of a claim.

    Example: gpusim reproduce LS36 LS37 LS38 --set gtx580:load_store.queue=2
    """
    claims, settings = select(names or ["all"]), _settings(setting or ())
    _check(table, page)
    tell_of_compiling("compiled", "1")
    found = _found(claims, settings, quiet=json)
    if table:
        whole_file.write(table, _csv(found, settings))
    if page:
        whole_file.write(page, markdown(found, settings))
    if json:
        write_json(ReproduceDocument(settings, found, summary(found)))
    else:
        show("", *totals(found))
    _warn(found, settings)
    if NOT_COMPUTED in summary(found):
        raise typer.Exit(NOT_DONE)


def _check(table: Path | None, page: Path | None) -> None:
    """Raise UserError for files that can't be written, or not both."""
    for path in (table, page):
        if path:
            whole_file.check(path)
    if table and page and table.resolve() == page.resolve():
        raise UserError(f"--markdown {page}: --csv writes this file; name another")


def _found(claims: Sequence[Claim], settings: Settings, *, quiet: bool) -> list[LedgerRow]:
    """Return the rows, each shown as soon as it is known."""
    found: list[LedgerRow] = []
    if settings and not quiet:
        show(f"on changed machines: {', '.join(texts(settings))}\n")
    with shown("reproduce", "claim", alike=False) as tell:  # some claims take a thousand times as long as others
        for row in rows(claims, settings, cores(), tell):
            if not quiet:
                show(*_lines(row, first=not found))
            found.append(row)
    return found


def _warn(found: Sequence[LedgerRow], settings: Settings) -> None:
    """Warn on stderr of settings that changed nothing, as no claim was computed on their machine."""
    used = dict.fromkeys(machine for row in found for machine in row.machines)
    for key in [key for key in settings if key not in used]:
        machines = ", ".join(used) or "no machine"
        sys.stderr.write(f"warning: --set {key}: none of these claims uses {key}; they use {machines}\n")


def _settings(given: Sequence[str]) -> Settings:
    """The settings by machine; raises UserError for settings that no machine takes."""
    settings: dict[str, dict[str, str]] = {}
    for name, value in pairs("--set", "machine:path=value", given).items():
        key, colon, path = name.partition(":")
        if not colon:
            raise UserError(f"--set {name}={value}: which machine? give --set machine:path=value")
        settings.setdefault(key, {})[path] = value
    for key, overrides in settings.items():
        load(key, overrides)
    return settings


def _lines(row: LedgerRow, *, first: bool) -> Iterator[RenderableType]:
    """Yield a row as shown, the first with the column heads; then the parts that have no column."""
    table = Table(box=None, show_header=first, header_style="bold", pad_edge=False, collapse_padding=True)
    for name, width in COLUMNS.items():
        table.add_column(name, width=width, justify="right" if name in ("error", "s") else "left", overflow="fold")
    kind, _, more = row.kind.partition(": ")
    cells = row.id, row.what, row.published, row.ours, shown_error(row)
    table.add_row(*cells, kind, shown_result(row), f"{row.seconds:.0f}")
    yield table
    parts = f"tolerance: {row.tolerance}", row.machines and f"on {', '.join(row.machines)}", more, row.note
    yield Padding("; ".join(part for part in parts if part), (0, 0, 0, COLUMNS["id"] + 1))


def _csv(found: Sequence[LedgerRow], settings: Settings) -> str:
    text, changed = io.StringIO(), " ".join(texts(settings))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(field.name for field in fields(LedgerRow)), "set"])
    for row in found:
        writer.writerow((asdict(row) | {"machines": " ".join(row.machines), "set": changed}).values())
    return text.getvalue()
