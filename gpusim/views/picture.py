"""Parts of pictures in SVG: boxes, texts, and the colours of the HTML view on a light background."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement

from gpusim.views.html import FOLDER
from gpusim.views.palette import COLOURS
from gpusim.views.timeline.document import NONE, Timeline

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
Length = float | str  # pixels, or a share such as "40%" of what the part stands in
FONT = "font: 12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"


def palette() -> dict[str, str]:
    """Return the colours of parts of the page, of states and of stall reasons, by name."""
    light = (FOLDER / "colours.css").read_text(encoding="utf-8").split("@media")[0]
    return dict(re.findall(r"--(\w+): (#\w+);", light)) | {name: colour.light for name, colour in COLOURS.items()}


def title(timeline: Timeline) -> tuple[str, str]:
    """Return what a picture shows of a run: kernel, machine, settings and policy, and its cycles."""
    changed = "".join(f", {path} = {value}" for path, value in timeline.settings.items())
    what = f"{timeline.kernel} on {timeline.machine_name}{changed}, {timeline.policy}"
    total = f" of {timeline.cycles:,}" if timeline.cycles != NONE else ""
    return what, f"cycles {timeline.start:,} to {timeline.end:,}{total}"


def box(root: Element, place: tuple[Length, Length, Length, Length], fill: str, **more: str) -> Element:
    """Add a rectangle at x, y of a width and a height."""
    numbers = {name: length(value) for name, value in zip(("x", "y", "width", "height"), place, strict=True)}
    return SubElement(root, "rect", numbers, fill=fill, **more)


def length(value: Length) -> str:
    """Return a length as SVG has it."""
    return value if isinstance(value, str) else f"{value:g}"


def words(root: Element, x: Length, y: float, text: str, fill: str, *, anchor: str = "start", style: str = "") -> None:
    """Add a text whose baseline is at y, if it is not empty."""
    if not text:
        return
    marks = {"text-anchor": anchor} | ({"style": style} if style else {})
    SubElement(root, "text", {"x": length(x), "y": f"{y:g}", "fill": fill} | marks).text = FORBIDDEN.sub("\ufffd", text)
