"""A timeline as a picture: a row for each warp, a colour for each reason to wait; above, each scheduler's issue slots.

Below them are the rows of units that work by themselves, if there are any: tensor cores, copies, barriers.

Colours are those of the HTML view on a light background, which the picture contains.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from gpusim.views.picture import FONT, box, palette, title, words
from gpusim.views.timeline.document import Timeline
from gpusim.views.timeline.units import unit_rows

WIDTH, LEFT, RIGHT = 880, 92, 16  # pixels: the picture, and its margins beside the cycles
ROW, GAP, EDGE, LINE = 13, 3, 16, 17
LETTERS = 11  # that the left margin has room for; longer names, as mbar 1:0x18400, are smaller
TITLE = 46
SHARES, SLOTS = 236, 322  # right ends of the columns of the legend
TICKS = 10  # numbers above the rows, at most
STEPS = 1, 2, 5
ABOVE = "selected", "occupies"  # colours that lie above others


class Part(NamedTuple):
    """Cycles from `start` up to `end` that a row shows in the colour of a reason; `selected` where it issues."""

    row: str
    start: int
    end: int
    reason: str


def svg(timeline: Timeline) -> Iterator[bytes]:
    """Yield the file in pieces."""
    slots, warps = dict.fromkeys(_slots(timeline)), dict.fromkeys(_warps(timeline))  # one instruction per turn
    units = dict.fromkeys(_units(timeline))
    rows = [f"scheduler {k}" for k in range(timeline.schedulers)], [f"warp {slot}" for slot in timeline.shown]
    places = _places(*rows, list(dict.fromkeys(part.row for part in units)))
    legend = _legend(timeline, slots, warps, units)
    bottom = max(places.values()) + ROW + EDGE
    height = bottom + LINE * (1 + len(legend)) + EDGE // 2
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", style=FONT)
    colours = palette()
    SubElement(root, "title").text = " ".join(title(timeline))
    box(root, (0, 0, WIDTH, height), colours["background"], rx="8")
    _head(root, timeline, colours)
    _axis(root, timeline, bottom - EDGE, colours)
    for name, y in places.items():
        style = "font-size: 10px" if len(name) > LETTERS else ""
        words(root, LEFT - 8, y + ROW - 2, name, colours["faint"], anchor="end", style=style)
        box(root, (LEFT, y, WIDTH - LEFT - RIGHT, ROW), colours["panel"])
    _paint(root, timeline, places, [*slots, *warps, *units], colours)
    _part(root, timeline, places, units, colours["panel"])
    _explain(root, bottom, legend, colours)
    yield tostring(root) + b"\n"


def _slots(timeline: Timeline) -> Iterator[Part]:
    """The issue slots of each scheduler: used, or lost for a reason."""
    for one in timeline.instructions:
        yield Part(f"scheduler {one.scheduler}", one.issue, one.issue + timeline.interval, "selected")
    for lost in timeline.lost:
        yield Part(f"scheduler {lost.scheduler}", lost.start, lost.end, lost.reason)


def _warps(timeline: Timeline) -> Iterator[Part]:
    """The waits of each warp, and its issues."""
    for one in timeline.instructions:
        for wait in one.waits:
            yield Part(f"warp {one.warp}", wait.start, wait.end, wait.reason)
        yield Part(f"warp {one.warp}", one.issue, one.issue + timeline.interval, "selected")


def _units(timeline: Timeline) -> Iterator[Part]:
    """What works by itself."""
    for row, works in unit_rows(timeline).items():
        for work in works:
            yield Part(row, work.start, work.end, work.state)


def _places(*groups: Sequence[str]) -> dict[str, int]:
    """The upper edge of each row; a wider gap separates the groups."""
    places: dict[str, int] = {}
    y = TITLE + LINE
    for names in groups:
        places |= {name: y + number * (ROW + GAP) for number, name in enumerate(names)}
        y += len(names) * (ROW + GAP) + (2 * GAP if names else 0)
    return places


def _legend(
    timeline: Timeline, slots: Iterable[Part], warps: Iterable[Part], units: Iterable[Part]
) -> list[tuple[str, str, str, str]]:
    """Reason, share of the warps' cycles and of the issue slots, and meaning; the most frequent first."""
    cycles, used = _cycles(timeline, warps), _cycles(timeline, slots)
    live, every = cycles.total(), timeline.schedulers * (timeline.end - timeline.start)
    meaning = {letter.name: letter.meaning for letter in timeline.letters}
    seen = {*cycles, *used, *_cycles(timeline, units)}
    order = sorted(seen, key=lambda one: (one != "selected", -cycles[one], -used[one], one))
    shared = {*cycles, *used}  # others are of units alone
    return [
        (
            one,
            _share(cycles[one], live) if one in shared else "",
            _share(used[one], every) if one in shared else "",
            meaning.get(one, one),
        )
        for one in order
    ]


def _cycles(timeline: Timeline, parts: Iterable[Part]) -> Counter[str]:
    """Cycles in sight by reason."""
    found: Counter[str] = Counter()
    for part in parts:
        if (inside := min(part.end, timeline.end) - max(part.start, timeline.start)) > 0:
            found[part.reason] += inside
    return found


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def _head(root: Element, timeline: Timeline, colours: Mapping[str, str]) -> None:
    what, when = title(timeline)
    words(root, EDGE, 22, what, colours["text"], style="font-weight: 600")
    words(root, WIDTH - RIGHT, 22, when, colours["faint"], anchor="end")


def _axis(root: Element, timeline: Timeline, bottom: int, colours: Mapping[str, str]) -> None:
    """Numbers of round cycles above the rows, and lines through them."""
    length = timeline.end - timeline.start
    step = next(s * 10**power for power in range(20) for s in STEPS if s * 10**power * TICKS >= length)
    for cycle in range(-(-timeline.start // step) * step, timeline.end, step):
        x = _x(timeline, cycle)
        words(root, x, TITLE + 8, f"{cycle:,}", colours["faint"], anchor="middle")
        SubElement(root, "path", d=f"M{x:g} {TITLE + 12}V{bottom}", stroke=colours["line"])


def _x(timeline: Timeline, cycle: int) -> float:
    """The place at which a cycle begins, in hundredths of a pixel."""
    share = (min(max(cycle, timeline.start), timeline.end) - timeline.start) / max(1, timeline.end - timeline.start)
    return round(LEFT + (WIDTH - LEFT - RIGHT) * share, 2)


def _paint(
    root: Element,
    timeline: Timeline,
    places: Mapping[str, int],
    parts: Iterable[Part],
    colours: Mapping[str, str],
) -> None:
    """Add one path for each colour, with all parts of that colour."""
    paths: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        left, right = _x(timeline, part.start), _x(timeline, part.end)
        if left < right and part.row in places:
            paths[part.reason].append(f"M{left:g} {places[part.row]}h{right - left:.4g}v{ROW}H{left:g}z")
    for reason, drawn in sorted(paths.items(), key=lambda item: (item[0] in ABOVE, item[0])):
        SubElement(root, "path", d="".join(drawn), fill=colours.get(reason, colours["other"]))


def _part(root: Element, timeline: Timeline, places: Mapping[str, int], parts: Iterable[Part], colour: str) -> None:
    """Add lines where works begin, which part those that follow each other in one colour."""
    starts = dict.fromkeys((_x(timeline, part.start), part.row) for part in parts if part.start > timeline.start)
    drawn = "".join(f"M{x:g} {places[row]}v{ROW}" for x, row in starts)
    if drawn:
        SubElement(root, "path", {"d": drawn, "stroke": colour, "stroke-width": "0.6"})


def _explain(root: Element, y: int, legend: Iterable[tuple[str, str, str, str]], colours: Mapping[str, str]) -> None:
    """Add the meaning and the share of each colour."""
    for x, head in ((SHARES, "of warp cycles"), (SLOTS, "of issue slots")):
        words(root, x, y, head, colours["faint"], anchor="end")
    for number, (reason, cycles, lost, meaning) in enumerate(legend, 1):
        line = y + number * LINE
        box(root, (EDGE, line - 10, 12, 12), colours.get(reason, colours["other"]))
        words(root, EDGE + 20, line, reason, colours["text"])
        words(root, SHARES, line, cycles, colours["text"], anchor="end")
        words(root, SLOTS, line, lost, colours["text"], anchor="end")
        words(root, SLOTS + EDGE, line, meaning, colours["faint"])
