"""The timeline that a command shows, of a kernel that it runs or from a document, and the part to show."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import msgspec

from gpusim.commands import streams
from gpusim.commands.frame.arguments import chosen, code_option, cycles_of, file_of
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import CodeOptions, LaunchOrTimeline, Part, SourceOptions
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.support import whole_file
from gpusim.views.timeline.document import NONE, Timeline
from gpusim.views.timeline.file import load, part
from gpusim.views.timeline.source import with_source
from isa.errors import UserError
from isa.nvidia.abi.on_chip import synchronises

DOCUMENTS = ".json", ".json.gz"


def check_name(out: Path) -> None:
    """Raise UserError for a file that no command would read as a timeline, or that can't be written."""
    whole_file.check(out)
    if not out.name.endswith(DOCUMENTS):
        raise UserError(f"{out}: timelines are recognized by their names; let it end in {' or '.join(DOCUMENTS)}")


def timeline_of(
    launch: LaunchOrTimeline, code: CodeOptions, shown_part: Part, max_cycles: int | None, *, quiet: bool = False
) -> Timeline:
    """Return the timeline of a command line, read if the name is a document's, else simulated; raises UserError.

    Settings that do nothing are reported on stderr unless `quiet`.
    """
    slots, (start, end) = _slots(shown_part.warps), _span(shown_part.cycles)
    if launch.kernel.endswith(DOCUMENTS):
        if launch != LaunchOrTimeline(launch.kernel) or max_cycles or code_option(code):
            raise UserError(f"{launch.kernel}: a timeline is of a finished run; leave out kernel and machine options")
        document = load(Path(launch.kernel))
        return part(document, document.start if shown_part.cycles is None else start, end, slots)
    at = chosen(launch, code)
    from gpusim.simulation.timeline.build import timeline  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.sm.memory.cache.declaration import tagged  # noqa: PLC0415
    from gpusim.sm.unit.capacities import NEVER  # noqa: PLC0415

    begin_compiling()
    if tagged(at.machine):
        begin_compiling("timeline")
    settings, limit = at.changes, cycles_of(launch.kernel, max_cycles) or NEVER
    unfelt = () if quiet else ineffective_settings(at)
    build = partial(timeline, warps=slots, start=start, end=end, max_cycles=limit, settings=settings)
    with shown(at.kernel.name) as tell:
        found = build(at.kernel, at.machine, progress=tell)
    if synchronises(at.kernel):
        streams.tell("note: the grid is synchronised, so all SMs were simulated, and the first is shown\n")
    roots = code.source_roots if isinstance(code, SourceOptions) else ()
    found = with_source(found, at.kernel.program, file_of(launch.kernel), roots)
    return msgspec.structs.replace(found, ineffective=unfelt) if unfelt else found


def with_summary(run: Timeline, launch: LaunchOrTimeline, code: CodeOptions) -> Timeline:
    """Return a timeline with the rates of its whole launch, if it is of a kernel that ends."""
    if launch.kernel.endswith(DOCUMENTS) or run.cycles == NONE:
        return run
    from gpusim.analysis.account.rates.roofline import summary  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.simulation.simulation import simulate  # noqa: PLC0415

    at = chosen(launch, code)
    return msgspec.structs.replace(run, summary=summary(simulate(at.kernel, at.machine, values=False)))


def _slots(text: str | None) -> list[int] | None:
    """The warp slots of `0-3,8`; None for all."""
    if text is None:
        return None
    found = [re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", one) for one in text.split(",")]
    spans = [range(int(one[1]), int(one[2] or one[1]) + 1) for one in found if one]
    if not all(found) or not all(spans):
        raise UserError(f"--warps {text}: no warp slots; give numbers and ranges, such as 0-3,8")
    return sorted(set().union(*spans))


def _span(text: str | None) -> tuple[int, int | None]:
    """The first cycle and the one after the last of `100:200`; None if that is the run's end."""
    found = re.fullmatch(r"(\d{0,18}):(\d{0,18})", "0:" if text is None else text)
    if not found:
        raise UserError(f"--cycles {text}: no cycles; give the first and the one after the last, such as 0:200")
    return int(found[1] or 0), int(found[2]) if found[2] else None
