"""`gpusim timeline` and `gpusim explain`."""

from __future__ import annotations

import gzip
import json

import msgspec
import pytest

from gpusim.commands import main
from gpusim.views.timeline.document import Timeline

pytestmark = pytest.mark.jit
REDUCE = ["examples/reduce.asm", "--machine", "c2050"]


def test_a_screen_of_the_first_cycles(capsys, monkeypatch):
    """The first 200 cycles are shown within 80 columns; the last line says how to see the next."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main.execute(["timeline", *REDUCE, "--warps", "0-1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "reduce on c2050 (Tesla C2050), gto"
    assert lines[1].startswith("cycles 0 to 200 of 1,922; warps 0-1 of 4")
    assert lines[-1] == "the run goes on for 1,722 cycles: --cycles 200:400"
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("g  long_scoreboard") for line in lines)


def test_a_document_takes_the_place_of_a_kernel(capsys, tmp_path):
    """A document from --out, compressed or not, or from --json shows the same screen as the run itself."""
    files = [tmp_path / "reduce.json", tmp_path / "reduce.json.gz"]
    for path in files:
        assert main.execute(["timeline", *REDUCE, "--cycles", ":150", "--out", str(path)]) == 0
    assert files[0].read_bytes() == gzip.decompress(files[1].read_bytes())
    assert main.execute(["timeline", *REDUCE, "--cycles", ":150", "--json"]) == 0
    printed = capsys.readouterr().out
    assert printed == files[0].read_text()
    assert msgspec.json.decode(printed, type=Timeline).end == 150
    assert main.execute(["timeline", *REDUCE, "--cycles", "20:150", "--warps", "1"]) == 0
    shown = capsys.readouterr().out
    assert main.execute(["timeline", str(files[1]), "--cycles", "20:150", "--warps", "1"]) == 0
    assert capsys.readouterr().out == shown


def test_explain_goes_back_to_the_cause(capsys, monkeypatch):
    """The headline answers the question, and the rows go back from the waiting instruction to its cause."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main.execute(["explain", *REDUCE, "--warp", "0", "--cycle", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "reduce on c2050, gto: warp 0 in cycle 50 does not issue: wait"
    assert lines[2].split() == ["cycle", "warp", "pc", "instruction", "what"]
    assert "without having waited" in " ".join(" ".join(lines).split())


def test_explain_follows_a_barrier_to_its_last_warp(capsys):
    """A warp at a barrier waits for a warp that arrives after the cycle asked for."""
    asked = ["explain", *REDUCE, "--cycle", "730", "--warp"]
    chains = []
    for warp in range(4):
        assert main.execute([*asked, str(warp), "--json"]) == 0
        chains.append(json.loads(capsys.readouterr().out)["steps"])
    waiting = [steps for steps in chains if steps[0]["what"] == "barrier"]
    assert [steps[0]["warp"] for steps in waiting] == [0]
    assert all(len(steps) > 1 and steps[1]["cycle"] == 730 for steps in waiting)


def test_explain_prints_a_document_of_so_many_steps(capsys):
    """--json has the question and the steps; `--depth 2` limits them to two."""
    assert main.execute(["explain", *REDUCE, "--warp", "0", "--cycle", "50", "--depth", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [found[name] for name in ("kernel", "machine", "warp", "cycle")] == ["reduce", "c2050", 0, 50]
    assert [step["what"] for step in found["steps"]] == ["wait", "under_way"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["explain", *REDUCE, "--warp", "9", "--cycle", "5"],
            "error: --warp 9: the run has warp slots 0 to 3 of an SM\n",
        ),
        (
            ["explain", *REDUCE, "--warp", "0", "--cycle", "9999"],
            "error: cycle 9999: there are cycles 0 to 1921 to look at",
        ),
        (["timeline", *REDUCE, "--warps", "4"], "error: --warps 4: the launch fills warp slots 0 to 3"),
        (["timeline", *REDUCE, "--cycles", "9000:"], "error: --cycles 9000: the run ends at cycle 1922"),
        (
            ["timeline", *REDUCE, "--out", "x.txt"],
            "error: x.txt: timelines are recognized by their names; let it end in .json or",
        ),
        (["timeline", *REDUCE, "--out", "nowhere/x.json"], "error: nowhere/x.json: there is no directory nowhere"),
    ],
)
def test_bad_input_is_reported_in_one_line(arguments, message, capsys):
    """A missing warp or cycle and a wrong file name are each reported in one line, with exit code 2."""
    assert main.execute(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1
