"""Charts: lengths are true, axes begin at zero or say so, labels stand clear, coincident lines are told."""

import re

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from read.charts import collisions, length, svgs

from gpusim.views.charts.axis import from_zero, of_choices, of_curve, short
from gpusim.views.charts.bars import Bar, Segment, bars
from gpusim.views.charts.curves import Curve, plot
from gpusim.views.charts.page import Key, PageSection, Row, Table, page
from gpusim.views.palette import COLOURS, LINES, contrast

WINDOWS = 390 - 32, 800 - 32, 1100 - 32  # pixels of a chart in windows of 390, 800, and 1,132 or more
BESIDE = 88  # pixels beside the plot of a curve
SOME = settings(max_examples=draws(60))
numbers = st.one_of(st.floats(-1e9, 1e9), st.integers(-(10**9), 10**9), st.just(0.0)).map(lambda x: round(float(x), 3))
words = st.text("abcdefghij =.-0123456789", min_size=1, max_size=90)


@SOME
@given(st.lists(numbers, min_size=1, max_size=20))
def test_an_axis_of_bars_has_zero_and_every_value(values):
    """The axis ends at round numbers on either side of zero and of all values, with at most five intervals."""
    axis = from_zero(values)
    assert axis.low <= min(0, *values) + 1e-6
    assert axis.high >= max(0, *values) - 1e-6
    assert any(abs(tick) < 1e-9 * (axis.high - axis.low) for tick in axis.ticks)
    assert 2 <= len(axis.ticks) <= 6
    assert axis.told == ""


def test_an_axis_that_does_not_begin_at_zero_says_so():
    """Values that are nearly alike have an axis of their own range; choices begin at the least; both are told."""
    assert of_curve([950, 990]).told == "begins at 950, not at zero"
    assert of_curve([100, 990]).told == ""
    assert of_choices([3, 5]).told == "begins at 3, not at zero"
    assert of_choices([1, 2, 4, 8, 16]).told == "is logarithmic, and begins at 1"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00312, "0.00312"), (12.5, "12.5"), (1234, "1,234"), (12500, "12.5 k"), (2e6, "2 M"), (-40000, "-40 k")],
)
def test_numbers_of_an_axis_are_short(value, text):
    """Numbers have three digits, and a unit from 10,000 on."""
    assert short(value) == text


segments = st.lists(st.tuples(st.sampled_from(sorted(COLOURS)), numbers), min_size=1, max_size=4)


@SOME
@given(st.lists(st.tuples(words, segments), min_size=1, max_size=6), st.sampled_from(WINDOWS))
def test_bars_are_as_long_as_their_values_and_labels_stand_clear(rows, width):
    """In every window a segment is as long as its value on the common scale, and no text meets another."""
    made = [
        Bar(name, f"{sum(v for _, v in parts):,.0f} cycles", tuple(Segment(c, v, c) for c, v in parts))
        for name, parts in rows
    ]
    svg = bars(made, "cycles, from zero")
    axis = from_zero(end for each in made for end in each.ends)
    drawn = [length(rect.get("width"), width) for rect in svg.iter("rect")]
    wanted = [abs(value) / (axis.high - axis.low) * width for _, parts in rows for _, value in parts]
    assert drawn == pytest.approx(wanted, abs=0.01)
    assert collisions(svg, width) == []


def test_segments_follow_each_other_from_zero():
    """Segments above zero go on to the right of it, those below to the left."""
    svg = bars([Bar("a", "", (Segment("wait", 10, ""), Segment("drain", -10, ""), Segment("barrier", 10, "")))], "x")
    places = [(length(r.get("x"), 300), length(r.get("width"), 300)) for r in svg.iter("rect")]
    zero = next(length(t.get("x"), 300) for t in svg.iter("text") if t.text == "0")
    expected = [pytest.approx((x, 100), abs=0.01) for x in (zero, zero - 100, zero + 100)]  # pixels
    assert places == expected


choices = st.one_of(st.floats(0.01, 1e6).map(lambda x: round(x, 2)), words)


@SOME
@given(st.lists(choices, min_size=1, max_size=30, unique=True), st.data(), st.sampled_from(WINDOWS))
def test_labels_of_curves_stand_clear(xs, data, width):
    """In every window no number, word or letter of a plot meets another, also where ten lines end at one point."""
    values = st.lists(st.floats(0, 1e6), min_size=len(xs), max_size=len(xs))
    curves = [
        Curve(str(n), tuple(zip(xs, data.draw(values), strict=True))) for n in range(data.draw(st.integers(1, 10)))
    ]
    found = plot(curves, "x", "y")
    assert collisions(found.svg, width - BESIDE) == []
    assert sum(len(each.curves) for each in found.lines) == len(curves)


def test_lines_that_coincide_are_told():
    """Two lines with the same points share a line and its letter, and a note names both; a third stands alone."""
    same = ((1, 10.0), (2, 20.0))
    found = plot([Curve("a=1", same), Curve("a=2", same), Curve("a=3", ((1, 5.0), (2, 9.0)))], "x", "y")
    assert [(each.letter, each.name) for each in found.lines] == [("A", "a=1 = a=2"), ("B", "a=3")]
    assert "A is 2 lines that coincide: a=1; a=2." in found.notes
    assert len(list(found.svg.iter("polyline"))) == 2


def test_points_stand_where_their_values_are():
    """Dots are at their share of both axes; words stand in order at equal distances."""
    svg = plot([Curve("", (("lrr", 0.0), ("gto", 50.0), ("old", 100.0)))], "policy", "y").svg
    dots = [(length(c.get("cx"), 100), float(c.get("cy"))) for c in svg.iter("circle")]
    assert dots == [(0, 260), (50, 130), (100, 0)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_letters_are_seen_on_the_ground(scheme):
    """Every colour of a line has a contrast of 4.5 to 1 with the page, so that its letter can be read."""
    ground = {"light": "#ffffff", "dark": "#14171a"}[scheme]
    assert [c for c in LINES if contrast(getattr(c, scheme), ground) < 4.5] == []


def test_a_page_is_one_file_with_the_palette_and_what_it_was_given():
    """A page asks for nothing from elsewhere, has every colour in both schemes, and escapes what it shows."""
    table = Table(("<b>", "n"), [Row("wait", ["1"], "wait")], "in & out")
    picture = bars([Bar("<i>", "1", (Segment("wait", 1, "</svg>"),))], "cycles")
    text = page("a < b", ["x & y"], [PageSection("Head", ["<p>"], picture, [Key("wait", "A", "<u>")], table)])
    style = text.split("</style>")[0]
    for name, colour in COLOURS.items():
        assert re.findall(rf"--{name}: (#\w+);", style) == list(colour)
    assert re.findall(r"(?:src|href)=\"(?!data:)", text) == []
    assert "<script" not in text
    for unescaped in ("a < b", "<i>\n", "<u>", "<b>", "x & y"):
        assert unescaped not in text.split("</style>")[1].replace("<b style", "")
    (svg,) = svgs(text)
    assert [rect.get("fill") for rect in svg.iter("rect")] == ["var(--wait, var(--other))"]
