"""Whole programs on a simulated card: their values, prints and exit codes, and the times of their launches."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpusim.commands.main import execute
from isa.nvidia.compiler import tools

SOURCES = Path(__file__).parent / "sources"
pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(
        not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
    ),
]
TOGETHER = """\
scaled 3 2997
counted 42, self 1
mirrored 7 0
sampled 3 0
threads: invalid configuration argument
shared: invalid argument
attribute: cudaSuccess
shared: cudaSuccess
resident 8
"""


@pytest.fixture
def ran(capsys):
    """Return what runs `gpusim exec` here, and gives exit code, stdout and stderr."""

    def run(name, *options, arguments=()):
        code = execute(["exec", str(SOURCES / f"{name}.cu"), *options, "--", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_program_computes_prints_and_ends_as_on_a_card(ran):
    """Constants, variables, streams, managed memory, textures and errors of launches are as CUDA has them.

    The expected lines are what CUDA's documents say; the exit code is the program's.
    """
    code, out, err = ran("together", arguments=["1", "2"])
    assert code == 3
    assert not [line for line in err.splitlines() if "so far" not in line]  # which are of progress
    assert out.startswith(TOGETHER)
    table = out.removeprefix(TOGETHER)
    assert "scaled" in table
    assert "7 launches on h200" in table


def test_launches_have_times_and_alike_ones_share_them(ran):
    """The document has each launch with its time, 560 ns of an empty kernel included; the third is the second again.

    The first finds nothing in the L2, as the host has written what it reads.
    """
    code, out, _ = ran("together", "--json")
    (card,) = json.loads(out)["machines"]
    first, second, third, *_ = card["launches"]
    assert code == card["exit_code"] == 1
    assert (first["kernel"], first["grid"], first["same_as"]) == ("scaled", [4, 1, 1], None)
    assert first["milliseconds"] == pytest.approx(first["figures"]["milliseconds"] + 560e-6)
    assert first["milliseconds"] > second["milliseconds"] == third["milliseconds"]
    assert (second["same_as"], third["same_as"]) == (None, 2)
    assert card["kernel_milliseconds"] == pytest.approx(sum(one["milliseconds"] for one in card["launches"]))


def test_what_decides_on_the_time_is_looked_at(ran):
    """Launches with another bound in constant memory take another time; each of clusters has one; so on two threads."""
    code, out, _ = ran("alike", "--json", "--threads", "2")
    (card,) = json.loads(out)["machines"]
    *pairs, first, second, long = [one["milliseconds"] for one in card["launches"]]
    assert code == 0
    assert all(pairs)
    assert long > 5 * max(first, second) > 0


def test_values_only(ran):
    """Without time the program computes and prints the same, and no launch has a time."""
    code, out, _ = ran("together", "--time", "none")
    assert code == 1
    assert out.startswith(TOGETHER)
    assert out.endswith("7 launches on h200: values only\n")


def test_a_fault_is_told_and_comes_later(ran):
    """A store behind memory is named with line and buffer; the program gets 700 when it waits, and ever after."""
    code, out, err = ran("fault")
    assert code == 5
    assert out.startswith("launch 0\nwait 700\nlater 700\n")
    assert "fault.cu:5" in err
    assert "lie in no buffer" in err


def test_what_is_not_there_is_named_with_its_line(ran):
    """A call of what is not there ends the program with its name and place, and code 2."""
    code, _, err = ran("process/refused")
    line = next(
        n
        for n, text in enumerate((SOURCES / "process/refused.cu").read_text().splitlines(), 1)
        if "cudaGraphicsMap" in text
    )
    assert code == 2
    assert f"refused.cu:{line}: " in err
    assert "is not there" in err


def test_a_captured_launch_is_the_programs(ran, tmp_path, capsys):
    """A launch file that --capture writes has the values and cycles of the launch in the program."""
    _, out, _ = ran("together", "--json", "--capture", str(tmp_path))
    (card,) = json.loads(out)["machines"]
    cycles = card["launches"][0]["figures"]["cycles"]
    assert execute(["run", str(tmp_path / "1-scaled.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verified"]
    assert found["cycles"] == cycles


def test_a_program_with_the_runtime_inside_is_refused(tmp_path, capsys):
    """An executable with CUDA's runtime inside is refused in one line that says how to link it."""
    program = tmp_path / "static"
    tools.run("nvcc", ["-o", program, SOURCES / "fault.cu"], about="fault.cu", seconds=100)
    assert execute(["exec", str(program)]) == 2
    assert "-cudart shared" in capsys.readouterr().err


def test_an_executable_runs_and_signals_are_exit_codes(tmp_path):
    """An executable with the shared runtime runs; one that a signal ends has 128 and its number as exit code."""
    program = tmp_path / "dereference"
    tools.run(
        "nvcc", ["-cudart", "shared", "-o", program, SOURCES / "memory" / "dereference.cu"], about="", seconds=100
    )
    done = subprocess.run(
        [sys.executable, "-m", "gpusim", "exec", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 128 + 11
