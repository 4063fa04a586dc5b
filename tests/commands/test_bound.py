import json
import subprocess
import sys

import pytest

from gpusim.commands import main


@pytest.mark.jit
def test_bound_lists_limits_and_occupancy(capsys):
    """`gpusim bound` prints a headline, the limits of the bound and the occupancy."""
    assert main.execute(["bound", "sgemm-lai", "-p", "m=96", "-p", "n=96", "-p", "k=960"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "sgemm-lai on gtx580 (GeForce GTX 580)"
    assert any(line.startswith("occupancy") for line in lines)
    assert any(line.startswith("issue slots") for line in lines)


def test_bound_prints_a_document(capsys):
    """`--json` prints the bound and the occupancy; the bound's cycles are those of its largest limit."""
    assert main.execute(["bound", "examples/saxpy.asm", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 2
    assert found["bound"]["cycles"] == max(found["bound"]["limits"].values())
    assert found["occupancy"]["blocks"] == 8


def test_a_copy_is_bounded_in_bytes(capsys):
    """Without operations GFLOP/s and their share of the peak are null, and the screen has GB/s of the DRAM instead."""
    assert main.execute(["bound", "offset-copy", "--machine", "gtx580", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["bound"]
    assert (found["gflops"], found["percent_of_peak"], found["limiter"]) == (None, None, "memory bandwidth")
    assert main.execute(["bound", "offset-copy", "--machine", "gtx580"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "memory      at most 192.4 GB/s of the DRAM, 100.0 % of 192.4" in lines  # 192,384 MB/s of its file, all used
    assert not any("GFLOP/s" in line for line in lines)


def test_bound_echoes_its_settings(capsys):
    """The document has the numbers that `--set` replaced, as the machine holds them."""
    settings = ["--set", "unit.fp32.latency=9", "--set", "schedulers.policy=gto"]
    assert main.execute(["bound", "chain", *settings, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == {"unit.fp32.latency": 9, "schedulers.policy": "gto"}


@pytest.mark.parametrize("command", ["bound", "races"])
def test_an_endless_listing_meets_the_limit(command, capsys, tmp_path, monkeypatch):
    """A listing that never ends stops at `--max-instructions` or the default: one line, exit code 3."""
    (file := tmp_path / "loop.asm").write_text("top:\nBRA top\n")
    monkeypatch.setattr("gpusim.commands.frame.arguments.MAX_INSTRUCTIONS", 2000)
    for arguments, limit in ((["--max-instructions", "1000"], 1000), ([], 2000)):
        assert main.execute([command, str(file), *arguments]) == 3
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert f"more than {limit} warp instructions issued" in captured.err
        assert captured.err.endswith("or raise the limit, --max-instructions\n")


@pytest.mark.parametrize("command", ["bound", "races"])
def test_a_kernel_of_the_catalog_needs_no_limit(command, capsys, monkeypatch):
    """The default limit applies to listings only; `--max-instructions` limits kernels of the catalog too."""
    monkeypatch.setattr("gpusim.commands.frame.arguments.MAX_INSTRUCTIONS", 1)
    assert main.execute([command, "chain"]) == 0
    assert main.execute([command, "chain", "--max-instructions", "1"]) == 3
    assert capsys.readouterr().err.startswith("error: chain: ")


def test_help_of_bound_waits_for_no_compiler():
    """`gpusim bound --help` imports no Numba."""
    script = (
        "import sys; from gpusim.commands.main import execute; execute(['bound', '--help']); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0
