"""What a console prints, with control characters in its texts shown as escapes."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from isa.support.escaped import escaped


class EscapedParts(RenderHook):
    """A hook of a console (`push_render_hook`) that shows control characters of all that is printed as escapes.

    Colors and links of the console's own are no part of the texts, and stay.
    """

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Return what is printed, each part wrapped."""
        return [_Escaped(one) for one in renderables]


@dataclass(frozen=True)
class _Escaped:
    """A part of what is printed."""

    inner: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its segments with escapes in their texts."""
        for segment in console.render(self.inner, options):
            yield segment if segment.control else Segment(escaped(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width of the part, as without escapes."""
        return Measurement.get(console, options, self.inner)
