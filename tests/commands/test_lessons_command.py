import json
import subprocess
import sys

from gpusim.commands.main import execute
from gpusim.support import shipped
from isa.reading import extra


def test_lessons_are_listed_in_order(capsys):
    """The list has the lessons by number, each with the first line of what it says of itself."""
    assert execute(["lessons", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in shown["lessons"]] == list(range(1, len(shown["lessons"]) + 1))
    assert len(shown["lessons"]) >= 9
    assert shown["lessons"][1]["what"] == "How warps and independent instructions hide latency."


def test_a_lesson_is_opened_by_marimo_in_its_own_folder(monkeypatch):
    """With a number the lesson opens, with --open the list of all; lessons import from their folder."""
    ran = []
    monkeypatch.setattr(extra, "module", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", lambda command, **how: ran.append((command, how["cwd"])))
    home = shipped.folder("notebooks")
    assert execute(["lessons", "2"]) == execute(["lessons", "--open"]) == 0
    start = [sys.executable, "-m", "marimo", "run"]
    assert ran == [([*start, home / "lesson2_latency_hiding.py"], home), ([*start, home], home)]


def test_wrong_numbers_and_a_missing_extra_are_one_line(capsys, monkeypatch):
    """A lesson that does not exist, and marimo missing, end with code 2 and what to do."""
    assert execute(["lessons", "99"]) == 2
    assert "lesson 99: there is none; give 1 to " in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "marimo", None)
    assert execute(["lessons", "1"]) == 2
    assert "marimo is not installed; run pip install 'gpusim[lessons]'" in capsys.readouterr().err
