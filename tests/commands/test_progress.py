import fnmatch
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from gpusim.commands.frame import progress
from gpusim.commands.frame.progress import ENTRIES, shown

DEADLINE = 30.0  # seconds


@pytest.fixture(name="endless")
def endless_listing(tmp_path):
    """Give the path of a listing that never ends."""
    (path := tmp_path / "loop.asm").write_text("top:\nBRA top\n")
    return str(path)


def until(phrase, more):
    """Return what `more()` gives, call by call, up to the phrase."""
    text, end = "", time.monotonic() + DEADLINE
    while phrase not in text:
        assert time.monotonic() < end, text
        text += more()
    return text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (Path("k.jsonl"), "k.jsonl keeps the results so far; the same command continues from there\n"),
        (Path("begun.jsonl"), ""),
        (Path("none.jsonl"), ""),
        (None, ""),
    ],
)
def test_an_interrupt_tells_which_file_keeps_results(path, told, capsys, tmp_path, monkeypatch):
    """Ctrl-C goes on through the block, after a line on stderr if a file has results; another error adds none."""
    monkeypatch.chdir(tmp_path)
    Path("k.jsonl").write_text("{}\n{}\n")
    Path("begun.jsonl").write_text("{}\n{")
    with pytest.raises(KeyboardInterrupt), progress.keeping(path):
        raise KeyboardInterrupt
    assert capsys.readouterr() == ("", told)
    with pytest.raises(ValueError, match="other"), progress.keeping(path):
        raise ValueError("other")
    assert capsys.readouterr() == ("", "")


def test_short_commands_show_no_progress(capsys):
    """A command that ends before PATIENCE and PERIOD have passed shows no progress."""
    with shown("kernel") as tell:
        tell(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar(monkeypatch, capsys):
    """After PATIENCE seconds a bar on stderr shows blocks done and blocks in all; stdout has nothing."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown("kernel") as tell:
        tell(0, 1)
        assert "kernel" in until("0 of 1 block ", lambda: capsys.readouterr().err)
    assert capsys.readouterr().out == ""


def test_output_during_the_bar_stays_on_stdout(monkeypatch, capsys):
    """Rows printed while the bar runs appear on stdout, not in the bar on stderr."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown("kernel") as tell:
        tell(0, 1)
        until("0 of 1 block ", lambda: capsys.readouterr().err)
        sys.stdout.write("a row\n")
    assert capsys.readouterr().out == "a row\n"


def test_without_a_terminal_progress_is_lines(monkeypatch, capsys):
    """Without a terminal each period prints a line: first the time so far, then also blocks and an estimate."""
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


def test_no_time_is_estimated_for_items_that_differ(monkeypatch, capsys):
    """For items whose times differ widely a line has their count and the time so far, and no estimate."""
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    with shown("kernel", "claim", alike=False) as tell:
        for done in (0, 1, 2):
            tell(done, 2000)
            time.sleep(0.02)
        last = until("2 of 2,000 claims", lambda: capsys.readouterr().err).splitlines()[-1]
    assert last.startswith("kernel: 2 of 2,000 claims, 0:00:0")
    assert "left" not in last


def test_a_run_says_what_follows_its_last_block(monkeypatch, capsys):
    """When all blocks are done a line says that values and bound are still worked out; before, it does not."""
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    with shown("kernel") as tell:
        progress.of_run(tell)(1, 2)
        assert "values" not in until("kernel: 1 of 2 blocks, ", lambda: capsys.readouterr().err)
        progress.of_run(tell)(2, 2)
        until("kernel, values and bound: 2 of 2 blocks, ", lambda: capsys.readouterr().err)


@pytest.mark.long
@pytest.mark.parametrize("command", ["bound", "races"])
def test_an_interrupt_while_the_bar_runs_is_reported(command, endless):
    """Ctrl-C while the bar runs restores the cursor, prints `error: interrupted`, and ends with code 130."""
    keyboard, terminal = pty.openpty()
    arguments = [command, endless, "--max-instructions", "1000000000"]
    script = "import sys; from gpusim.commands import main; sys.exit(main.execute(sys.argv[1:]))"
    with subprocess.Popen([sys.executable, "-c", script, *arguments], stderr=terminal, stdout=terminal) as running:
        os.close(terminal)
        until("\N{BOX DRAWINGS HEAVY HORIZONTAL}", lambda: os.read(keyboard, 1 << 16).decode(errors="replace"))
        running.send_signal(signal.SIGINT)
        rest = b""
        with suppress(OSError):  # Linux reports a terminal whose other side is closed by this error
            while block := os.read(keyboard, 1 << 16):
                rest += block
        assert running.wait() == 130
    os.close(keyboard)
    assert rest.endswith(b"\rerror: interrupted\r\n")
    assert b"\x1b[?25h" in rest


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_announced_as_compiled_is_there(entry):
    """Each of the ENTRIES names functions of its module: else its compilation would be announced for ever."""
    _, module, pattern = ENTRIES[entry]
    found = vars(import_module(module))
    assert any(callable(found[name]) for name in fnmatch.filter(found, pattern))
