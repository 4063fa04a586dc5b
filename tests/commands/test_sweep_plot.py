import re
import sys
from itertools import pairwise

import pytest

from gpusim.analysis.search.sweep_table import cell
from gpusim.commands.search.sweep_plot import check, write
from isa.errors import UserError

NUMBERS = ["0.5", "1", "2", "10.5", "2.5", "-3"]
TABLE = [{"set.a.b": a, "p.c": c, "gflops": float(a * len(c)), "registers": a} for a in (1, 2, 4) for c in ("x", "yy")]


def test_without_matplotlib_one_line_says_what_to_install(tmp_path, monkeypatch):
    """The check of the file's name reports the extra to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"matplotlib is not installed; run pip install 'gpusim\[plot\]'"):
        check(tmp_path / "sweep.png")


@pytest.mark.parametrize("name", ["sweep.txt", "sweep", ".png"])
def test_a_name_without_a_picture_format_is_refused(name, tmp_path):
    """A name that does not end in .png, .svg or .pdf is refused."""
    with pytest.raises(UserError, match=r"is no picture; let it end in .png, .svg, .pdf"):
        check(tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("front", [[], TABLE[:2]])
def test_a_picture_names_its_axes_and_lines(front, tmp_path):
    """The picture has both columns' names, and a line for each choice of the other axis or the front."""
    with pytest.importorskip("matplotlib").rc_context({"svg.fonttype": "none"}):
        write(path := tmp_path / "sweep.svg", "a title", TABLE, "set.a.b", "gflops", front)
    text = path.read_text()
    assert all(word in text for word in ("a title", ">a.b<", ">GFLOP/s<"))
    assert ("Pareto front" in text) == bool(front)
    assert all((f"c={name}" in text) == (not front) for name in ("x", "yy"))


@pytest.fixture(name="drawn")
def last_picture(tmp_path, monkeypatch):
    """Give a function that writes a picture and returns the x of each line's points in order, and how it is drawn."""
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    close = pyplot.close
    monkeypatch.setattr(pyplot, "close", lambda _: None)

    def lines(table, x, y, front):
        write(tmp_path / "sweep.svg", "a title", table, x, y, front)
        return [(list(line.get_xdata()), line.get_drawstyle()) for line in pyplot.gcf().axes[0].lines]

    yield lines
    close("all")


@pytest.mark.slow
def test_a_line_goes_through_numbers_in_their_order(drawn):
    """A line has its points in the order of their numbers, fractions and negative ones included."""
    rows = [{"p.alpha": cell(text), "gflops": 1.0} for text in NUMBERS]
    assert drawn(rows, "p.alpha", "gflops", []) == [([-3, 0.5, 1, 2, 2.5, 10.5], "default")]


@pytest.mark.slow
def test_lines_that_coincide_are_one(tmp_path):
    """Two choices with the same speeds share a line, whose name in the picture has both."""
    rows = [{"set.a.b": a, "p.c": c, "gflops": float(a)} for a in (1, 2, 4) for c in ("x", "yy")]
    with pytest.importorskip("matplotlib").rc_context({"svg.fonttype": "none"}):
        write(path := tmp_path / "sweep.svg", "a title", rows, "set.a.b", "gflops", [])
    text = path.read_text()
    assert ">c=x<" in text
    assert ">= c=yy<" in text


@pytest.mark.slow
def test_an_axis_that_begins_elsewhere_says_so(tmp_path):
    """Speeds from 75 to 77 begin at 75 in the picture, whole choices have a mark each, and a line says both."""
    rows = [{"set.a.b": a, "gflops": 74.0 + a} for a in (1, 2, 3)]
    with pytest.importorskip("matplotlib").rc_context({"svg.fonttype": "none"}):
        write(path := tmp_path / "sweep.svg", "a title", rows, "set.a.b", "gflops", [])
    text = path.read_text()
    assert ">The axis of GFLOP/s begins at 75, not at zero.<" in text
    marks = re.findall(r">([\d.]+)<", text)
    assert marks[:3] == ["1", "2", "3"]
    assert (marks[3], marks[-1]) == ("75.00", "77.00")


@pytest.mark.slow
def test_choices_far_apart_have_a_logarithmic_axis(tmp_path):
    """Choices from 1 to 512 are drawn as the picture says, and their marks are their numbers."""
    rows = [{"set.a.b": 2**a, "gflops": 1.0 + a} for a in range(10)]
    with pytest.importorskip("matplotlib").rc_context({"svg.fonttype": "none"}):
        write(path := tmp_path / "sweep.svg", "a title", rows, "set.a.b", "gflops", [])
    text = path.read_text()
    assert ">The axis of a.b is logarithmic, and begins at 1.<" in text
    places = [float(x) for x in re.findall(r'<use xlink:href="#\w+" x="([\d.]+)" y="[\d.]+" style="fill', text)]
    steps = [b - a for a, b in pairwise(sorted(set(places)))]
    assert len(steps) >= 9
    assert max(steps) == pytest.approx(min(steps), rel=1e-3)


@pytest.mark.slow
def test_a_front_holds_until_its_next_point(drawn):
    """A front is drawn in steps: the value of a point holds until the next point."""
    (_, (places, style)) = drawn(TABLE, "registers", "gflops", TABLE[:3:2])
    assert (places, style) == ([1, 2], "steps-post")
