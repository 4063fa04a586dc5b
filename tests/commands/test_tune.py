import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest

from gpusim.analysis.search.tuning import Tuned
from gpusim.commands.main import execute
from workloads.catalog import make

FEW = ("sgemm-lai", "--machine", "gtx580", "--set", "limits.registers_per_thread=12", "--size", "96,96,32")
SLOW = ("sgemm-lai", "--machine", "gtx580", "--size", "960,960,960")
DEADLINE = 120.0  # seconds


def document(capsys, *arguments):
    """Return the JSON document of a command line that succeeds."""
    assert execute(["tune", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.jit
def test_every_point_is_ranked_and_the_winners_values_are_right(capsys):
    """Twelve points fit 12 registers; they are ranked by rate, and the winner's whole launch is verified."""
    found = document(capsys, *FEW, "--jobs", "1", "--top", "20")
    order = found["ranking"]
    assert (found["points"], found["simulated"], found["without"]) == (12, 12, [])
    rates = [each["gflops"] for each in order]
    assert rates == sorted(rates, reverse=True)
    assert [each["rank"] for each in order] == [1 + sum(other > rate for other in rates) for rate in rates]
    assert found["slowest_gflops"] == order[-1]["gflops"]
    assert found["median_gflops"] == (order[5]["gflops"] + order[6]["gflops"]) / 2
    assert found["winner"]["verified"]
    assert found["winner"]["parameters"]["blocking"] == order[0]["point"]["blocking"] == 1
    assert found["published_rank"] is None
    assert found["set"] == {"limits.registers_per_thread": 12}


@pytest.mark.jit
def test_the_screen_ends_with_the_winner(capsys):
    """The screen has the top 2 points, the count of simulated points, and the winner's launch."""
    assert execute(["tune", *FEW, "--jobs", "1", "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("rank GFLOP/s"))
    assert [line.split()[0] for line in lines[start + 1 : lines.index("", start)]] in (["1", "2"], ["1", "1"])
    assert "simulated: 12 of 12 points" in lines
    assert any(line.startswith("GFLOP/s: fastest ") for line in lines)
    assert any(line.startswith("values      right: ") for line in lines)
    assert any(line.startswith("parameters  m=96 n=96 k=32 ") for line in lines)


@pytest.mark.long
@pytest.mark.jit
def test_results_are_written_for_kernel_tuner(tmp_path, capsys):
    """The cache has every combination of the points' values; those that are no point are InvalidConfig."""
    path = tmp_path / "cache.json"
    found = document(capsys, *FEW, "--jobs", "1", "--top", "20", "--kernel-tuner", str(path))
    written = json.loads(path.read_text())
    assert (written["kernel_name"], written["problem_size"]) == ("sgemm-lai", [96, 96, 32])
    rates = {",".join(map(str, each["point"].values())): each["gflops"] for each in found["ranking"]}
    ran = {key: each["GFLOP/s"] for key, each in written["cache"].items() if each["time"] != "InvalidConfig"}
    assert ran == rates
    assert len(written["cache"]) == math.prod(len(values) for values in written["tune_params"].values())


@pytest.mark.long
@pytest.mark.jit
def test_an_interrupted_run_goes_on(tmp_path, capsys):
    """With 3 of 12 points on file the other 9 are simulated, and the file and the document come out the same."""
    path = tmp_path / "results.jsonl"
    first = document(capsys, *FEW, "--out", str(path), "--jobs", "1")
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 12
    path.write_bytes(b"".join(lines[:4]) + lines[4][:10])
    assert execute(["tune", *FEW, "--out", str(path), "--jobs", "1"]) == 0
    assert "simulated: 12 of 12 points, 3 of them on file" in capsys.readouterr().out
    assert path.read_bytes() == b"".join(lines)
    assert document(capsys, *FEW, "--out", str(path), "--jobs", "1") == first


@pytest.mark.long
@pytest.mark.jit
def test_an_interrupt_ends_it_with_whole_lines(tmp_path):
    """Ctrl-C sent 20 times to every process: code 130, two lines, no process left, whole lines on file."""
    path = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "gpusim", "tune", *SLOW, "--out", str(path), "--jobs", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as running:
        end = time.monotonic() + DEADLINE
        while not path.exists() or path.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < end
            time.sleep(0.05)
        for _ in range(20):
            os.killpg(running.pid, signal.SIGINT)
            time.sleep(0.005)
        out, err = running.communicate(timeout=DEADLINE)
    assert running.returncode == 130
    assert out == b""
    assert err.endswith(
        f"{path} keeps the results so far; the same command continues from there\nerror: interrupted\n".encode()
    )
    assert b"Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["zgem"], "error: no search space zgem (did you mean zgemm?); there are "),
        (["k.cu"], "error: k.cu: CUDA C; give a space file that names it as source (gpusim schema space-file)"),
        ([*FEW, "--size", "96,96"], "error: --size 96,96: give three whole numbers from 1 up, such as 960,960,960"),
        ([*FEW, "--size", "96,0,96"], "error: --size 96,0,96: give three whole numbers from 1 up"),
        ([*FEW, "-p", "alhpa=2"], "error: sgemm-lai: no parameter alhpa (did you mean alpha?); the space takes "),
        ([*FEW, "-p", "lds=32"], "error: lds=32: the space sgemm-lai sets it; leave it out"),
        ([*FEW, "-p", "occupancy=2"], "error: sgemm-lai: no point is left on gtx580; see `gpusim space`, and loosen "),
        ([*FEW, "--stage", "x"], "error: sgemm-lai: x is no stage to stop after; choose one of points, "),
        ([*FEW, "--out", "/nowhere/at/all"], "error: /nowhere/at/all: there is no directory /nowhere/at; create it"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, line, capsys):
    """Wrong input is reported with its place and a fix, before anything is simulated."""
    assert execute(["tune", *arguments]) == 2
    assert capsys.readouterr().err.startswith(line)


def test_a_file_of_other_settings_is_left_alone(tmp_path, capsys):
    """Results of another machine are refused in one line, and stay unchanged."""
    path = tmp_path / "results.jsonl"
    old = Tuned("sgemm-lai", "c2050", "0", (96, 96, 32), 3, {}, "0")
    path.write_bytes(text := json.dumps({name: getattr(old, name) for name in old.__struct_fields__}).encode() + b"\n")
    assert execute(["tune", *FEW, "--out", str(path)]) == 2
    assert capsys.readouterr().err == f"error: {path}: results of machine c2050, not gtx580; give another file\n"
    assert path.read_bytes() == text


def test_where_nothing_can_run_the_first_reason_is_reported(monkeypatch, capsys):
    """If no point can be simulated, one line gives the reason of the first."""
    monkeypatch.setattr("workloads.catalog.make", lambda name, texts: make(name, texts | {"m": "33"}))
    assert execute(["tune", *FEW, "--jobs", "1"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: sgemm-lai: no point can be simulated; the first: sgemm-lai: m=33 is not a ")
