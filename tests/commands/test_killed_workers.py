"""Workers of a sweep and of a tuning run that are killed: one line, and a command that goes on from its results."""

import os
import signal
from functools import partial
from multiprocessing import parent_process

import pytest
from space_files import needs_compiler, written

from gpusim.commands.main import execute
from gpusim.commands.search import sweep, tune_code
from gpusim.support.parallel import processes

POINTS = ("mix", "-p", "iterations=2", "--set", "load_store.queue=1:6", "--jobs", "2")
SPACE_POINTS = ("-p", "PAD=1", "--machine", "a100", "--jobs", "2")
LINE = "error: a process was killed, most likely for want of memory; ask for less at a time"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    """There are two processes, however many cores there are."""
    monkeypatch.setattr(processes, "cores", lambda: 2)


def killed(function, *arguments, **named):
    """Do what the function does; a worker is killed instead."""
    if parent_process():
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments, **named)


@pytest.mark.long
@pytest.mark.jit
def test_a_sweep_goes_on_where_a_worker_was_killed(tmp_path, monkeypatch, capsys):
    """The first point is kept, the error is one line with code 2; the same command then has all six points."""
    options = ["sweep", *POINTS, "--out", str(tmp_path)]
    with monkeypatch.context() as patched:
        patched.setattr(sweep, "row", partial(killed, sweep.row))
        assert execute(options) == 2
    assert capsys.readouterr().err.splitlines()[-1] == LINE
    assert (tmp_path / "results.jsonl").read_bytes().count(b"\n") == 1 + 1
    assert execute(options) == 0
    assert "6 points, 1 of them on file" in capsys.readouterr().out
    assert (tmp_path / "results.jsonl").read_bytes().count(b"\n") == 1 + 6


@needs_compiler
@pytest.mark.long
@pytest.mark.jit
def test_a_tuning_run_goes_on_where_a_worker_was_killed(tmp_path, monkeypatch, capsys):
    """The trials so far are kept, the error is one line with code 2; the same command then ranks every point."""
    options = ["tune", str(written(tmp_path)), *SPACE_POINTS, "--results", str(tmp_path / "results.jsonl")]
    with monkeypatch.context() as patched:
        patched.setattr(tune_code, "trial", partial(killed, tune_code.trial))
        assert execute(options) == 2
    assert capsys.readouterr().err.splitlines()[-1] == LINE
    kept = (tmp_path / "results.jsonl").read_bytes().count(b"\n")
    assert execute(options) == 0
    assert (tmp_path / "results.jsonl").read_bytes().count(b"\n") > kept > 1
