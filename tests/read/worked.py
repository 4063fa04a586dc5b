"""The timelines worked out by hand, in the files of tests/golden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from gpusim.views.timeline.document import Timeline
from isa.text.listing import read

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.txt"))


def sections(path: Path) -> dict[str, str]:
    """Return the text of each [section] of a golden file."""
    parts = ("\n" + path.read_text()).split("\n[")[1:]
    return {name: body.strip("\n") for name, body in (part.split("]\n", 1) for part in parts)}


def overrides(text: str) -> dict[str, int | str]:
    """Return the machine's numbers that the timeline worked out by hand uses."""
    pairs = (line.split(" = ") for line in text.splitlines())
    return {path: int(value) if value.isdigit() else value for path, value in pairs}


def timeline_of(name: str, **options: Any) -> Timeline:
    """Return the timeline of the golden file of that name."""
    (golden,) = (sections(path) for path in GOLDEN if path.stem == name)
    return timeline(read(golden["listing"]), load("gtx580", overrides(golden["machine"])), **options)
