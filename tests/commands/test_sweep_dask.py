import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from interruptible import SLOW

from gpusim.commands.main import execute
from gpusim.support.parallel.processes import cores

POINTS = ["throughput", "-p", "length=64", "-p", "iterations=4", "-p", "warps=1:10", "--set", "load_store.queue=1:8"]
DEADLINE = 300.0  # seconds


class Deaf:
    """A client whose scheduler stops answering once its workers are counted."""

    def __init__(self, *_, **__):
        self.__dict__["close"] = self.wait_for_workers = lambda *_, **__: None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def run(self, function, *arguments):
        """Return what the function returns on one worker."""
        return {"one": function(*arguments)}

    def nthreads(self):
        """Raise the error of a refused connection."""
        raise OSError("timed out")


@contextmanager
def started(*arguments):
    """Start a process of Dask, and kill it at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]], stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(holds):
    """Wait until the condition holds."""
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_without_distributed_one_line_says_what_to_install(monkeypatch, capsys):
    """Without the package distributed the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert execute(["sweep", *POINTS, "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "distributed is not installed; run pip install 'gpusim[dask]'" in capsys.readouterr().err


def test_a_cluster_has_its_own_processes(capsys):
    """--jobs together with --dask is refused."""
    assert execute(["sweep", *POINTS, "--dask", "tcp://127.0.0.1:1", "--jobs", "2"]) == 2
    assert capsys.readouterr().err.startswith("error: --jobs 2: the cluster sets how many; leave it out ")


@pytest.mark.slow
def test_where_no_scheduler_answers_one_line_says_so(monkeypatch, capsys):
    """If no scheduler listens at the address, the error says so, with exit code 2."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("gpusim.support.parallel.dask_cluster.PATIENCE", 2)
    assert execute(["sweep", *POINTS, "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "error: --dask tcp://127.0.0.1:1: no scheduler answers (" in capsys.readouterr().err


def test_a_scheduler_that_no_longer_answers_is_reported_in_one_line(monkeypatch, capsys):
    """A scheduler that stops answering is named, with the advice to start it again and resume."""
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=Deaf))
    assert execute(["sweep", *POINTS, "--dask", "tcp://127.0.0.1:1"]) == 2
    line = "the scheduler was lost; start it again, then resume with --out DIR\n"
    assert capsys.readouterr().err.endswith(f"error: --dask tcp://127.0.0.1:1: {line}")


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_reported_in_one_line(tmp_path):
    """A scheduler killed during a sweep is named in one line, with code 2; the finished rows stay whole."""
    pytest.importorskip("distributed")
    address, lines = tmp_path / "scheduler.json", tmp_path / "out" / "results.jsonl"
    with (
        started("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)) as victim,
        started("worker", "--scheduler-file", str(address), "--nthreads", "1", "--no-nanny", "--no-dashboard"),
    ):
        until(address.exists)
        where = json.loads(address.read_text())["address"]
        command = [sys.executable, "-m", "gpusim", "sweep", *SLOW, "--dask", where, "--out", str(lines.parent)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
            until(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 3)
            victim.kill()
            _, err = running.communicate(timeout=DEADLINE)
    assert running.returncode == 2
    assert err.splitlines()[-1].startswith(f"error: --dask {where}: the scheduler was lost; start it again")
    assert "Traceback" not in err
    assert all(json.loads(line) for line in lines.read_bytes().splitlines())


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_counted_twice_when_a_worker_is_killed(tmp_path):
    """One of two workers is killed during a sweep of 80 points: the CSV is that of a sweep without a cluster."""
    pytest.importorskip("distributed")
    address, command = tmp_path / "scheduler.json", [sys.executable, "-m", "gpusim", "sweep", *POINTS]
    worker = ["worker", "--scheduler-file", str(address), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with (
        started("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)),
        started(*worker, "--name", "one") as victim,
        started(*worker, "--name", "two"),
    ):
        until(address.exists)
        where = json.loads(address.read_text())["address"]
        lines = tmp_path / "cluster" / "results.jsonl"
        with subprocess.Popen([*command, "--dask", where, "--out", str(lines.parent)]) as running:
            until(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 20)
            victim.send_signal(signal.SIGKILL)
            assert running.poll() is None
            assert running.wait(DEADLINE) == 0
    rows = [json.loads(line) for line in lines.read_bytes().splitlines()][1:]
    assert len({json.dumps(each["point"]) for each in rows}) == len(rows) == 80
    alone = tmp_path / "alone"
    subprocess.run([*command, "--out", str(alone), "--jobs", str(cores())], check=True, timeout=DEADLINE)
    assert (alone / "results.csv").read_bytes() == (lines.parent / "results.csv").read_bytes()
