"""`gpusim view`: a timeline, or two side by side, as a page for any browser; or its source as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpusim.commands.arguments import (
    POLICIES,
    Architecture,
    CodeOptions,
    Force,
    Json,
    LaunchFile,
    MaxCycles,
    NvccFlags,
    Overrides,
    Parameters,
    SourceRoots,
    Strict,
    kernel_of,
    kernels_from,
    machine_of,
    machines_from,
    placed,
    policies_from,
)
from gpusim.commands.axes import policies_of
from gpusim.commands.document import write, write_json
from gpusim.commands.page_file import open_in_browser, temporary
from gpusim.commands.timelines import DOCUMENTS, Cycles, KernelOrTimeline, Warps, timeline_of
from gpusim.support import whole_file
from gpusim.support.document import Document, Ineffective, KernelKey, MachineKey, Policy, Settings, doc
from gpusim.support.plural import plural
from gpusim.timeline.document import NONE, Timeline
from gpusim.views import html, source_svg
from isa.errors import UserError

ENDINGS = ".html", ".svg"
CYCLES = 100_000  # of a kernel, by default
MOST = 1_000_000  # warp instructions of a page: with more, browsers take long and gigabytes of memory


@dataclass(frozen=True)
class Shown:
    """A run in the page: how many shader cycles it takes (-1: it has no end), and which of them are shown.

    `warp_instructions` counts those that are shown; `ineffective` are the settings that do nothing.
    """

    kernel: KernelKey
    machine: MachineKey
    policy: Policy
    settings: Settings
    cycles: int
    start: int
    end: int
    warp_instructions: int
    ineffective: Sequence[Ineffective]


class ViewDocument(Document, frozen=True):
    """A page that was written, and the runs in it."""

    file: Annotated[str, doc("Path of the page.")]
    bytes: Annotated[int, doc("Size of the page.")]
    runs: Annotated[list[Shown], doc("The run, or the two side by side.")]


def view(
    kernel: KernelOrTimeline,
    other: Annotated[
        str | None, typer.Argument(help="A second one, shown beside the first.", autocompletion=kernels_from)
    ] = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The HTML file; if it ends in .svg, a picture of the source view."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser, a temporary file without --out.")] = False,
    machine: Annotated[
        list[str] | None,
        typer.Option(
            "--machine", help="A machine's name, or a .toml file; two: side by side.", autocompletion=machines_from
        ),
    ] = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            help=f"Scheduling policy; two, as in lrr,gto: side by side. {POLICIES}.",
            autocompletion=policies_from,
        ),
    ] = None,
    warps: Warps = None,
    cycles: Cycles = None,
    max_cycles: MaxCycles = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    source_root: SourceRoots = None,
    json: Json = False,
) -> None:
    """Write one HTML file that shows what each warp instruction did, when, and what it waited for.

    It needs no network: open it in a browser. Its source view has the lines of the source next to the instructions made
    from them. Two kernels, timelines, machines or policies appear side by side. By default the first 100,000 cycles of
    a kernel are shown; --cycles chooses others.

    Example: gpusim view examples/reduce.asm --machine gtx580 --machine h200 --out reduce.html

    Example: gpusim view examples/reduce.asm --machine h200 --out reduce.svg

    gpusim view sgemm-lai -p m=192 -p n=192 -p k=64 --open shows it in the browser at once.
    """
    out = _file(out, show=show)
    whole_file.check(out)
    policies = [one for each in policy or () for one in policies_of(each)]
    sides = _sides([kernel, other] if other else [kernel], machine or [], policies)
    picture = out.suffix.lower() == ".svg"
    if picture and len(sides) > 1:
        raise UserError(f"{out}: a picture shows one run; leave out the second, or let the name end in .html")
    code = CodeOptions(architecture, launch, nvcc_flags, force, strict, tuple(source_root or ()))
    runs = [_run(*side, parameter or (), setting or (), warps, cycles, max_cycles, code) for side in sides]
    _check(runs)
    if picture:
        whole_file.write_pieces(out, source_svg.svg(runs[0]))
    else:
        whole_file.write(out, html.page(runs))
    if json:
        write_json(ViewDocument(str(out), out.stat().st_size, [_shown(run) for run in runs]))
    else:
        use = "browsers and drawing programs open it" if picture else "open it in a browser"
        lines = [f"{out}: {plural(out.stat().st_size, 'byte')}; {use}", *map(_line, runs)]
        write("".join(f"{line}\n" for line in lines))
    if show:
        open_in_browser(out)


def _file(out: Path | None, *, show: bool) -> Path:
    """The file to write: the one that is named, or one in the folder for temporary files."""
    if out and out.suffix.lower() not in ENDINGS:
        raise UserError(f"{out}: a view is a page or a picture; let its name end in {' or '.join(ENDINGS)}")
    if out:
        return out
    if not show:
        raise UserError("view: name a file, such as --out view.html, or say --open")
    return temporary("view.html")


def _sides(*given: Sequence[str]) -> list[tuple[str, str | None, str | None]]:
    """Name, machine and policy of each run; a value given once holds for both."""
    count = max(map(len, given))
    if count > 2:
        raise UserError(f"view: {max(given, key=len)[2]} is a third; give two to compare")
    name, machine, policy = ([each[min(k, len(each) - 1)] if each else None for k in range(count)] for each in given)
    return list(zip(map(str, name), machine, policy, strict=True))


def _run(
    name: str,
    machine: str | None,
    policy: str | None,
    parameters: Sequence[str],
    settings: Sequence[str],
    warps: str | None,
    cycles: str | None,
    max_cycles: int | None,
    code: CodeOptions,
) -> Timeline:
    kept = name.endswith(DOCUMENTS)
    run = timeline_of(
        name,
        machine=machine,
        policy=policy,
        parameters=parameters,
        settings=settings,
        warps=warps,
        cycles=cycles or (None if kept else f"0:{CYCLES}"),
        max_cycles=max_cycles,
        code=code,
    )
    if kept or run.cycles == NONE:
        return run
    from gpusim.analysis.account.roofline import summary  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.simulation import simulate  # noqa: PLC0415

    kernel = kernel_of(name, parameters, code, machine)
    where = machine_of(*placed(kernel, machine, settings), policy)
    return msgspec.structs.replace(run, summary=summary(simulate(kernel, where, values=False)))


def _check(runs: Sequence[Timeline]) -> None:
    for run in runs:
        if len(run.instructions) > MOST:
            shown, least = plural(len(run.instructions), "warp instruction"), run.start
            most = least + (run.end - least) * MOST * 9 // (10 * len(run.instructions))
            raise UserError(
                f"{run.kernel}: {shown} are too many for a browser, which takes {MOST:,}; "
                f"choose some by --warps or --cycles, such as --cycles {least}:{most}"
            )


def _line(run: Timeline) -> str:
    return f"{run.kernel} on {run.machine}, {run.policy}: {html.extent(run)}"


def _shown(run: Timeline) -> Shown:
    count = len(run.instructions)
    head = run.kernel, run.machine, run.policy, run.settings
    return Shown(*head, run.cycles, run.start, run.end, count, run.ineffective or ())
