import sys
from dataclasses import replace

import pytest

from gpusim.reproduction.ledger import PLOTS
from gpusim.reproduction.pages import drawing
from gpusim.reproduction.pages.drawing import Picture, computed, write
from gpusim.reproduction.pages.plot import Curve, Plot, registrar
from isa.errors import UserError

THEIRS = Curve("LDS", (1, 2, 4), (10, 21, 30), published=True, line=False)
OURS = Curve("LDS", (1, 2, 4), (11, 20, 29))
PLOT = Plot("a title", "blocking", "% of FFMAs", (THEIRS, OURS), note="a note", x_scale="log")
QUICK = "lai-figure-1"  # needs no run


def twice(number):
    """Return twice a number, in another process."""
    return 2 * number


def with_a_run(bench):
    """Return a plot of which one point is computed in another process."""
    return Plot("t", "x", "y", (Curve("c", (1,), (bench.compute(twice, 21),)),))


@pytest.fixture(name="axes")
def axes_of():
    """Return a function that draws a plot and returns its axes."""
    figures = pytest.importorskip("matplotlib.figure")

    def axes(plot):
        found = figures.Figure().subplots()
        drawing._draw(found, plot)
        return found

    return axes


def test_theirs_are_hollow_markers_and_ours_lines_of_the_same_colour(axes):
    """Published points have markers without fill and no line, ours a line; one label has one colour; y begins at 0."""
    found = axes(PLOT)
    theirs, ours = found.lines
    assert (theirs.get_linestyle(), theirs.get_markerfacecolor(), theirs.get_marker()) == ("None", "none", "o")
    assert ours.get_linestyle() == "-"
    assert theirs.get_color() == ours.get_color()
    assert [text.get_text() for text in found.get_legend().get_texts()] == ["LDS, published", "LDS, here"]
    assert found.get_ylim()[0] == 0
    assert (found.get_xscale(), list(found.get_xticks())) == ("log", [1, 2, 4])


def test_labels_have_colours_and_markers_of_their_own(axes):
    """Of many curves the first eight differ in colour, the others in their dashes as well; markers go with colours."""
    curves = tuple(Curve(str(n), (0, 1), (-1, n)) for n in range(10))
    points = tuple(Curve(str(n), (0, 1), (n, n), line=False) for n in range(3))
    lines = axes(Plot("t", "x", "y", curves)).lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 10
    assert len({line.get_color() for line in lines}) == 8
    assert [line.get_marker() for line in axes(Plot("t", "x", "y", points)).lines] == ["o", "s", "^"]


def test_what_ours_stands_for_has_its_colour(axes):
    """A curve like another one has its colour and marker, under a label of its own; others differ."""
    stand_in = Curve("a stencil", (1, 2), (10, 20), like="CUBLAS")
    theirs = Curve("CUBLAS", (2,), (21,), published=True, line=False)
    first, second, third = axes(Plot("t", "x", "y", (OURS, stand_in, theirs))).lines
    assert second.get_color() == third.get_color() != first.get_color()
    assert [line.get_label() for line in (second, third)] == ["a stencil, here", "CUBLAS, published"]


def test_points_that_follow_are_called_implied(axes):
    """Points that the document does not print are hollow as its others, and the legend calls them implied."""
    (implied,) = axes(Plot("t", "x", "y", (replace(THEIRS, implied=True),))).lines
    assert (implied.get_markerfacecolor(), implied.get_label()) == ("none", "LDS, implied")


def test_an_axis_may_begin_above_0_but_not_above_a_point(axes):
    """The axis of y begins where the plot says, and lower if a point is there."""
    assert axes(replace(PLOT, y_from=8)).get_ylim()[0] == 8
    assert axes(replace(PLOT, y_from=15)).get_ylim()[0] < 10


def test_the_same_plot_gives_the_same_file(tmp_path):
    """Two drawings are the same to the bit, with no date in them, and only the pictures are left in the folder."""
    pytest.importorskip("matplotlib")
    one, two = (write(tmp_path / name, Picture("lai-x", "lai", PLOT)) for name in ("a", "b"))
    assert one.read_bytes() == two.read_bytes()
    assert b"date" not in one.read_bytes().lower()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["lai-x.svg"]


def test_a_plot_may_ask_for_runs():
    """A plot's runs are done in other processes, as a claim's are, and its document is the first part of its name."""
    plots = {"tan-figure-2": with_a_run}
    (picture,) = computed(plots, {}, 1)
    assert (picture.name, picture.seed, picture.plot.curves[0].y) == ("tan-figure-2", "tan", (42,))


def test_a_plot_does_not_wait_for_those_before_it():
    """Plots come as soon as they are known: one that needs no run before one that does."""
    reported = []
    plots = {"lai-a": with_a_run, "lai-b": lambda _: PLOT}
    names = [picture.name for picture in computed(plots, {}, 1, lambda *counts: reported.append(counts))]
    assert names == ["lai-b", "lai-a"]
    assert reported == [(1, 2), (2, 2)]


def test_an_error_in_a_plot_is_one_line():
    """A mistake in a plot's function ends with its name and the error."""
    with pytest.raises(UserError, match=r"^plot lai-x: ZeroDivisionError: integer division"):
        list(computed({"lai-x": lambda _: 1 // 0}, {}, 1))


def test_plots_are_those_of_the_documents():
    """Of a document come the plots whose names begin with it."""
    assert QUICK in drawing.of_seeds(["lai"])
    assert QUICK not in drawing.of_seeds(["tan", "vega"])


@pytest.mark.long
@pytest.mark.parametrize("name", [QUICK])
def test_a_quick_plot_of_the_ledger_is_drawn(name, tmp_path):
    """A plot that needs no run has a title, named axes, points in order of x, and a picture."""
    pytest.importorskip("matplotlib")
    (picture,) = computed({name: PLOTS[name]}, {}, 1)
    check(picture.plot)
    assert write(tmp_path, picture).stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.jit
def test_every_plot_of_the_ledger_is_drawn(tmp_path):
    """Every registered plot has a title, named axes, points in order of x, and a picture."""
    pytest.importorskip("matplotlib")
    for picture in computed(PLOTS, {}, 2):
        check(picture.plot)
        assert write(tmp_path, picture).stat().st_size > 1000


def check(plot):
    """Check that a plot says what it shows."""
    assert plot.title
    assert plot.x
    assert plot.y
    assert plot.curves
    for curve in plot.curves:
        assert curve.label
        assert len(curve.x) == len(curve.y) > 0, curve.label
        assert not curve.line or list(curve.x) == sorted(curve.x), curve.label


def test_without_matplotlib_one_line_says_what_to_install(tmp_path, monkeypatch):
    """Without the package a folder for pictures is refused before anything is computed."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"matplotlib is not installed; run pip install 'gpusim\[plot\]'"):
        drawing.check(tmp_path, ["lai"])


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    """A file, and a folder in one that does not exist, are refused."""
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    for path, message in (
        (tmp_path / "file", "is a file; name a directory"),
        (tmp_path / "no/where", "there is no dir"),
    ):
        with pytest.raises(UserError, match=message):
            drawing.check(path, ["lai"])


def test_the_decorator_enters_a_plot_under_its_name():
    """The decorator returns the function unchanged and enters it under the name of the picture."""
    table = {}
    assert registrar(table)("lai-figure-2")(with_a_run) is with_a_run
    assert table == {"lai-figure-2": with_a_run}


def test_names_stand_in_place_of_numbers(axes):
    """A plot whose x are names has one at each whole number from 0 on, a word on each line."""
    curve = Curve("c", (0, 1, 2), (3, 1, 2), line=False)
    found = axes(Plot("t", "level", "mJ", (curve,), x_names=("arithmetic", "scalar registers", "DRAM")))
    assert list(found.get_xticks()) == [0, 1, 2]
    assert [text.get_text() for text in found.get_xticklabels()] == ["arithmetic", "scalar\nregisters", "DRAM"]
