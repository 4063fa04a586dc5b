"""`gpusim sweep`: a kernel at every point of a product of parameters and numbers of a machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpusim import dask_cluster, extra
from gpusim import machine as model
from gpusim.analysis import sweep_plot
from gpusim.analysis.results_file import hash_of, results
from gpusim.analysis.sweep import Point, Row, Settings, Subject, key, points, row, shuffled
from gpusim.analysis.sweep_table import compared, write_csv, write_parquet
from gpusim.commands.arguments import Json, KernelName, MachineName, is_listing
from gpusim.commands.axes import ParameterAxes, PolicyAxis, SettingAxes, axes_of, subject_of
from gpusim.commands.document import show, write_json
from gpusim.commands.progress import shown, tell_of_compiling
from gpusim.commands.sweep_screen import Swept, document, plotted, screen
from gpusim.processes import as_done
from isa import listing
from isa.errors import UserError

Rows = Generator[Row, None, None]
Done = Callable[[Callable[[Point], Row], list[Point]], Rows]


def sweep(
    kernel: KernelName,
    *,
    machine: MachineName = "gtx580",
    setting: SettingAxes = None,
    parameter: ParameterAxes = None,
    policy: PolicyAxis = None,
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
    dask: Annotated[
        str, typer.Option("--dask", metavar="ADDRESS", help="Simulate on the cluster of a Dask scheduler, tcp://...")
    ] = "",
    max_cycles: Annotated[
        int | None, typer.Option("--max-cycles", min=1, help="Give a point up beyond; a listing: 200 million.")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate a kernel at every point of a product: numbers of the machine, policies, parameters; without values.

    Example: gpusim sweep sgemm-lai -p m=96 -p n=96 -p k=32 -p blocking=1:3 --set schedulers.count=1,2
    """
    subject = subject_of(kernel, model.read(machine), max_cycles)
    axes = axes_of(kernel, subject.file, setting or (), parameter or (), policy)
    chosen, columns = points(axes, sample, seed), compared(pareto, axes, "--pareto")
    if dask and jobs:
        raise UserError(f"--jobs {jobs}: the cluster has as many as it has; leave it out with --dask")
    _check_outputs(out, parquet, plot)
    with results(out and out / "results.jsonl", _settings(kernel, subject), Row) as (kept, add):
        tell_of_compiling("compiled", "1")
        rows = _rows(subject, chosen, kept, add, partial(_done, workers=jobs, dask=dask))
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


def _settings(kernel: str, subject: Subject) -> Settings:
    text = listing.text_of(kernel) if is_listing(kernel) else ""
    return Settings(
        kernel=kernel,
        listing=text and sha256(text.encode()).hexdigest()[:16],
        machine=subject.file.key,
        facts=hash_of(model.build(subject.file)),
        max_cycles=subject.max_cycles,
        version=version("gpusim"),
    )


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


def _done(function: Callable[[Point], Row], some: list[Point], workers: int | None, dask: str) -> Rows:
    """Give the row of each point, from the cluster or from processes of this computer."""
    return dask_cluster.as_done(function, some, dask) if dask else as_done(function, some, workers)


def _rows(
    subject: Subject, chosen: Sequence[Point], kept: Sequence[Row], add: Callable[[Row], None], done: Done
) -> list[Row]:
    """Simulate those points that no kept row is of; return all rows in the order of the points."""
    found = {key(each.point): each for each in kept}
    missing = shuffled(point for point in chosen if key(point) not in found)
    known = len(chosen) - len(missing)
    with shown("sweep", "point") as tell:
        tell(known, len(chosen))
        with closing(done(partial(row, subject=subject), missing)) as more:
            for count, each in enumerate(more, known + 1):
                add(each)
                found[key(each.point)] = each
                tell(count, len(chosen))
    return [msgspec.structs.replace(found[key(point)], point=point) for point in chosen]
