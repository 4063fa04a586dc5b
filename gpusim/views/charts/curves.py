"""Curves over one axis: lines with a letter at their right end, or points alone; lines that coincide share a letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from xml.etree.ElementTree import Element, SubElement

from gpusim.views.charts.axis import NARROW, Axis, of_choices, of_curve, short, with_room
from gpusim.views.palette import LINES
from gpusim.views.picture import FONT, words

HEIGHT, LINE = 260, 15  # pixels
LEFT, RIGHT = 62, 26  # pixels beside the plot, as charts.css has them
APART = 0.006  # of the axis: lines that are nowhere further apart cover each other
DASHES = "", "7 4"
MOST = len(LINES) * len(DASHES)  # lines that are told apart
Choice = float | str


@dataclass(frozen=True)
class Curve:
    """A name, and points: a choice, on the axis below, and a value; `alone` are points without a line between them."""

    name: str
    points: tuple[tuple[Choice, float], ...]
    alone: bool = False


@dataclass(frozen=True)
class Line:
    """Curves that one line shows, its letter and its style."""

    curves: tuple[Curve, ...]
    letter: str
    colour: str
    dashes: str

    @property
    def name(self) -> str:
        """The names of all its curves."""
        return " = ".join(each.name for each in self.curves)


@dataclass(frozen=True)
class Frame:
    """The two axes; words stand in their order, at equal distances."""

    x: Axis
    y: Axis
    words: Mapping[Choice, int] = field(default_factory=dict)

    def at(self, choice: Choice, value: float) -> tuple[float, float]:
        """Return a point as shares of the width from the left, and of the height from the top."""
        x = self.words[choice] if self.words else float(choice)
        return self.x.place(x), 1 - self.y.place(value)


@dataclass(frozen=True)
class Plot:
    """A picture, its axes and lines, and sentences about the axes, and about lines that coincide."""

    svg: Element
    frame: Frame
    lines: tuple[Line, ...]
    of_axes: tuple[str, ...]
    of_lines: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences."""
        return self.of_axes + self.of_lines


def plot(curves: Sequence[Curve], x: str, y: str) -> Plot:
    """Return curves of at least one point each, over axes with these names."""
    frame = _frame(curves)
    found = tuple(_lines(curves, frame))
    root = Element("svg", {"class": "curves", "role": "img", "style": FONT, "height": str(HEIGHT + 2 * LINE + 8)})
    root.set("aria-label", f"{y} over {x}; the table has the numbers")
    _axes(root, frame, x)
    for each in found:
        _line(root, each, frame, y)
    _letters(root, [each for each in found if each.letter], frame)
    return Plot(root, frame, found, tuple(_of_axes(frame, x, y)), tuple(_of_lines(found)))


def _frame(curves: Sequence[Curve]) -> Frame:
    choices = list(dict.fromkeys(choice for curve in curves for choice, _ in curve.points))
    y = of_curve([value for curve in curves for _, value in curve.points])
    numbers = [float(each) for each in choices if not isinstance(each, str)]
    if len(numbers) == len(choices):
        return Frame(of_choices(numbers), y)
    places = {choice: number for number, choice in enumerate(choices)}
    return Frame(of_choices(range(len(places))) if len(places) < 2 else Axis(0, len(places) - 1, ()), y, places)


def _lines(curves: Sequence[Curve], frame: Frame) -> Iterator[Line]:
    """Put curves that cover each other together, and give each line its letter, colour and dashes."""
    groups: list[list[Curve]] = []
    for curve in curves:
        same = next((group for group in groups if _covers(group[0], curve, frame)), None)
        if same is None:
            groups.append([curve])
        else:
            same.append(curve)
    for number, group in enumerate(groups):
        letter = ascii_uppercase[number] if len(groups) > 1 and not group[0].alone else ""
        dashes = DASHES[number // len(LINES) % len(DASHES)]
        yield Line(tuple(group), letter, f"line-{number % len(LINES)}", dashes)


def _covers(one: Curve, other: Curve, frame: Frame) -> bool:
    """Whether both have the same choices and are nowhere further apart than a line is wide."""
    mine, yours = dict(one.points), dict(other.points)
    if one.alone or other.alone or mine.keys() != yours.keys():
        return False
    room = APART * (frame.y.high - frame.y.low)
    return all(abs(value - yours[choice]) <= room for choice, value in mine.items())


def _axes(root: Element, frame: Frame, x: str) -> None:
    """Add round numbers at the left with lines through the plot, and the choices below it where they have room."""
    for tick in frame.y.ticks:
        at = HEIGHT * (1 - frame.y.place(tick))
        colour = "var(--faint)" if tick == frame.y.ticks[0] else "var(--line)"
        SubElement(root, "line", x1="0", x2="100%", y1=f"{at:g}", y2=f"{at:g}", stroke=colour)
        words(root, -8, at + 4, short(tick), "var(--faint)", anchor="end")
    shown = {choice: place / max(1, len(frame.words) - 1) for choice, place in frame.words.items()}
    ticks = shown or {tick: frame.x.place(tick) for tick in frame.x.ticks}
    labels = [(at, each if isinstance(each, str) else short(each)) for each, at in ticks.items()]
    for at, text in with_room(labels, NARROW - LEFT - RIGHT):
        place = f"{100 * at:.4f}%"
        SubElement(root, "line", x1=place, x2=place, y1=str(HEIGHT), y2=str(HEIGHT + 4), stroke="var(--faint)")
        words(root, place, HEIGHT + LINE + 2, text, "var(--faint)", anchor="middle")
    words(root, "50%", HEIGHT + 2 * LINE + 4, x, "var(--faint)", anchor="middle")


def _line(root: Element, line: Line, frame: Frame, y: str) -> None:
    """Add a line, and a dot for each of its points that says what it is."""
    first, colour = line.curves[0], f"var(--{line.colour})"
    points = [(choice, value, *frame.at(choice, value)) for choice, value in first.points]
    if not first.alone and len(points) > 1:
        ordered = sorted((at, down) for _, _, at, down in points)
        inner = SubElement(root, "svg", width="100%", height=str(HEIGHT), viewBox="0 0 1000 1000", overflow="visible")
        inner.set("preserveAspectRatio", "none")
        path = " ".join(f"{1000 * at:.2f},{1000 * down:.2f}" for at, down in ordered)
        style = {"stroke": colour, "stroke-width": "2", "stroke-dasharray": line.dashes or "none"}
        SubElement(inner, "polyline", {"points": path, "fill": "none", "vector-effect": "non-scaling-stroke"} | style)
    for choice, value, at, down in points:
        dot = SubElement(root, "circle", cx=f"{100 * at:.4f}%", cy=f"{HEIGHT * down:.2f}", r="3.5", fill=colour)
        where = choice if isinstance(choice, str) else f"{choice:g}"
        SubElement(dot, "title").text = f"{line.name or y}: {value:,.5g} at {where}"


def _letters(root: Element, lines: Sequence[Line], frame: Frame) -> None:
    """Add each line's letter at the right, at the height of its last point, or as near as others leave room."""
    ends = []
    for line in lines:
        points = [frame.at(choice, value) for choice, value in line.curves[0].points]
        ends.append((max(points)[1] * HEIGHT, line))
    ends.sort(key=lambda end: end[0])
    places: list[float] = []
    for number, (wanted, _) in enumerate(ends):
        lowest = HEIGHT - LINE * (len(ends) - 1 - number)  # that leaves room for those below
        places.append(min(max([wanted, *(place + LINE for place in places[-1:])]), lowest))
    for place, (_, line) in zip(places, ends, strict=True):
        SubElement(root, "svg", x="100%", overflow="visible").append(_letter(line, place))


def _letter(line: Line, y: float) -> Element:
    mark = Element("text", {"x": "9", "y": f"{y + 4:g}", "fill": f"var(--{line.colour})", "style": "font-weight: 700"})
    mark.text = line.letter
    return mark


def _of_axes(frame: Frame, x: str, y: str) -> Iterator[str]:
    if frame.y.told:
        yield f"The axis of {y} {frame.y.told}."
    if not frame.words and frame.x.told:
        yield f"The axis of {x} {frame.x.told}."


def _of_lines(lines: Sequence[Line]) -> Iterator[str]:
    for each in lines:
        if len(each.curves) > 1:
            lead = f"{each.letter} is {len(each.curves)} lines that coincide" if each.letter else "All lines coincide"
            yield f"{lead}: {'; '.join(curve.name for curve in each.curves)}."
