"""The pages of `gpusim compare`, `limits` and `sweep`: what they show, where they are written, and what is refused."""

import json
import re
import webbrowser
from pathlib import Path

import pytest
from read.charts import collisions, length, svgs
from some_figures import FOUND

from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow
from gpusim.commands.main import execute
from gpusim.commands.search.sweep_page import sweep_page
from gpusim.commands.search.sweep_screen import Swept
from gpusim.views.charts.curves import MOST

SMALL = ("throughput", "-p", "length=32", "-p", "iterations=2")
COMMANDS = {
    "compare": ["compare", *SMALL, "--policy", "lrr,gto"],
    "limits": ["limits", "chain", "-p", "length=20", "--jobs", "1"],
    "sweep": ["sweep", *SMALL, "-p", "warps=1:3", "--policy", "lrr,gto", "--jobs", "1"],
}
WINDOWS = 390 - 32, 1100 - 32  # pixels of a chart
BESIDE = 88  # pixels beside the plot of curves


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def written(capsys, name):
    """Return the page of a command, and its JSON document."""
    assert execute([*COMMANDS[name], "--html", "x.html", "--json"]) == 0
    return Path("x.html").read_text(encoding="utf-8"), json.loads(capsys.readouterr().out)


@pytest.mark.jit
def test_bars_of_a_comparison_are_where_the_cycles_go(capsys):
    """The bar of each variant has used and lost slots in their colours of the palette, as long as their cycles."""
    page, document = written(capsys, "compare")
    rects = list(svgs(page)[0].iter("rect"))
    wanted = []
    for each in document["variants"]:
        figures = each["figures"]
        shown = {
            "selected": figures["used"],
            **{k: v for k, v in figures["lost"].items() if v >= 0.001 * figures["cycles"]},
        }
        wanted.append((figures["cycles"], shown))
    found = {f"var(--{name}, var(--other))" for _, shown in wanted for name in shown}
    assert {rect.get("fill") for rect in rects} == found
    scale = length(rects[0].get("width"), 1) / wanted[0][1]["selected"]
    for cycles, shown in wanted:
        row, rects = rects[: len(shown)], rects[len(shown) :]
        assert sum(length(rect.get("width"), 1) for rect in row) / scale == pytest.approx(cycles, rel=0.01)


@pytest.mark.jit
def test_the_tables_of_a_study_have_its_numbers(capsys):
    """Each limit has a row with its cycles alone and in order, and what is not lifted is said."""
    page, document = written(capsys, "limits")
    for each in document["study"]["limits"]:
        row = re.search(rf'<th scope="row">{each["name"]}</th>(.*?)</tr>', page)[1]
        assert re.findall(r"<td>(.*?)</td>", row)[::3] == [f"{each['alone']:,}", f"{each['in_order']:,}"]
    assert "barriers: not lifted: the kernel has none" in page


@pytest.mark.jit
def test_the_curves_of_a_sweep_have_its_points(capsys):
    """Each choice of the other axis has a curve with a dot for each point, or is told to coincide with one."""
    page, document = written(capsys, "sweep")
    dots = len(list(svgs(page)[0].iter("circle")))
    together = "coincide" in page
    assert dots == (len(document["rows"]) // 2 if together else len(document["rows"]))


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_needs_no_network_and_no_label_meets_another(name, capsys):
    """A page names no other file, has no script, and in small and large windows no text lies on another."""
    page, _ = written(capsys, name)
    assert re.findall(r"(?:src|href)=\"(?!data:)", page) == []
    assert "<script" not in page
    pictures = svgs(page)
    assert pictures
    for svg in pictures:
        less = BESIDE if svg.get("class") == "curves" else 0
        assert [collisions(svg, width - less) for width in WINDOWS] == [[], []]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_that_cannot_be_written_is_refused_at_once(name, capsys):
    """Before anything is simulated, one line names the missing directory; the exit code is 2."""
    assert execute([*COMMANDS[name], "--html", "no/x.html"]) == 2
    message = "error: no/x.html: there is no directory no; create it, or name another\n"
    assert capsys.readouterr() == ("", message)


@pytest.mark.long
@pytest.mark.jit
def test_open_shows_a_page_without_a_name(capsys, monkeypatch):
    """--open writes a temporary file and opens it; where no browser opens, one line says so."""
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    assert execute([*COMMANDS["limits"], "--open"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("bytes; open it in a browser")
    assert len(opened) == 1
    assert opened[0].endswith("/limits.html")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert execute([*COMMANDS["limits"], "--open"]) == 2
    assert "no browser opens here; open the file yourself" in capsys.readouterr().err


def test_more_choices_than_lines_are_points():
    """A sweep with more choices than lines that can be told apart has dots, a sentence, and no line."""
    axes = [Axis("kernel", "x", ("1", "2")), Axis("kernel", "z", tuple(map(str, range(MOST + 1))))]
    rows = [SweepRow(SweepPoint({}, {"x": x, "z": z}), FOUND) for x in axes[0].values for z in axes[1].values]
    page = sweep_page(Swept("k", "m", axes, rows, 0))
    assert f"{MOST + 1} choices of the other axes are too many for lines" in page
    assert "<polyline" not in page
    assert len(list(svgs(page)[0].iter("circle"))) == len(rows)


def test_a_sweep_without_figures_has_a_page_that_says_why():
    """If no point could be simulated, the page gives the reason and no picture."""
    axis = Axis("kernel", "x", ("1", "2"))
    rows = [SweepRow(SweepPoint({}, {"x": x}), reason="too large") for x in axis.values]
    page = sweep_page(Swept("k", "m", [axis], rows, 0))
    assert "not simulated: 2 points: too large" in page
    assert svgs(page) == []
