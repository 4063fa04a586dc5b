"""The timeline that a command shows, of a kernel that it runs or from a document, and the part to show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpusim.commands.arguments import (
    AS_IT_IS,
    CodeOptions,
    changes,
    cycles_of,
    file_of,
    kernel_of,
    kernels_from,
    machine_of,
    placed,
)
from gpusim.commands.notices import ineffective_settings
from gpusim.commands.progress import begin_compiling, shown
from gpusim.support import whole_file
from gpusim.timeline.document import Timeline
from gpusim.timeline.file import load, part
from gpusim.timeline.source import with_source
from isa.errors import UserError

DOCUMENTS = ".json", ".json.gz"
KernelOrTimeline = Annotated[
    str,
    typer.Argument(
        help="A kernel, a listing, machine code, or a timeline (.json, .json.gz).", autocompletion=kernels_from
    ),
]
Warps = Annotated[str | None, typer.Option("--warps", metavar="0-3,8", help="Only these warp slots of the SM.")]
Cycles = Annotated[str | None, typer.Option("--cycles", metavar="FROM:TO", help="From this cycle up to that one.")]


def check_name(out: Path) -> None:
    """Raise UserError for a file that no command would read as a timeline, or that can't be written."""
    whole_file.check(out)
    if not out.name.endswith(DOCUMENTS):
        raise UserError(f"{out}: timelines are recognized by their names; let it end in {' or '.join(DOCUMENTS)}")


def timeline_of(
    name: str,
    *,
    machine: str | None,
    parameters: Sequence[str],
    settings: Sequence[str],
    policy: str | None,
    warps: str | None,
    cycles: str | None,
    max_cycles: int | None,
    code: CodeOptions = AS_IT_IS,
    quiet: bool = False,
) -> Timeline:
    """Return the timeline of a command line, read if the name is a document's, else simulated; raises UserError.

    Settings that do nothing are reported on stderr unless `quiet`.
    """
    slots, (start, end) = _slots(warps), _span(cycles)
    if name.endswith(DOCUMENTS):
        if machine or policy or parameters or settings or max_cycles or code != AS_IT_IS:
            raise UserError(f"{name}: a timeline is of a finished run; leave out kernel and machine options")
        document = load(Path(name))
        return part(document, document.start if cycles is None else start, end, slots)
    kernel = kernel_of(name, parameters, code, machine)
    machine, settings = placed(kernel, machine, settings)
    where = machine_of(machine, settings, policy)
    from gpusim.timeline.build import timeline  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.units.cache import tagged  # noqa: PLC0415
    from gpusim.units.capacities import NEVER  # noqa: PLC0415

    begin_compiling("compiled")
    if tagged(where):
        begin_compiling("timeline")
    replaced, limit = changes(where, settings), cycles_of(name, max_cycles) or NEVER
    unfelt = () if quiet else ineffective_settings(kernel, machine, settings, policy)
    with shown(kernel.name) as tell:
        found = timeline(
            kernel, where, warps=slots, start=start, end=end, max_cycles=limit, settings=replaced, progress=tell
        )
    found = with_source(found, kernel.program, file_of(name), code.source_roots)
    return msgspec.structs.replace(found, ineffective=unfelt) if unfelt else found


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
