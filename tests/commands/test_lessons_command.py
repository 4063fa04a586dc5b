import json
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import pytest
from draws import few

from gpusim.commands.catalog import lessons as command
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
    monkeypatch.setattr(command, "_served", lambda command, home: ran.append((command, home)))
    monkeypatch.setattr(command, "_browse", lambda address, port: opened.append((address, port)))
    home = shipped.folder("notebooks")
    assert execute(["lessons", "2"]) == execute(["lessons", "--open"]) == 0
    for (started, where), (address, port), page in zip(
        ran, opened, ("?file=lesson02_latency_hiding.py", ""), strict=True
    ):
        assert started[:8] == [sys.executable, "-m", "marimo", *command.QUIETLY, "run", str(home)]
        assert (where, started[-1], address) == (home, str(port), f"http://127.0.0.1:{port}/{page}")
        assert address in capsys.readouterr().out.split(": Ctrl-C")[0] or not page


@pytest.mark.parametrize("name", few(["SIGINT", "SIGTERM", "SIGHUP"], 1))
def test_an_interruption_ends_the_server_quietly(name, tmp_path):
    """Ctrl-C, a request to end and a closed terminal end the server, with one line and code 130."""
    server = "import time, pathlib, os; pathlib.Path('up').write_text(str(os.getpid())); time.sleep(60)"
    program = (
        "import sys\nfrom pathlib import Path\nfrom gpusim.commands import main\n"
        "from gpusim.commands.catalog import lessons\n"
        f"started, other = lessons._served, [sys.executable, '-c', {server!r}]\n"
        "lessons._served = lambda *_: started(other, Path())\n"
        "lessons.extra.module = lambda *_: None\nlessons._browse = lambda *_: None\n"
        "sys.argv[1:] = ['lessons', '1']\nmain.main()\n"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, env=where, **piped) as running:
        while not (up := tmp_path / "up").exists() or not up.read_text():
            assert running.poll() is None, running.communicate()
            time.sleep(0.05)
        os.killpg(running.pid, getattr(signal, name))
        out, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (130, "error: interrupted\n")
    assert "Ctrl-C ends it" in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(up.read_text()), 0)


def test_a_server_that_fails_says_so(capsys, monkeypatch):
    """If marimo ends with an error, so does the command, in one line."""
    monkeypatch.setattr(extra, "module", lambda *_: None)
    monkeypatch.setattr(command, "_served", lambda *_: 3)
    monkeypatch.setattr(command, "_browse", lambda *_: None)
    assert execute(["lessons", "1"]) == 2
    assert "error: marimo ended with exit code 3" in capsys.readouterr().err


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
