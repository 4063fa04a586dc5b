"""What `gpusim exec` shows of single launches, which it has captured: reports, and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import RenderableType

from gpusim.commands.causes.report import report as report_of
from gpusim.commands.frame.options import Launch, LaunchOrTimeline, Part, Simulation, SourceOptions
from gpusim.commands.run.exec_page import program_page
from gpusim.commands.run.timelines import timeline_of, with_summary
from gpusim.commands.run.view import CYCLES
from gpusim.programs.program import Executed
from gpusim.support import whole_file
from gpusim.support.plural import plural
from gpusim.views import html
from isa.errors import UserError


class Where(NamedTuple):
    """A machine as it was named, and what was set of it."""

    machine: str
    setting: Sequence[str]


def told(ran: Executed, program: Path, at: Where, *, report: bool, view: Path | None) -> Iterator[RenderableType]:
    """Yield the report of the captured launch that takes most time, and lines on the pages and files written."""
    captures = ran.session.runner.captures
    if captures is None:
        return
    rows = {one.number: one for one in ran.session.runner.rows}
    ranked = sorted(captures.files, key=lambda number: -(rows[number].milliseconds or 0.0))
    if report and ranked:
        yield f"\nlaunch {ranked[0]}:"
        yield from _report(captures.files[ranked[0]], at)
    if view:
        yield from _pages(ran, program, at, view, ranked)
    elif ranked and not report:
        some = plural(len(ranked), "launch", "es")
        yield f"{captures.folder}: {some} captured; again: gpusim run {captures.files[ranked[0]]}"


def _report(file: Path, at: Where) -> Sequence[RenderableType]:
    try:
        launch = Launch(str(file), machine=at.machine, setting=at.setting)
        answer = report_of(launch, SourceOptions(), Simulation())
    except UserError as error:
        return [f"no report: {error}"]
    screen = answer.screen() if callable(answer.screen) else answer.screen
    return [screen] if isinstance(screen, str) else list(screen)  # type: ignore[arg-type]  # what rich prints


def _pages(ran: Executed, program: Path, at: Where, folder: Path, ranked: Sequence[int]) -> Iterator[str]:
    """Write the page of each captured launch, and that of the program; yield a line."""
    captures = ran.session.runner.captures
    assert captures is not None
    links = dict[int, str]()
    for number in ranked:
        try:
            page = _page(captures.files[number], at)
        except UserError as error:
            captures.tell(f"launch {number} has no page: {error}")
            continue
        file = folder / captures.files[number].with_suffix(".html").name
        whole_file.write(file, page)
        links[number] = file.name
    index = folder / "index.html"
    whole_file.write(index, program_page(ran, f"gpusim exec: {program.name} on {ran.session.machine.key}", [], links))
    yield f"{index}: the program, and pages of {plural(len(links), 'launch', 'es')}; open it in a browser"


def _page(file: Path, at: Where) -> str:
    launch, code = LaunchOrTimeline(str(file), machine=at.machine, setting=at.setting), SourceOptions()
    run = timeline_of(launch, code, Part(cycles=f"0:{CYCLES}"), None, quiet=True)
    return html.page([with_summary(run, launch, code)])
