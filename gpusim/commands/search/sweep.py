"""`gpusim sweep`: a kernel at every point of a product of parameters and numbers of a machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
from typer import Option

from gpusim.analysis.search import search as optuna_search
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.sweep import (
    MOST,
    Axis,
    Subject,
    SweepPoint,
    SweepRow,
    SweepSettings,
    key,
    points,
    row,
    shuffled,
)
from gpusim.analysis.search.sweep_table import compared, write_csv, write_parquet
from gpusim.commands.frame.arguments import code_option, is_code, is_listing
from gpusim.commands.frame.axes import axes_of, launches, subject_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.kernel_tuner_files import Given, Renames, T1File, check_files, given_by, write_swept
from gpusim.commands.frame.notices import ineffective_at_all
from gpusim.commands.frame.options import (
    Axes,
    Caches,
    CodeOptions,
    Dask,
    EstimatedPoints,
    Jobs,
    KernelName,
    MachineOfKernel,
    PageOptions,
    Top,
    TunerFiles,
    out,
    seed,
    written,
)
from gpusim.commands.frame.page_file import page_of
from gpusim.commands.frame.plugins import plug
from gpusim.commands.frame.progress import begin_compiling, keeping, shown
from gpusim.commands.frame.spread import spread_over
from gpusim.commands.search import sweep_plot
from gpusim.commands.search.sweep_page import sweep_page
from gpusim.commands.search.sweep_screen import Swept, document, first_varied, plotted, screen
from gpusim.launch.file.prepare import files_of
from gpusim.machine import machine as model
from gpusim.support.document import Ineffective
from isa.errors import UserError
from isa.reading import extra
from isa.text import listing

Found = dict[tuple[tuple[str, str], ...], SweepRow]


def sweep(
    kernel: KernelName,
    axes: Axes,
    code: CodeOptions,
    how: EstimatedPoints,
    picture: PageOptions,
    files: TunerFiles,
    machine: MachineOfKernel = None,
    caches: Caches = None,
    t1: T1File = None,
    rename: Renames = (),
    draw: Annotated[
        int | None, Option("--draw", min=1, max=MOST, help="Draw so many points of the product at random.")
    ] = None,
    search: Annotated[str, Option("--search", metavar="optuna", help="Let Optuna propose points instead.")] = "",
    trials: Annotated[int, Option("--trials", min=1, max=MOST, help="Points that --search may propose.")] = 100,
    seed: Annotated[int, seed("--seed", help="Seed of --draw or --search.")] = 0,
    out: Annotated[Path | None, out("Write results.csv there, and resume from it.", "DIR")] = None,
    parquet: Annotated[bool, Option("--parquet", help="Also write results.parquet.")] = False,
    pareto: Annotated[
        str, Option("--pareto", metavar="A,B", help="Show the points that no other beats in these columns.")
    ] = "",
    plot: Annotated[Path | None, written("--plot", "Draw a picture: .png, .svg or .pdf.")] = None,
    top: Top = 10,
    jobs: Jobs = None,
    dask: Dask = "",
) -> Answer:
    """Simulate a kernel at every point of a product: numbers of the machine, policies, parameters; without values.

    Example: gpusim sweep sgemm-lai -p m=96 -p n=96 -p k=32 -p blocking=1:3 --set schedulers.count=1,2

    Example: gpusim sweep mix -p iterations=2 --set load_store.queue=1:4 --html queue.html
    """
    plug(axes.plugin)
    page = page_of(picture, "sweep.html")
    subject, given = subject_of(kernel, machine, code, how, caches), given_by(t1, rename)
    parameters, settings = (*axes.parameter, *given.parameters), (*axes.setting, *given.settings)
    varied = axes_of(kernel, subject.file, Axes(settings, parameters, axes.policy))
    columns, spread = compared(pareto, varied, "--pareto"), spread_over(jobs, dask)
    chosen = None if _searching(search, draw, given) else points(varied, draw, seed, given.allows)
    with _directory(out):
        check_files(files, whole=chosen is not None and draw is None)
        _check_outputs(out, parquet, plot, None if columns else varied)
    rows_in = out and out / "results.jsonl"
    with keeping(rows_in), results(rows_in, _settings(kernel, subject, code), SweepRow) as (kept, add):
        unfelt = _ineffective(subject, varied, chosen or ())
        begin_compiling()
        found = {key(each.point): each for each in kept}
        simulated = partial(_simulated, found, add, partial(spread, partial(row, subject=subject)))
        rows = _searched(varied, trials, seed, simulated) if chosen is None else _swept(chosen, found, simulated)
        known = len({key(each.point) for each in rows} & {key(each.point) for each in kept})
        swept = Swept(kernel, subject.file.key, varied, rows, known, columns)
        _write_tables(swept, out, parquet=parquet)
    write_swept(files, given.names, subject.file.key, kernel, varied, rows)
    if plot:
        sweep_plot.write(plot, *plotted(swept))
    unfelt = _ineffective(subject, varied, [each.point for each in rows]) if chosen is None else unfelt
    return Answer(
        lambda: document(swept), lambda: screen(swept, top), unfelt, page=page, charts=lambda: sweep_page(swept)
    )


def _write_tables(swept: Swept, out: Path | None, *, parquet: bool) -> None:
    if out:
        write_csv(out / "results.csv", swept.table)
    if out and parquet:
        write_parquet(out / "results.parquet", swept.table)


def _ineffective(subject: Subject, axes: Sequence[Axis], some: Sequence[SweepPoint]) -> Sequence[Ineffective]:
    """Return the axes of the machine that do nothing at any point, and report them on stderr."""
    paths = [axis.name for axis in axes if axis.of == "machine"]
    return ineffective_at_all(launches(subject, shuffled(some)), paths) if paths else ()


def _searching(search: str, draw: int | None, given: Given) -> bool:
    """Tell whether to search for points; raises UserError for an unknown search."""
    if not search:
        return False
    if search != "optuna":
        raise UserError(f"--search {search}: there is no such search; give optuna")
    if draw or given.allows:
        raise UserError("--search optuna: takes the axes alone; leave --draw and --t1 out")
    optuna_search.check()
    return True


def _settings(kernel: str, subject: Subject, code: CodeOptions) -> SweepSettings:
    return SweepSettings(
        kernel=kernel,
        listing=_digest(kernel, code),
        machine=subject.file.key,
        facts=hash_of(model.build(subject.file)),
        max_cycles=subject.max_cycles,
        version=version("gpusim"),
        estimate=subject.estimate,
        sms=subject.sms,
    )


def _digest(kernel: str, code: CodeOptions) -> str:
    """Return what distinguishes a listing, or code with its launch file, from others; empty for a kernel by name."""
    if is_code(kernel):
        read = [sha256(path.read_bytes()).digest() for path in files_of(kernel, code.launch)]
        options = repr((code.architecture, code.nvcc_flags)).encode() if code_option(code) else b""
        return sha256(b"".join([*read, options])).hexdigest()[:16]
    return sha256(listing.text_of(kernel).encode()).hexdigest()[:16] if is_listing(kernel) else ""


@contextmanager
def _directory(out: Path | None) -> Iterator[None]:
    """Make the directory of results, for other files may lie in it; remove it again if one of them is refused."""
    if str(out) == "-":
        raise UserError("--out -: is no directory, and several files don't fit on stdout; name a directory")
    if out and out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: is a file; name a directory")
    made = out if out and not out.exists() else None
    if made:
        made.mkdir()
    try:
        yield
    except UserError:
        if made:
            made.rmdir()
        raise


def _check_outputs(out: Path | None, parquet: bool, plot: Path | None, axes: Sequence[Axis] | None) -> None:
    """Raise UserError for outputs that could not be written in the end, a plot over none of these axes among them.

    `axes` is None where the plot's columns are named.
    """
    if parquet:
        if not out:
            raise UserError("--parquet: no directory for it; give --out DIR too")
        extra.module("pyarrow", "parquet")
    if plot:
        if axes is not None:
            first_varied(axes)
        sweep_plot.check(plot)


def _swept(chosen: Sequence[SweepPoint], found: Found, simulated: Callable[..., list[SweepRow]]) -> list[SweepRow]:
    """Return the rows of all points, in their order."""
    known = sum(key(point) in found for point in chosen)
    with shown("sweep", "point") as tell:
        tell(known, len(chosen))
        return simulated(chosen, lambda done: tell(known + done, len(chosen)))


def _searched(axes: Sequence[Axis], trials: int, seed: int, simulated: Callable[..., list[SweepRow]]) -> list[SweepRow]:
    """Return the rows of the points that a search proposes."""
    with shown("search", "trial") as tell:
        return optuna_search.search(axes, trials, seed, partial(simulated, tell=lambda _: None), tell)


def _simulated(
    found: Found,
    add: Callable[[SweepRow], None],
    spread: Callable[[list[SweepPoint]], Generator[SweepRow, None, None]],
    chosen: Sequence[SweepPoint],
    tell: Callable[[int], None],
) -> list[SweepRow]:
    """Simulate those points that are not found yet, and add them; return all rows in the order of the points."""
    missing = {key(point): point for point in chosen if key(point) not in found}
    with closing(spread(shuffled(missing.values()))) as more:
        for done, each in enumerate(more, 1):
            add(each)
            found[key(each.point)] = each
            tell(done)
    return [msgspec.structs.replace(found[key(point)], point=point) for point in chosen]
