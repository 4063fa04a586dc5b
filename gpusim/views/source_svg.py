"""The source view as a picture: lines of source and instructions side by side, with their shares of the waits.

The line before whose instructions warps waited longest is marked, and its instructions with it. Of long programs the
rows with the longest waits are shown. Colours are those of the HTML view on a light background.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from gpusim.views.picture import FONT, box, palette, title, words
from gpusim.views.source import Sum, place, sums
from gpusim.views.timeline.document import END, Line, Timeline
from isa.reading.origin import NOWHERE, PlaceInSource, base_name

WIDTH, EDGE, LINE, TOP = 960, 16, 18, 66  # pixels
GAP = 28  # between the halves
NUMBER, SHARE, BAR = 36, 46, 72  # widths of columns
CODE = "font: 11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre"
CHARACTER = 6.63  # width of one of these
LEGEND = 220  # right end of the shares
MOST = 28  # rows of a half
AROUND = 2  # lines without instructions that stay beside one that has some


@dataclass(frozen=True)
class Row:
    """A row of a half: its number, its text, its place in the source and what it waited; none: rows are left out."""

    number: str
    text: str
    where: PlaceInSource
    sum: Sum
    left_out: int = 0


@dataclass(frozen=True)
class Half:
    """Rows between two places in x, under a head; all warp-cycles waited, and the line that is marked."""

    head: str
    rows: Sequence[Row]
    left: float
    right: float
    all: int
    marked: PlaceInSource


def svg(timeline: Timeline) -> Iterator[bytes]:
    """Yield the file in pieces."""
    halves, waits, colours = _halves(timeline), _waits(timeline), palette()
    bottom = TOP + LINE * max(len(half.rows) for half in halves) + LINE
    height = bottom + LINE * len(waits) + EDGE // 2
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", style=FONT)
    root.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")  # for readers without white-space
    SubElement(root, "title").text = " ".join(title(timeline))
    box(root, (0, 0, WIDTH, height), colours["background"], rx="8")
    for x, words_of, anchor in zip((EDGE, WIDTH - EDGE), title(timeline), ("start", "end"), strict=True):
        words(root, x, 22, words_of, colours["text" if x == EDGE else "faint"], anchor=anchor)
    if len(halves) > 1:
        _bands(root, halves[0], halves[1], colours)
    for half in halves:
        _half(root, half, colours)
    _legend(root, timeline, bottom, waits, colours)
    yield tostring(root) + b"\n"


def _halves(timeline: Timeline) -> list[Half]:
    """Return the lines and the instructions; only these if no instruction has a line."""
    of_line, of_pc = sums(timeline, place), sums(timeline, lambda line: line.pc)
    every = sum(one.waited for one in of_pc.values())
    lines, code = _lines(timeline, of_line), _code(timeline, of_pc)
    hottest = max(lines, key=lambda row: row.sum.waited).where if lines else NOWHERE
    file = base_name(hottest[0])
    middle = WIDTH / 2 if lines else EDGE - GAP / 2
    name = "machine code" if any(line.offset >= 0 for line in timeline.program) else "instructions"
    right = Half(name, _shortened(code), middle + GAP / 2, WIDTH - EDGE, every, hottest)
    return [Half(file, _shortened(lines), EDGE, middle - GAP / 2, every, hottest), right] if lines else [right]


def _waits(timeline: Timeline) -> Counter[str]:
    """Return the warp-cycles waited in the document by reason."""
    (every,) = sums(timeline, lambda _: None).values() or (Sum(),)
    return +every.waits  # reasons for which nobody waited are not explained


def _lines(timeline: Timeline, of_line: Mapping[PlaceInSource, Sum]) -> list[Row]:
    """Return a row for each line of the file whose instructions waited longest, without those far from any."""
    own = Counter[str]()
    for line in timeline.program:
        if line.line:
            own[line.file] += of_line.get(place(line), Sum()).waited
    if not own:
        return []
    file = max(own, key=own.__getitem__)
    texts = next((source.lines for source in timeline.sources if source.name == file), None) or ()
    used = {line.line for line in timeline.program if line.file == file and line.line}
    near = {k for line in used for k in range(line - AROUND, line + AROUND + 1) if 0 < k <= len(texts)} | used
    return [
        Row(str(k), texts[k - 1] if k <= len(texts) else "", (file, k), of_line.get((file, k), Sum()))
        for k in sorted(near)
    ]


def _code(timeline: Timeline, of_pc: Mapping[int, Sum]) -> list[Row]:
    rows = [Row(_name(one), one.text, place(one), of_pc.get(one.pc, Sum())) for one in timeline.program]
    return [row for row in rows if row.sum.waited or row.text != END]


def _name(line: Line) -> str:
    """Return the offset of machine code, and else the pc."""
    return f"{line.offset:04x}" if line.offset >= 0 else str(line.pc)


def _shortened(rows: Sequence[Row]) -> list[Row]:
    """Return at most MOST rows, those with the longest waits, and one row in place of several that are left out."""
    most = set(sorted(range(len(rows)), key=lambda k: (-rows[k].sum.waited, k))[:MOST])
    found = list[Row]()
    for kept, pairs in groupby(enumerate(rows), lambda pair: pair[0] in most):
        some = [row for _, row in pairs]
        found += some if kept or len(some) == 1 else [Row("", "", NOWHERE, Sum(), len(some))]
    return found


def _half(root: Element, half: Half, colours: Mapping[str, str]) -> None:
    """Add a head, and each row: its number, its text, a bar of its waits by reason, and their share of all."""
    room = int((half.right - half.left - NUMBER - BAR - SHARE - 2 * EDGE) / CHARACTER)
    most = max([1, *(row.sum.waited for row in half.rows)])
    words(root, half.left + NUMBER + 8, TOP - 8, half.head, colours["faint"])
    words(root, half.right, TOP - 8, "waits", colours["faint"], anchor="end")
    for number, row in enumerate(half.rows):
        y = TOP + LINE * number
        if half.marked != NOWHERE and row.where == half.marked:
            box(root, (half.left, y, half.right - half.left, LINE), colours["accent"], opacity="0.13")
            box(root, (half.left, y, 4, LINE), colours["accent"])
        text = f"... {row.left_out} more" if row.left_out else row.text
        cut = text if len(text) <= room else f"{text[: room - 1]}\u2026"
        words(root, half.left + NUMBER, y + 13, row.number, colours["faint"], anchor="end", style=CODE)
        words(root, half.left + NUMBER + 8, y + 13, cut, colours["faint" if row.left_out else "text"], style=CODE)
        if row.sum.waited:
            _bar(root, (half.right - SHARE - BAR, y + 4), row.sum, BAR / most, colours)
            words(root, half.right, y + 13, f"{100 * row.sum.waited / half.all:.1f} %", colours["text"], anchor="end")


def _bar(root: Element, at: tuple[float, float], one: Sum, scale: float, colours: Mapping[str, str]) -> None:
    x, y = at
    for reason, cycles in one.waits.most_common():
        box(root, (x, y, cycles * scale, 10), colours.get(reason, colours["other"]))
        x += cycles * scale


def _bands(root: Element, lines: Half, code: Half, colours: Mapping[str, str]) -> None:
    """Add a band from the marked line to each stretch of its instructions."""
    at = next(TOP + LINE * number for number, row in enumerate(lines.rows) if row.where == lines.marked)
    mine = [number for number, row in enumerate(code.rows) if row.where == lines.marked]
    starts = [number for number in mine if number - 1 not in mine]
    ends = [number + 1 for number in mine if number + 1 not in mine]
    bend, path = (lines.right + code.left) / 2, ""
    for top, end in ((TOP + LINE * start, TOP + LINE * end) for start, end in zip(starts, ends, strict=True)):
        path += f"M{lines.right:g} {at}C{bend:g} {at} {bend:g} {top} {code.left:g} {top}"
        path += f"V{end}C{bend:g} {end} {bend:g} {at + LINE} {lines.right:g} {at + LINE}Z"
    SubElement(root, "path", d=path, fill=colours["accent"], opacity="0.13")


def _legend(root: Element, timeline: Timeline, y: float, waits: Counter[str], colours: Mapping[str, str]) -> None:
    """Add each reason with its colour, share and meaning, the most frequent first."""
    meaning = {letter.name: letter.meaning for letter in timeline.letters}
    for number, (reason, cycles) in enumerate(waits.most_common()):
        line = y + LINE * number + 8
        box(root, (EDGE, line - 10, 12, 12), colours.get(reason, colours["other"]))
        words(root, EDGE + 20, line, reason, colours["text"])
        words(root, LEGEND, line, f"{100 * cycles / max(1, waits.total()):.1f} %", colours["text"], anchor="end")
        words(root, LEGEND + EDGE, line, meaning.get(reason, reason), colours["faint"])
