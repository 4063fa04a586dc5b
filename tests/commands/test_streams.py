import subprocess
import sys
from pathlib import Path

import pytest
from draws import few

CLOSED = "error: stdout is closed; send it to a file, or to /dev/null\n"
WRITERS = [
    ["schema", "run"],
    pytest.param(["export", "examples/saxpy.asm", "--format", "json"], marks=pytest.mark.jit),
]
FULL = "error: output: no space left on device\n"


def shell(redirections, *arguments):
    """Run a command in a shell, its streams redirected."""
    line = f'"$0" -m gpusim "$@" {redirections}'
    return subprocess.run(["sh", "-c", line, sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments", few([["machines"], ["--help"], ["no"], ["asm", "examples/saxpy.asm"], ["--version"]], 2)
)
def test_a_closed_stdout_is_reported(arguments):
    """Any command reports a closed stdout in one line, with exit code 2."""
    done = shell(">&-", *arguments)
    assert (done.returncode, done.stderr) == (2, CLOSED)


@pytest.mark.parametrize("redirections", few(["2>&-", "<&-", "<&- 2>&-"], 1))
def test_other_streams_may_be_closed(redirections):
    """A command works with stdin, stderr or both closed."""
    done = shell(redirections, "asm", "examples/saxpy.asm")
    assert (done.returncode, done.stderr) == (0, "")
    assert "saxpy" in done.stdout


@pytest.mark.parametrize("redirections", few(["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"], 1))
def test_an_error_without_a_stderr_keeps_its_code(redirections):
    """If stderr is closed or full, an error still ends with code 2, and without other output."""
    done = shell(redirections, "machines", "no such machine")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize("arguments", few([["machines"], ["--help"], ["--version"]], 1))
def test_a_full_stdout_is_reported(arguments):
    """A full stdout is reported in one line, without a complaint of Python's, and with exit code 2."""
    done = shell(">/dev/full", *arguments)
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("arguments", few(WRITERS, 1))
def test_a_file_is_not_taken_for_a_closed_stream(arguments, tmp_path):
    """With stderr closed the output file takes its number; its content is the same as with stderr open."""
    for name, redirections in (("open", "2>/dev/null"), ("closed", "2>&-")):
        out = tmp_path / f"{name}.json"
        done = shell(redirections, *arguments, "--out", str(out))
        assert done.returncode == 0
    assert Path(tmp_path / "open.json").read_bytes() == Path(tmp_path / "closed.json").read_bytes()
