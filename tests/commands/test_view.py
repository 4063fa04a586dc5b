import json
import webbrowser
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from strategies.timeline_documents import by_hand

from gpusim.commands.main import execute
from gpusim.views.timeline.document import NONE, Issued, Line

ISSUED = [Issued(k, 0, 0, 0, 0, 10 * k, NONE, NONE, NONE, 32) for k in range(3)]
DOCUMENT = by_hand([Line(0, "EXIT", "control")], ISSUED, 30)


@pytest.fixture
def documents(tmp_path, monkeypatch):
    """Timelines of two machines in files of the current directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        run = msgspec.structs.replace(DOCUMENT, machine=name)
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(run))
    return tmp_path


def test_a_document_becomes_a_page(documents, capsys):
    """The page names the run; the screen gives its size and says how to open it."""
    assert execute(["view", "one.json", "--out", "one.html"]) == 0
    size = (documents / "one.html").stat().st_size
    assert capsys.readouterr().out.splitlines() == [
        f"one.html: {size:,} bytes; open it in a browser",
        "k on one, lrr: cycles 0 to 30 of 30, 3 warp instructions",
    ]
    assert "<h1>k on one (M), lrr</h1>" in (documents / "one.html").read_text()


def test_two_documents_share_a_page(documents, capsys):
    """The page has both runs, and --json lists them with the part of each that is shown."""
    assert execute(["view", "one.json", "two.json", "--cycles", "10:30", "--out", "both.html", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["bytes"] == (documents / "both.html").stat().st_size
    assert [(run["machine"], run["start"], run["warp_instructions"]) for run in summary["runs"]] == [
        ("one", 10, 2),
        ("two", 10, 2),
    ]
    text = (documents / "both.html").read_text()
    assert "<h1>A: k on one (M), lrr</h1>" in text
    assert "<h1>B: k on two (M), lrr</h1>" in text


def test_a_name_that_ends_in_svg_gets_a_picture(documents, capsys):
    """The picture of the source view has the kernel and its instruction; the screen says what opens it."""
    assert execute(["view", "one.json", "-o", "one.svg"]) == 0
    size = (documents / "one.svg").stat().st_size
    said = f"one.svg: {size:,} bytes; browsers and drawing programs open it"
    assert capsys.readouterr().out.splitlines()[0] == said
    root = ElementTree.parse(documents / "one.svg").getroot()
    assert {"k on M, lrr", "EXIT"} <= {text.text for text in root.findall(".//{*}text")}


def test_a_page_opens_in_a_browser(documents, capsys, monkeypatch):
    """--open hands the page's address to the browser; without --out the page is a temporary file."""
    handed = []
    monkeypatch.setattr(webbrowser, "open", lambda address: handed.append(address) or True)
    assert execute(["view", "one.json", "--open", "--out", "one.html"]) == 0
    assert execute(["view", "one.json", "--open"]) == 0
    assert handed[0] == (documents / "one.html").resolve().as_uri()
    assert Path(handed[1].removeprefix("file://")).read_bytes() == (documents / "one.html").read_bytes()
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_missing_browser_is_told(documents, capsys, monkeypatch):
    """Where no browser opens the page is kept, and the message names it."""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert execute(["view", "one.json", "--open", "--out", "one.html"]) == 2
    assert "one.html: no browser opens here; open the file yourself" in capsys.readouterr().err
    assert (documents / "one.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.json"], "view: name a file, such as --out view.html, or say --open"),
        (["one.json", "--out", "no/one.html"], "no/one.html: there is no directory no; create it, or name another"),
        (
            ["none.json", "--out", "one.html"],
            "none.json: No such file or directory; write one with `gpusim export --format json`",
        ),
        (
            ["one.json", "--machine", "h200", "--out", "one.html"],
            "one.json: a timeline is of a finished run; leave out kernel and machine options",
        ),
        (
            ["chain", *(f"--policy={name}" for name in ("lrr", "gto", "oldest")), "--out", "one.html"],
            "view: oldest is a third; give two to compare",
        ),
        (
            ["chain", "--policy", "lrr,", "--out", "one.html"],
            "--policy: unknown scheduling policy ; choose one of lrr, gto, oldest, cggty, two_level",
        ),
        (["one.json", "--out", "one.pdf"], "one.pdf: a view is a page or a picture; let its name end in .html or .svg"),
        (
            ["one.json", "two.json", "--out", "both.svg"],
            "both.svg: a picture shows one run; leave out the second, or let the name end in .html",
        ),
    ],
)
def test_bad_input_leaves_nothing_behind(documents, capsys, arguments, message):
    """One line says what is wrong, the exit code is 2, and no page is written."""
    assert execute(["view", *arguments]) == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")
    assert {path.name for path in documents.iterdir()} == {"one.json", "two.json"}


@pytest.mark.usefixtures("documents")
def test_a_page_has_an_end(monkeypatch, capsys):
    """Too many warp instructions for a browser are refused, with the advice to choose fewer."""
    monkeypatch.setattr("gpusim.commands.run.view.MOST", 2)
    assert execute(["view", "one.json", "--out", "one.html"]) == 2
    message = "k: 3 warp instructions are too many for a browser, which takes 2; choose some by --warps or --cycles"
    assert capsys.readouterr().err == f"error: {message}, such as --cycles 0:18\n"


@pytest.mark.usefixtures("documents")
def test_a_picture_may_end_in_capitals():
    """one.SVG is a picture as one.svg is."""
    assert execute(["view", "one.json", "--out", "one.SVG"]) == 0
    assert Path("one.SVG").read_text().startswith("<svg")


@pytest.mark.jit
def test_two_policies_may_share_an_option(tmp_path, capsys):
    """`--policy lrr,gto` shows both side by side, as compare takes them."""
    out = str(tmp_path / "both.html")
    assert execute(["view", "chain", "-p", "length=8", "--policy", "lrr,gto", "--out", out, "--json"]) == 0
    assert [run["policy"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["lrr", "gto"]


@pytest.mark.jit
def test_machines_are_simulated_side_by_side(tmp_path, capsys):
    """One kernel on two machines gives two runs, each shown from cycle 0 to its end."""
    out = tmp_path / "saxpy.html"
    assert (
        execute(["view", "examples/saxpy.asm", "--machine", "c2050", "--machine", "h200", "--out", str(out), "--json"])
        == 0
    )
    summary = json.loads(capsys.readouterr().out)
    assert [(run["kernel"], run["machine"], run["start"]) for run in summary["runs"]] == [
        ("saxpy", "c2050", 0),
        ("saxpy", "h200", 0),
    ]
    assert all(run["cycles"] == run["end"] > 0 for run in summary["runs"])
