"""`gpusim sweep`: a kernel at every point of a product of parameters and numbers of a machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpusim import extra
from gpusim import machine as model
from gpusim.analysis import sweep_plot
from gpusim.analysis.results_file import hash_of, results
from gpusim.analysis.sweep import Point, Row, Settings, Subject, key, points, row, shuffled
from gpusim.analysis.sweep_table import compared, write_csv, write_parquet
from gpusim.commands.arguments import MAX_CYCLES, POLICIES, Json, KernelName, MachineName, is_listing
from gpusim.commands.axes import axes_of
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.commands.sweep_screen import Swept, document, plotted, screen
from gpusim.processes import as_done
from isa import listing
from isa.errors import UserError
from isa.kernel import Kernel
from workloads import catalog


def sweep(
    kernel: KernelName,
    *,
    machine: MachineName = "gtx580",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUES", help="Numbers of the machine: 1,2,4, 1:8 or 8:64:8; repeatable."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUES", help="Values of a parameter of the kernel, likewise; repeatable."),
    ] = None,
    policy: Annotated[str | None, typer.Option("--policy", help=f"Scheduling policies, or all: {POLICIES}.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Take so many points of the product, drawn at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write results.csv there, and go on if interrupted."),
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write results.parquet beside it.")] = False,
    pareto: Annotated[
        str, typer.Option("--pareto", metavar="A,B", help="Show the points that no other beats in these columns.")
    ] = "",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the fastest to show.")] = 10,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="How many points at a time; as many as there are cores.")
    ] = None,
    max_cycles: Annotated[
        int | None, typer.Option("--max-cycles", min=1, help="Give a point up beyond; a listing: 200 million.")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate a kernel at every point of a product: numbers of the machine, policies, parameters; without values.

    Example: gpusim sweep sgemm-lai -p m=96 -p n=96 -p k=32 -p blocking=1:3 --set schedulers.count=1,2
    """
    limit = max_cycles or (MAX_CYCLES if is_listing(kernel) else None)
    subject, settings = _subject(kernel, machine, limit)
    axes = axes_of(kernel, subject.file, setting or (), parameter or (), policy)
    chosen, columns = points(axes, sample, seed), compared(pareto, axes, "--pareto")
    _check_outputs(out, parquet, plot)
    with results(out and out / "results.jsonl", settings, Row) as (kept, add):
        tell_of_compiling("compiled", "1")
        rows = _rows(subject, chosen, kept, add, jobs)
        swept = Swept(kernel, subject.file.key, axes, rows, _known(chosen, kept), columns)
        if out:
            write_csv(out / "results.csv", swept.table)
        if out and parquet:
            write_parquet(out / "results.parquet", swept.table)
    if plot:
        sweep_plot.write(plot, *plotted(swept))
    if json:
        write_json(document(swept))
    else:
        show(*screen(swept, top))


def _subject(kernel: str, machine: str, limit: int | None) -> tuple[Subject, Settings]:
    """What is swept, and everything that its rows depend on; raises UserError for what there is not."""
    text = ""
    if is_listing(kernel):
        text = listing.text_of(kernel)
        build: Callable[[Mapping[str, str]], Kernel] = partial(_assembled, text, kernel)
        build({})
    else:
        catalog.find(kernel)
        build = partial(catalog.make, kernel)
    file = model.read(machine)
    facts, source = hash_of(model.build(file)), text and sha256(text.encode()).hexdigest()[:16]
    return Subject(build, file, limit), Settings(kernel, source, file.key, facts, limit, version("gpusim"))


def _assembled(text: str, name: str, _: Mapping[str, str]) -> Kernel:
    return listing.read(text, name)


def _check_outputs(out: Path | None, parquet: bool, plot: Path | None) -> None:
    """Make the directory of results; raises UserError for what could not be written in the end."""
    if parquet:
        if not out:
            raise UserError("--parquet: no directory for it; give --out DIR too")
        extra.module("pyarrow", "parquet")
    if plot:
        sweep_plot.check(plot)
    if out:
        if out.exists() and not out.is_dir():
            raise UserError(f"--out {out}: is a file; name a directory")
        out.mkdir(exist_ok=True)


def _known(chosen: Sequence[Point], kept: Sequence[Row]) -> int:
    """How many of the points are among the rows that were kept."""
    return len({key(point) for point in chosen} & {key(each.point) for each in kept})


def _rows(
    subject: Subject, chosen: Sequence[Point], kept: Sequence[Row], add: Callable[[Row], None], workers: int | None
) -> list[Row]:
    """Simulate those points that no kept row is of; return all rows in the order of the points."""
    found = {key(each.point): each for each in kept}
    missing = shuffled(point for point in chosen if key(point) not in found)
    known = len(chosen) - len(missing)
    with shown("sweep", "point") as tell:
        tell(known, len(chosen))
        with closing(as_done(partial(row, subject=subject), missing, workers)) as more:
            for done, each in enumerate(more, known + 1):
                add(each)
                found[key(each.point)] = each
                tell(done, len(chosen))
    return [msgspec.structs.replace(found[key(point)], point=point) for point in chosen]
