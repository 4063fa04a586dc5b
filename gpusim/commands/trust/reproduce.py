"""`gpusim reproduce`: the claims of five documents beside the results computed here."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from typer import Argument, Option

from gpusim.commands import streams
from gpusim.commands.frame.arguments import pairs
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import show, write
from gpusim.commands.frame.options import Json, among, repeated, written
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.machine.machine import load
from gpusim.reproduction import sensitivity, unclaimed
from gpusim.reproduction.bench import Done, Job, Settings
from gpusim.reproduction.claims import SEEDS, Claim, read, select
from gpusim.reproduction.finding import NOT_COMPUTED
from gpusim.reproduction.ledger import Counts, LedgerRow, rows, summary
from gpusim.reproduction.pages import drawing
from gpusim.reproduction.pages.drawing import Picture
from gpusim.reproduction.pages.pages import markdown, shown_error, shown_result, shown_turns, texts, totals
from gpusim.reproduction.unclaimed import Unclaimed
from gpusim.support import whole_file
from gpusim.support.document import Document, doc
from gpusim.support.parallel.processes import cores
from isa.errors import UserError

COLUMNS = {"id": 4, "claim": 20, "published": 12, "ours": 11, "error": 7, "kind": 12, "": 4, "s": 3}  # 80 in all
NOT_DONE = 1  # exit code


class ReproduceDocument(Document, frozen=True):
    """Claims of documents beside the results computed here."""

    set: Annotated[Settings, doc("Numbers of machines that were replaced, by machine and path.")]
    claims: Annotated[list[LedgerRow], doc("The claims, in the order of the ledger.")]
    summary: Annotated[dict[str, Counts], doc("Counts of rows for each kind.")]
    unclaimed: Annotated[list[Unclaimed], doc("What the documents of these claims say, and no claim repeats.")]


@dataclass(frozen=True)
class Outputs:
    """What is written, and whether the settings that turn verdicts are tried."""

    table: Annotated[Path | None, written("--csv", "Also write the rows to a file.")] = None
    page: Annotated[Path | None, written("--markdown", "Write the rows like docs/reproduction.md.")] = None
    plots: Annotated[
        Path | None, written("--plots", "Draw all plots of the claims' documents: theirs and ours, as SVG.", "DIR")
    ] = None
    sensitivity: Annotated[
        bool, Option("--sensitivity", help="Also try both ends of each number's plausible range; all take hours.")
    ] = False
    tried: Annotated[
        Path | None,
        written("--tried", "A file of --sensitivity: show what it has; with --sensitivity try the rest only."),
    ] = None

    @property
    def turns(self) -> bool:
        """Whether rows have the settings that turn their verdicts."""
        return self.sensitivity or self.tried is not None


@dataclass(frozen=True)
class _Wanted:
    """What is to be computed; `done` has the jobs done so far."""

    claims: Sequence[Claim]
    settings: Settings
    to: Outputs
    done: dict[Job, Done] = field(default_factory=dict)

    @property
    def seeds(self) -> list[str]:
        """The documents of the claims."""
        return list(dict.fromkeys(claim.seed for claim in self.claims))

    @property
    def unclaimed(self) -> list[Unclaimed]:
        """What these documents say and no claim repeats."""
        return [one for one in unclaimed.read() if one.seed in self.seeds]


def claims_from(incomplete: str) -> list[str]:
    """Return the documents, and the claims, whose names begin so."""
    return among(["all", *SEEDS, *(claim.id for claim in read())])(incomplete)


def reproduce(
    names: Annotated[
        Sequence[str],
        Argument(
            metavar="[ID|DOCUMENT|all]",
            help=f"Claims such as LS37, or documents: {', '.join(SEEDS)}; all by default.",
            autocompletion=claims_from,
        ),
    ] = (),
    *,
    to: Outputs,
    setting: Annotated[
        Sequence[str],
        repeated("--set", "MACHINE:PATH=VALUE", "Replace a number of a machine, unless a claim itself sets it"),
    ] = (),
    json: Json = False,
) -> Answer:
    """Compute the claims of five documents: published, ours, error, kind of result, pass or fail. All take minutes.

    A failed claim is a result too, with exit code 0; the code is 1 if an error prevents the computation of a claim.

    --sensitivity shows which single guess or fitted number of a machine turns the verdict of a simulated claim. Claims
    are computed with each of about 60 settings of a machine, without the runs that can't feel it, which are more than
    half: a claim takes 25 to 30 times as long as alone, all take hours. It keeps what it tries in the file of --tried:
    after an interruption, or a change that moved some claims, it tries what is missing or out of date there.

    --plots draws a document's plots once the claims are computed, and writes each as soon as it is there.

    Example: gpusim reproduce LS36 LS37 LS38 --set gtx580:load_store.queue=2
    """
    claims, settings = select(names or ["all"]), _settings(setting)
    wanted = _Wanted(claims, settings, to)
    _check(wanted)
    begin_compiling()
    found = _found(wanted, quiet=json)
    if to.table:
        whole_file.write(to.table, _csv(found, settings))
    pictures = _drawn(wanted, quiet=json)
    if to.page:
        shown_pictures = _addresses(to.page, pictures)
        whole_file.write(to.page, markdown(found, settings, wanted.unclaimed, shown_pictures, turns=to.turns))
    _warn(found, settings)
    turned = (f"{row.id} turned by {shown_turns(row)}" for row in found if row.tried)
    return Answer(
        ReproduceDocument(settings, found, summary(found), wanted.unclaimed),
        ["", *turned, *totals(found)],
        code=NOT_DONE if NOT_COMPUTED in summary(found) else 0,
    )


def _check(wanted: _Wanted) -> None:
    """Raise UserError for files that can't be written, or not together, and for a file that keeps nothing."""
    files = {"--csv": wanted.to.table, "--markdown": wanted.to.page, "--tried": wanted.to.tried}
    known: dict[Path, str] = {}
    for option, path in files.items():
        if path:
            whole_file.check(path)
            if other := known.get(path.resolve()):
                raise UserError(f"{option} {path}: {other} writes this file; name another")
            known[path.resolve()] = option
    if wanted.to.plots:
        drawing.check(wanted.to.plots, wanted.seeds)
    if wanted.to.tried and wanted.settings:
        raise UserError(f"--tried {wanted.to.tried}: keeps what is tried on machines as they are; leave out --set")
    if wanted.to.tried and not wanted.to.tried.exists() and not wanted.to.sensitivity:
        raise UserError(f"--tried {wanted.to.tried}: there is no such file; let --sensitivity write it")


def _found(wanted: _Wanted, *, quiet: bool) -> list[LedgerRow]:
    """Return the rows, each shown as soon as it is known, and if wanted with the settings that turn them."""
    found: list[LedgerRow] = []
    if wanted.settings and not quiet:
        show(f"on changed machines: {', '.join(texts(wanted.settings))}\n")
    with shown("reproduce", "claim", alike=False) as tell:  # some claims take a thousand times as long as others
        for row in rows(wanted.claims, wanted.settings, cores(), tell, wanted.done):
            if not quiet:
                show(*_lines(row, first=not found))
            found.append(row)
    return _turned(wanted, found) if wanted.to.turns else found


def _turned(wanted: _Wanted, found: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Return the rows with the settings that turn their verdicts: as the file has them, and if wanted as tried now."""
    file, settings = wanted.to.tried, wanted.settings
    before = sensitivity.load(file) if file and file.exists() else {}
    if not wanted.to.sensitivity:
        return sensitivity.turned(found, settings, sensitivity.current(found, before))

    def keep(store: sensitivity.Store) -> None:
        if file:
            whole_file.write(file, sensitivity.text(store))

    with shown("sensitivity", "setting", alike=False) as tell:
        store = sensitivity.tried(found, settings, wanted.done, cores(), store=before, report=tell, keep=keep)
    keep(store)
    return sensitivity.turned(found, settings, store)


def _drawn(wanted: _Wanted, *, quiet: bool) -> list[tuple[Path, Picture]]:
    """Draw each plot as soon as it is computed, if that is wanted; return all in their order, with their files."""
    if not wanted.to.plots:
        return []
    plots = drawing.of_seeds(wanted.seeds)
    drawn: dict[str, tuple[Path, Picture]] = {}
    with shown("plots", "plot", alike=False) as tell:
        for picture in drawing.computed(plots, wanted.settings, cores(), tell, wanted.done):
            path = drawing.write(wanted.to.plots, picture)
            if not quiet:
                write(f"{path}: {picture.plot.title}\n" if drawn else f"\n{path}: {picture.plot.title}\n")
            drawn[picture.name] = path, picture
    return [drawn[name] for name in plots]


def _addresses(page: Path, pictures: Sequence[tuple[Path, Picture]]) -> dict[str, Picture]:
    """Return the pictures by their addresses from a page."""
    return {Path(os.path.relpath(path, page.parent)).as_posix(): picture for path, picture in pictures}


def _warn(found: Sequence[LedgerRow], settings: Settings) -> None:
    """Warn on stderr of settings that changed nothing, as no claim was computed on their machine."""
    used = dict.fromkeys(machine for row in found for machine in row.machines)
    for key in [key for key in settings if key not in used]:
        machines = ", ".join(used) or "no machine"
        streams.tell(f"warning: --set {key}: none of these claims uses {key}; they use {machines}\n")


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
    writer.writerow([*(each.name for each in fields(LedgerRow)), "set"])
    for row in found:
        settings_of = {"turned_by": " ".join(row.turned_by or ()), "impossible": " ".join(row.impossible or ())}
        lists = {"machines": " ".join(row.machines), **settings_of}
        writer.writerow((asdict(row) | lists | {"set": changed}).values())
    return text.getvalue()
