"""`gpusim timeline`: what each warp instruction did in each cycle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec

from gpusim.commands.frame.document import width, write
from gpusim.commands.frame.options import Json, LaunchOrTimeline, MaxCycles, Part, SourceOptions, out
from gpusim.commands.run.timelines import DOCUMENTS, check_name, timeline_of
from gpusim.support import whole_file
from gpusim.views.text import text
from gpusim.views.timeline.document import Timeline

FIRST = 200  # cycles of a run that are shown as text by default


def timeline(
    launch: LaunchOrTimeline,
    code: SourceOptions,
    part: Part,
    out: Annotated[Path | None, out("Write the document to this .json or .json.gz file.")] = None,
    max_cycles: MaxCycles = None,
    json: Json = False,
) -> None:
    """Show a run of one SM: a row for each warp instruction, a letter for each cycle.

    Without --cycles the first 200 cycles are shown; --json and --out write the whole run.

    Example: gpusim timeline examples/reduce.asm --warps 0-1 --cycles 0:120
    """
    if out:
        check_name(out)
    whole = bool(json or out) or launch.kernel.endswith(DOCUMENTS)
    part = replace(part, cycles=part.cycles or (None if whole else f"0:{FIRST}"))
    document = timeline_of(launch, code, part, max_cycles)
    if out:
        whole_file.write_pieces(out, _encoded(document))
    if json:
        write(b"".join(_encoded(document)).decode())
    elif not out:
        write(text(document, width()) + _more(document))


def _more(document: Timeline) -> str:
    left = document.cycles - document.end
    return (
        f"\nthe run goes on for {left:,} cycles: --cycles {document.end}:{document.end + FIRST}\n" if left > 0 else ""
    )


def _encoded(document: Timeline) -> tuple[bytes, bytes]:
    return msgspec.json.encode(document), b"\n"
