import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from gpusim.commands import progress
from gpusim.commands.progress import shown

DEADLINE = 30.0  # seconds


@pytest.fixture(name="endless")
def endless_listing(tmp_path):
    """Give the path of a listing that never ends."""
    (path := tmp_path / "loop.asm").write_text("top:\nBRA top\n")
    return str(path)


def until(phrase, more):
    """Return all of what `more()` gives until the phrase is in it."""
    text, end = "", time.monotonic() + DEADLINE
    while phrase not in text:
        assert time.monotonic() < end, text
        text += more()
    return text


def test_short_commands_show_no_progress(capsys):
    """Nothing is shown before its time has come."""
    with shown("kernel") as tell:
        tell(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar(monkeypatch, capsys):
    """Once the patience is over the bar runs on stderr, with blocks done and blocks in all, and nothing on stdout."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown("kernel") as tell:
        tell(0, 1)
        assert "kernel" in until("0 of 1 block ", lambda: capsys.readouterr().err)
    assert capsys.readouterr().out == ""


def test_what_is_printed_meanwhile_stays_on_stdout(monkeypatch, capsys):
    """Rows printed while the bar runs go where stdout goes, and not among the bar on stderr."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown("kernel") as tell:
        tell(0, 1)
        until("0 of 1 block ", lambda: capsys.readouterr().err)
        sys.stdout.write("a row\n")
    assert capsys.readouterr().out == "a row\n"


def test_what_is_no_terminal_gets_lines(monkeypatch, capsys):
    """Each period has a plain line: the time so far, then blocks as well, then an estimate from the blocks' pace."""
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    with shown("kernel") as tell:
        first = until("\n", lambda: capsys.readouterr().err)
        for done in (0, 1, 2):
            tell(done, 2000)
            time.sleep(0.02)
        last = until(" left\n", lambda: capsys.readouterr().err).splitlines()[-1]
    assert first.splitlines()[0] == "kernel: 0:00:00 so far"
    assert last.startswith("kernel: 2 of 2,000 blocks, 0:00:0")
    assert " so far, about 0:0" in last


def test_no_time_is_estimated_where_nothing_is_alike(monkeypatch, capsys):
    """Items whose times differ widely have counts and the time so far, but no estimate."""
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    with shown("kernel", "claim", alike=False) as tell:
        for done in (0, 1, 2):
            tell(done, 2000)
            time.sleep(0.02)
        last = until("2 of 2,000 claims", lambda: capsys.readouterr().err).splitlines()[-1]
    assert last.startswith("kernel: 2 of 2,000 claims, 0:00:0")
    assert "left" not in last


@pytest.mark.long
@pytest.mark.parametrize("command", ["bound", "races"])
def test_an_interrupt_behind_the_bar_is_reported(command, endless):
    """Control-C on a terminal that shows the bar ends with code 130, the cursor back and the line that says why."""
    keyboard, terminal = pty.openpty()
    arguments = [command, endless, "--max-instructions", "1000000000"]
    script = "import sys; from gpusim.commands import main; sys.exit(main.execute(sys.argv[1:]))"
    with subprocess.Popen([sys.executable, "-c", script, *arguments], stderr=terminal, stdout=terminal) as running:
        os.close(terminal)
        until("\N{BOX DRAWINGS HEAVY HORIZONTAL}", lambda: os.read(keyboard, 1 << 16).decode(errors="replace"))
        running.send_signal(signal.SIGINT)
        rest = b""
        with suppress(OSError):  # how Linux says that the terminal's other side is closed
            while block := os.read(keyboard, 1 << 16):
                rest += block
        assert running.wait() == 130
    os.close(keyboard)
    assert rest.endswith(b"\rerror: interrupted\r\n")
    assert b"\x1b[?25h" in rest
