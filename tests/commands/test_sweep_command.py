import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interruptible import SLOW

from gpusim.commands.main import execute

SMALL = ("throughput", "-p", "length=32", "-p", "iterations=2", "-p", "warps=1,2,4", "--set", "schedulers.count=1,2")
SCRIPT = "import sys; from gpusim.commands import main; sys.exit(main.execute(sys.argv[1:]))"
DEADLINE = 240.0  # seconds


def document(capsys, *arguments):
    """Return the JSON document of a sweep that succeeds."""
    assert execute(["sweep", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def until(path, lines, running):
    """Wait until the file has so many lines."""
    end = time.monotonic() + DEADLINE
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < end
        assert running.poll() is None
        time.sleep(0.02)


@pytest.mark.jit
def test_every_point_is_simulated_as_run_does(capsys):
    """The rows are the product of the axes in order, and the last has the figures of `gpusim run` at its point."""
    found = document(capsys, *SMALL, "--jobs", "1")
    assert (found["points"], found["simulated"], found["known"]) == (6, 6, 0)
    places = [(row["set.schedulers.count"], row["p.warps"]) for row in found["rows"]]
    assert places == [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4)]
    options = ["-p", "length=32", "-p", "iterations=2", "-p", "warps=4", "--set", "schedulers.count=2", "--json"]
    assert execute(["run", "throughput", *options]) == 0
    run = json.loads(capsys.readouterr().out)
    last = found["rows"][-1]
    assert [last[name] for name in ("cycles", "gflops", "percent_of_peak")] == [
        run[name] for name in ("cycles", "gflops", "percent_of_peak")
    ]
    assert last["bound_cycles"] == run["bound"]["cycles"]


@pytest.mark.jit
def test_a_sample_of_sms_is_simulated_at_every_point(tmp_path, capsys):
    """With four of 16 SMs each row has the cycles of `gpusim run` with four; results of another number are refused."""
    sweep = [
        "matmul-naive",
        "-p",
        "m=64",
        "-p",
        "n=64",
        "-p",
        "k=16,32",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "four"),
    ]
    found = document(capsys, *sweep, "--sms", "4")
    for row in found["rows"]:
        shape = ["-p", "m=64", "-p", "n=64", "-p", f"k={row['p.k']}"]
        assert execute(["run", "matmul-naive", *shape, "--sms", "4", "--json"]) == 0
        run = json.loads(capsys.readouterr().out)
        assert (row["cycles"], run["sms"]) == (run["cycles"], 4)
    assert execute(["sweep", *sweep, "--sms", "2"]) == 2
    assert "sms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sms", "some"], "error: --sms some: give 1, all, or a divisor of the 16 SMs of gtx580: 2, 4, 8"),
        (["--sms", "5"], "error: --sms 5: give 1, all, or a divisor of the 16 SMs of gtx580: 2, 4, 8"),
        (["--sms", "4", "--estimate", "1%"], "of several SMs every block is simulated"),
    ],
)
def test_sms_that_there_are_not(options, message, capsys):
    """Other words, a number that is no part of all SMs, and an estimate of several SMs end with one line and code 2."""
    assert execute(["sweep", "chain", "-p", "length=8", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.long
@pytest.mark.jit
def test_files_are_the_same_however_they_come_about(tmp_path, capsys):
    """One process, two processes, and a run that continues half a file write the same bytes of CSV."""
    made = []
    for name, jobs in (("one", "1"), ("two", "2")):
        assert execute(["sweep", *SMALL, "--out", str(tmp_path / name), "--jobs", jobs]) == 0
        made.append((tmp_path / name / "results.csv").read_bytes())
    lines = (tmp_path / "two" / "results.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 6
    (half := tmp_path / "half").mkdir()
    (half / "results.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:20])
    capsys.readouterr()
    assert execute(["sweep", *SMALL, "--out", str(half), "--jobs", "1"]) == 0
    assert "6 points, 3 of them on file" in capsys.readouterr().out
    made.append((half / "results.csv").read_bytes())
    assert made[0] == made[1] == made[2]
    assert sorted((half / "results.jsonl").read_bytes().splitlines()) == sorted(line.rstrip() for line in lines)


@pytest.mark.jit
def test_more_values_add_to_the_results_on_file(tmp_path, capsys):
    """A sweep of more values into the same directory simulates the new points only."""
    document(capsys, *SMALL, "--out", str(tmp_path), "--jobs", "1")
    found = document(capsys, *SMALL, "-p", "warps=8", "--out", str(tmp_path), "--jobs", "1")
    assert (found["points"], found["known"]) == (8, 6)


@pytest.mark.jit
def test_the_screen_has_the_fastest_the_front_and_the_reasons(capsys, monkeypatch):
    """In 80 columns: the fastest points, the Pareto front, and why points were not simulated."""
    monkeypatch.setenv("COLUMNS", "80")
    options = ["--set", "limits.registers=64,32768", "--top", "2", "--pareto", "gflops,p.warps", "--jobs", "1"]
    assert execute(["sweep", *SMALL, *options]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0] == "throughput on gtx580: 12 points"
    assert max(map(len, lines)) <= 80
    start = next(number for number, line in enumerate(lines) if line.startswith("GFLOP/s"))
    assert lines[start].split()[-3:] == ["count", "registers", "warps"]
    assert [line.split()[-3:] for line in lines[start + 1 : start + 3]] == [["2", "32768", "4"], ["1", "32768", "4"]]
    assert "Pareto front of gflops and p.warps: 5 points" in lines
    assert "simulated: 6 of 12 points" in lines
    assert "not simulated: 2 points: throughput: needs 448 registers per block; " in text


@pytest.mark.jit
def test_a_listing_is_swept_over_machines(capsys):
    """A listing is swept over policies and settings: two of each make four rows."""
    found = document(capsys, "examples/saxpy.asm", "--policy", "lrr,gto", "--set", "chip.sms=1,2", "--jobs", "1")
    assert [row["set.schedulers.policy"] for row in found["rows"]] == ["lrr", "gto", "lrr", "gto"]
    assert found["simulated"] == 4


@pytest.mark.jit
def test_files_of_kernel_tuner_are_read_and_written(tmp_path, capsys):
    """A T1 file limits the points; the cache and the T4 results use the names of the T1 file."""
    parameters = [
        {"Name": "W", "Type": "int", "Values": "[1, 2, 4]"},
        {"Name": "COUNT", "Type": "int", "Values": "range(1, 3)"},
    ]
    space = {"TuningParameters": parameters, "Conditions": [{"Expression": "W * COUNT <= 4 or W == 1"}]}
    (t1 := tmp_path / "t1.json").write_text(json.dumps({"ConfigurationSpace": space}))
    cache, t4 = tmp_path / "cache.json", tmp_path / "t4.json"
    renames = ["--t1", str(t1), "--rename", "W=warps", "--rename", "COUNT=schedulers.count"]
    files = ["--kernel-tuner", str(cache), "--t4", str(t4)]
    found = document(capsys, *SMALL[:5], *renames, *files, "--jobs", "1")
    places = [(row["p.warps"], row["set.schedulers.count"]) for row in found["rows"]]
    assert places == [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2)]
    written = json.loads(cache.read_text())
    assert (written["device_name"], written["kernel_name"]) == ("gtx580", "throughput")
    assert written["tune_params"] == {"W": [1, 2, 4], "COUNT": [1, 2]}
    times = {f"{warps},{count}": row["milliseconds"] for (warps, count), row in zip(places, found["rows"], strict=True)}
    assert {key: each["time"] for key, each in written["cache"].items()} == {**times, "4,2": "InvalidConfig"}
    results = json.loads(t4.read_text())["results"]
    assert [each["configuration"] for each in results] == [{"W": warps, "COUNT": count} for warps, count in places]


@pytest.mark.slow
def test_a_search_goes_on_where_it_was_interrupted(tmp_path, capsys):
    """With half its rows on file a search proposes the same points, simulates the rest, and gives the same rows."""
    pytest.importorskip("optuna")
    options = [*SMALL, "-p", "warps=1:8", "--search", "optuna", "--trials", "16"]
    first = document(capsys, *options, "--out", str(tmp_path))
    lines = (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    again = document(capsys, *options, "--out", str(tmp_path), "--jobs", "1")
    assert again["rows"] == first["rows"]
    assert (first["known"], again["known"]) == (0, len(lines) // 2 - 1)


@pytest.mark.long
@pytest.mark.jit
def test_a_killed_sweep_loses_only_the_points_in_flight(tmp_path):
    """A killed sweep leaves the finished points in whole lines; started again, it simulates the others."""
    out, options = tmp_path / "out", ["--jobs", "2", "--draw", "12"]
    command = [sys.executable, "-c", SCRIPT, "sweep", *SLOW, *options, "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        until(out / "results.jsonl", 5, running)
        running.kill()
        running.communicate(timeout=DEADLINE)
    text = (out / "results.jsonl").read_bytes()
    done = [json.loads(line) for line in text[: text.rindex(b"\n")].splitlines()][1:]
    assert 4 <= len(done) < 12
    assert not (out / "results.csv").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=DEADLINE)
    assert f"12 points, {len(done)} of them on file" in again.stdout
    rows = [json.loads(line) for line in (out / "results.jsonl").read_bytes().splitlines()][1:]
    assert rows[: len(done)] == done
    assert len({json.dumps(each["point"]) for each in rows}) == len(rows) == 12
    assert (out / "results.csv").read_bytes().count(b"\n") == 1 + 12


@pytest.mark.long
@pytest.mark.jit
def test_an_interrupt_ends_it_and_tells_where_it_goes_on(tmp_path):
    """Ctrl-C ends with code 130, tells what keeps the results, and leaves whole lines on file."""
    command = [sys.executable, "-c", SCRIPT, "sweep", *SLOW, "--jobs", "2", "--out", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as running:
        until(tmp_path / "results.jsonl", 3, running)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=DEADLINE)
    assert (running.returncode, out) == (130, b"")
    told = f"{tmp_path}/results.jsonl keeps the results so far; the same command continues from there\n"
    assert err.endswith(f"{told}error: interrupted\n".encode())
    assert b"Traceback" not in err
    assert all(json.loads(line) for line in (tmp_path / "results.jsonl").read_bytes().splitlines())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["throughptu"], "error: no kernel throughptu (did you mean throughput?); there are "),
        ([*SMALL, "--machine", "gtx58"], "error: machine gtx58: no such machine; did you mean gtx580?"),
        ([*SMALL, "--parquet"], "error: --parquet: no directory for it; give --out DIR too"),
        ([*SMALL, "--pareto", "gflop,warps"], "error: --pareto gflop: no column of numbers; did you mean gflops?"),
        ([*SMALL, "--plot", "sweep.txt"], "error: sweep.txt: is no picture; let it end in .png, .svg, .pdf"),
        (["throughput", "--plot", "sweep.png"], "error: --plot: there is one point only; give an axis of several "),
        ([*SMALL, "--out", __file__], f"error: --out {__file__}: is a file; name a directory"),
        ([*SMALL, "--out", "-"], "error: --out -: is no directory, and several files don't fit on stdout; name a "),
        ([*SMALL, "--out", "/nowhere/at/all"], "error: /nowhere/at/all: no such file or directory"),
        ([*SMALL, "--draw", "0"], "error: gpusim sweep: Invalid value for '--draw'"),
        ([*SMALL, "--pareto", "gflops"], "error: --pareto gflops: one column; give two or more, such as gflops,regi"),
        ([*SMALL, "--search", "grid"], "error: --search grid: there is no such search; give optuna"),
        ([*SMALL, "--search", "optuna", "--draw", "3"], "error: --search optuna: takes the axes alone; leave "),
        ([*SMALL, "--draw", "3", "--kernel-tuner", "x"], "error: --kernel-tuner x: needs every point; leave "),
        ([*SMALL, "--rename", "A=warps"], "error: --rename A=warps: renames parameters of --t1 FILE; give both"),
        ([*SMALL, "--t1", "none.json"], "error: none.json: No such file or directory; give a T1 file"),
        (["nothing.asm"], "error: nothing.asm: No such file or directory; give the path of a listing"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, line, capsys):
    """Wrong input is reported with its place and a fix, before anything is simulated."""
    assert execute(["sweep", *arguments]) == 2
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.long
@pytest.mark.jit
def test_other_files_may_lie_in_the_directory_of_results(tmp_path, capsys):
    """--plot and --t4 may name files in the directory that --out creates."""
    pytest.importorskip("matplotlib")
    made = tmp_path / "made"
    files = ["--plot", str(made / "sweep.png"), "--t4", str(made / "t4.json")]
    assert execute(["sweep", *SMALL, "--out", str(made), *files]) == 0
    assert {path.name for path in made.iterdir()} == {"results.jsonl", "results.csv", "sweep.png", "t4.json"}
    capsys.readouterr()


@pytest.mark.parametrize("there", [False, True])
def test_a_refused_sweep_leaves_no_new_directory(there, tmp_path, capsys):
    """If --plot is refused, a directory made for --out is removed, and one that existed before stays."""
    made = tmp_path / "made"
    if there:
        made.mkdir()
    assert execute(["sweep", *SMALL, "--out", str(made), "--plot", str(made / "sweep.txt")]) == 2
    assert "sweep.txt: is no picture" in capsys.readouterr().err
    assert made.exists() == there


def test_results_of_another_machine_are_left_alone(tmp_path, capsys):
    """Results of another machine are refused in one line, and stay unchanged."""
    path = tmp_path / "results.jsonl"
    path.write_text(
        '{"kernel":"throughput","listing":"","machine":"c2050","facts":"00","max_cycles":null,"version":"0.1.0"}\n'
    )
    before = path.read_bytes()
    assert execute(["sweep", *SMALL, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {path}: results of machine c2050, not gtx580; give another file\n"
    assert path.read_bytes() == before


def test_results_of_a_machine_file_that_has_changed_are_left_alone(tmp_path, capsys):
    """Results of a machine file with other numbers under the same name are refused, and stay unchanged."""
    path, out = tmp_path / "mine.toml", tmp_path / "out"
    text = """extends = "gtx580"
limits.registers = {{ value = {}, source = "us", method = "guess", note = "a test" }}
"""
    options = ["sweep", "throughput", "-p", "warps=4,8", "--machine", str(path), "--out", str(out), "--jobs", "1"]
    path.write_text(text.format(64))
    assert execute(options) == 0
    assert "simulated: 0 of 2 points" in capsys.readouterr().out
    before = (out / "results.jsonl").read_bytes()
    path.write_text(text.format(128))
    assert execute(options) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"error: {out / 'results.jsonl'}: results of machine numbers with the hash ")
    assert (out / "results.jsonl").read_bytes() == before


@pytest.mark.jit
def test_results_of_a_listing_that_has_changed_are_left_alone(tmp_path, capsys):
    """Results of a listing with another text under the same name are refused."""
    path = tmp_path / "mine.asm"
    path.write_text(text := Path("examples/saxpy.asm").read_text())
    options = ["sweep", str(path), "--set", "chip.sms=1,2", "--out", str(tmp_path / "out"), "--jobs", "1"]
    assert execute(options) == 0
    path.write_text(f"{text}\n")
    capsys.readouterr()
    assert execute(options) == 2
    assert "results.jsonl: results of a listing with the hash " in capsys.readouterr().err
