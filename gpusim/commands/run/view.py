"""`gpusim view`: a timeline, or two side by side, as a page for any browser; or its source as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gpusim.commands.frame.axes import policies_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import joined
from gpusim.commands.frame.options import (
    POLICIES,
    Caches,
    KernelOrTimeline,
    LaunchOrTimeline,
    MaxCycles,
    Overrides,
    Parameters,
    Part,
    Plugins,
    SourceOptions,
    kernels_from,
    machine,
    out,
    policies_from,
)
from gpusim.commands.frame.page_file import temporary
from gpusim.commands.frame.plugins import plug
from gpusim.commands.run.timelines import DOCUMENTS, timeline_of, with_summary
from gpusim.support import whole_file
from gpusim.support.document import Document, Ineffective, KernelKey, MachineKey, Policy, Settings, doc
from gpusim.support.plural import plural
from gpusim.views import html, source_svg
from gpusim.views.timeline.document import Timeline
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


@dataclass(frozen=True)
class Sides:
    """A kernel on a machine, or two kernels, timelines, machines or policies side by side."""

    kernel: KernelOrTimeline
    other: Annotated[
        str | None, Argument(help="A second one, shown beside the first.", autocompletion=kernels_from)
    ] = None
    parameter: Parameters = ()
    machine: Annotated[Sequence[str], machine("; two: side by side.")] = ()
    setting: Overrides = ()
    policy: Annotated[
        Sequence[str],
        Option(
            "--policy",
            help=f"Scheduling policy; two, as in lrr,gto: side by side. {POLICIES}.",
            autocompletion=policies_from,
        ),
    ] = ()
    caches: Caches = None
    plugin: Plugins = ()


def view(
    given: Sides,
    code: SourceOptions,
    part: Part,
    out: Annotated[Path | None, out("The HTML file; if it ends in .svg, a picture of the source view.")] = None,
    show: Annotated[bool, Option("--open", help="Open it in a browser, a temporary file without --out.")] = False,
    max_cycles: MaxCycles = None,
) -> Answer:
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
    plug(given.plugin)
    sides = _sides(given)
    picture = out.suffix.lower() == ".svg"
    if picture and len(sides) > 1:
        raise UserError(f"{out}: a picture shows one run; leave out the second, or let the name end in .html")
    runs = [_run(launch, code, part, max_cycles) for launch in sides]
    _check(runs)
    if picture:
        whole_file.write_pieces(out, source_svg.svg(runs[0]))
    else:
        whole_file.write(out, html.page(runs))
    size, use = out.stat().st_size, "browsers and drawing programs open it" if picture else "open it in a browser"
    lines = joined(f"{out}: {plural(size, 'byte')}; {use}", *map(_line, runs))
    return Answer(ViewDocument(str(out), size, [_shown(run) for run in runs]), lines, opened=out if show else None)


def _file(out: Path | None, *, show: bool) -> Path:
    """The file to write: the one that is named, or one in the folder for temporary files."""
    if out and out.suffix.lower() not in ENDINGS:
        raise UserError(f"{out}: a view is a page or a picture; let its name end in {' or '.join(ENDINGS)}")
    if out:
        return out
    if not show:
        raise UserError("view: name a file, such as --out view.html, or say --open")
    return temporary("view.html")


def _sides(given: Sides) -> list[LaunchOrTimeline]:
    """Return the launch of each run; a value given once holds for both."""
    kernels = [given.kernel, given.other] if given.other else [given.kernel]
    several = kernels, given.machine, [one for each in given.policy for one in policies_of(each)]
    sides = max(map(len, several))
    if sides > 2:
        raise UserError(f"view: {max(several, key=len)[2]} is a third; give two to compare")
    each = [[some[min(k, len(some) - 1)] if some else None for k in range(sides)] for some in several]
    return [
        LaunchOrTimeline(str(name), given.parameter, machine, given.setting, policy, given.caches, _left(given, name))
        for name, machine, policy in zip(*each, strict=True)
    ]


def _left(given: Sides, name: str | None) -> Sequence[Path]:
    """Return the plugins that a side still has: none, as they have run, but of a timeline, which refuses them."""
    return given.plugin if str(name).endswith(DOCUMENTS) else ()


def _run(launch: LaunchOrTimeline, code: SourceOptions, part: Part, max_cycles: int | None) -> Timeline:
    kept = launch.kernel.endswith(DOCUMENTS)
    cycles = part.cycles or (None if kept else f"0:{CYCLES}")
    run = timeline_of(launch, code, replace(part, cycles=cycles), max_cycles)
    return with_summary(run, launch, code)


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
