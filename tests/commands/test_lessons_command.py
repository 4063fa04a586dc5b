import json
import socket
import subprocess
import sys
import webbrowser

from gpusim.commands import lessons as command
from gpusim.commands.main import execute
from gpusim.support import shipped
from isa.reading import extra


def test_lessons_are_listed_in_order(capsys):
    """The list has the lessons by number, each with the first line of what it says of itself."""
    assert execute(["lessons", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in shown["lessons"]] == list(range(1, len(shown["lessons"]) + 1))
    assert len(shown["lessons"]) >= 9
    second = shown["lessons"][1]
    assert second["what"] == "How warps and independent instructions hide latency."
    assert (second["title"], second["file"]) == ("Latency hiding", "lesson02_latency_hiding.py")
    assert all(10 <= one["minutes"] <= 60 for one in shown["lessons"])


def test_all_lessons_are_served_and_the_chosen_one_is_opened(capsys, monkeypatch):
    """All lessons are served from their folder, as each links to the next; a number, or --open, is what is opened."""
    ran, opened = [], []
    monkeypatch.setattr(extra, "module", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", lambda command, **how: ran.append((command, how["cwd"])))
    monkeypatch.setattr(command, "_browse", lambda address, port: opened.append((address, port)))
    home = shipped.folder("notebooks")
    assert execute(["lessons", "2"]) == execute(["lessons", "--open"]) == 0
    for (started, where), (address, port), page in zip(
        ran, opened, ("?file=lesson02_latency_hiding.py", ""), strict=True
    ):
        assert started[:8] == [sys.executable, "-m", "marimo", *command.QUIETLY, "run", str(home)]
        assert (where, started[-1], address) == (home, str(port), f"http://127.0.0.1:{port}/{page}")
        assert address in capsys.readouterr().out.split(": Ctrl-C")[0] or not page


def test_a_page_is_opened_once_its_server_listens(monkeypatch):
    """Nothing is opened while nobody listens on the port; then the page is, once."""
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(command, "PATIENCE", 2 * command.PAUSE)
    port = command._free_port()
    command._browse("page", port)
    assert opened == []
    with socket.create_server((command.HOST, port)):
        command._browse("page", port)
    assert opened == ["page"]


def test_wrong_numbers_and_a_missing_extra_are_one_line(capsys, monkeypatch):
    """A lesson that does not exist, and marimo missing, end with code 2 and what to do."""
    assert execute(["lessons", "99"]) == 2
    assert "lesson 99: there is none; give 1 to " in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "marimo", None)
    assert execute(["lessons", "1"]) == 2
    assert "marimo is not installed; run pip install 'gpusim[lessons]'" in capsys.readouterr().err
