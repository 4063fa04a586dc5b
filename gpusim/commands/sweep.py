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
import typer

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
from gpusim.commands import sweep_plot
from gpusim.commands.arguments import (
    AS_IT_IS,
    MOST_SEED,
    MOST_WHOLE,
    Architecture,
    CodeOptions,
    Estimate,
    Force,
    Json,
    KernelName,
    LaunchFile,
    MachineOfKernel,
    NvccFlags,
    SmsOption,
    Strict,
    is_code,
    is_listing,
    sms_of,
)
from gpusim.commands.axes import ParameterAxes, PolicyAxis, SettingAxes, axes_of, launches, subject_of
from gpusim.commands.document import show, write_json
from gpusim.commands.kernel_tuner_files import (
    CacheFile,
    Given,
    Renames,
    T1File,
    T4File,
    check_files,
    given_by,
    write_swept,
)
from gpusim.commands.notices import ineffective_at_all
from gpusim.commands.page_file import Html, OpenPage, page_file, present
from gpusim.commands.progress import begin_compiling, keeping, shown
from gpusim.commands.sweep_page import sweep_page
from gpusim.commands.sweep_screen import Swept, document, first_varied, plotted, screen
from gpusim.launch_file.prepare import files_of
from gpusim.machine import machine as model
from gpusim.support import dask_cluster, whole_file
from gpusim.support.document import Ineffective
from gpusim.support.processes import as_done
from gpusim.units.cache import tagged
from isa.errors import UserError
from isa.reading import extra
from isa.text import listing

Draw = Annotated[
    int | None, typer.Option("--draw", min=1, max=MOST, help="Draw so many points of the product at random.")
]
Search = Annotated[str, typer.Option("--search", metavar="optuna", help="Let Optuna propose points instead.")]
Directory = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write results.csv there, and resume from it.")
]
Pareto = Annotated[
    str, typer.Option("--pareto", metavar="A,B", help="Show the points that no other beats in these columns.")
]
Picture = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, max=MOST_WHOLE, help="How many points at a time; by default one per core."),
]
Dask = Annotated[str, typer.Option("--dask", metavar="ADDRESS", help="Simulate on the cluster of a Dask scheduler.")]
Limit = Annotated[
    int | None,
    typer.Option("--max-cycles", min=1, max=MOST_WHOLE, help="Give up a point after so many; listings: 200 million."),
]
Found = dict[tuple[tuple[str, str], ...], SweepRow]
Spread = Callable[[Callable[[SweepPoint], SweepRow], list[SweepPoint]], Generator[SweepRow, None, None]]


def sweep(
    kernel: KernelName,
    *,
    machine: MachineOfKernel = None,
    setting: SettingAxes = None,
    parameter: ParameterAxes = None,
    policy: PolicyAxis = None,
    t1: T1File = None,
    rename: Renames = None,
    draw: Draw = None,
    search: Search = "",
    trials: Annotated[int, typer.Option("--trials", min=1, max=MOST, help="Points that --search may propose.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, max=MOST_SEED, help="Seed of --draw or --search.")] = 0,
    out: Directory = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Also write results.parquet.")] = False,
    pareto: Pareto = "",
    plot: Picture = None,
    html: Html = None,
    open_page: OpenPage = False,
    cache: CacheFile = None,
    t4: T4File = None,
    top: Annotated[int, typer.Option("--top", min=1, max=MOST_WHOLE, help="How many of the fastest to show.")] = 10,
    jobs: Jobs = None,
    dask: Dask = "",
    max_cycles: Limit = None,
    estimate: Estimate = None,
    sms: SmsOption = "1",
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Simulate a kernel at every point of a product: numbers of the machine, policies, parameters; without values.

    Example: gpusim sweep sgemm-lai -p m=96 -p n=96 -p k=32 -p blocking=1:3 --set schedulers.count=1,2

    Example: gpusim sweep mix -p iterations=2 --set load_store.queue=1:4 --html queue.html
    """
    page = page_file(html, show=open_page, name="sweep.html")
    code = CodeOptions(architecture, launch, nvcc_flags, force, strict)
    subject, given = subject_of(kernel, machine, max_cycles, code, estimate, sms_of(sms)), given_by(t1, rename or ())
    axes = axes_of(kernel, subject.file, (setting or []) + given.settings, (parameter or []) + given.parameters, policy)
    columns, spread = compared(pareto, axes, "--pareto"), _spread(jobs, dask)
    chosen = None if _searching(search, draw, given) else points(axes, draw, seed, given.allows)
    with _directory(out):
        check_files(cache, t4, whole=chosen is not None and draw is None)
        _check_outputs(out, parquet, plot, None if columns else axes)
    with keeping(_rows_in(out)), results(_rows_in(out), _settings(kernel, subject, code), SweepRow) as (kept, add):
        unfelt = _ineffective(subject, axes, chosen or ())
        begin_compiling("compiled", subject.sms, in_turn=tagged(model.build(subject.file)))
        found = {key(each.point): each for each in kept}
        simulated = partial(_simulated, found, add, partial(spread, partial(row, subject=subject)))
        rows = _searched(axes, trials, seed, simulated) if chosen is None else _swept(chosen, found, simulated)
        known = len({key(each.point) for each in rows} & {key(each.point) for each in kept})
        swept = Swept(kernel, subject.file.key, axes, rows, known, columns)
        _write_tables(swept, out, parquet=parquet)
    write_swept(cache, t4, given.names, subject.file.key, kernel, axes, rows)
    _draw(swept, plot, page)
    unfelt = _ineffective(subject, axes, [each.point for each in rows]) if chosen is None else unfelt
    if json:
        write_json(document(swept), unfelt)
    else:
        show(*screen(swept, top))
    present(page, show=open_page, json=json)


def _rows_in(folder: Path | None) -> Path | None:
    """Return the file of a sweep's folder that keeps its rows."""
    return folder and folder / "results.jsonl"


def _write_tables(swept: Swept, out: Path | None, *, parquet: bool) -> None:
    if out:
        write_csv(out / "results.csv", swept.table)
    if out and parquet:
        write_parquet(out / "results.parquet", swept.table)


def _draw(swept: Swept, plot: Path | None, page: Path | None) -> None:
    if plot:
        sweep_plot.write(plot, *plotted(swept))
    if page:
        whole_file.write(page, sweep_page(swept))


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


def _spread(jobs: int | None, dask: str) -> Spread:
    """Return the function that computes rows of points, with processes of this computer or on a cluster."""
    if not dask:
        return partial(as_done, workers=jobs)
    if jobs:
        raise UserError(f"--jobs {jobs}: the cluster sets how many; leave it out with --dask")
    return partial(dask_cluster.as_done, address=dask)


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
        options = repr((code.architecture, code.nvcc_flags)).encode() if code != AS_IT_IS else b""
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
