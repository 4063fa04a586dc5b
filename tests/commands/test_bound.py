import json
import subprocess
import sys

from gpusim.commands import main


def test_bound_lists_limits_and_occupancy(capsys):
    """`gpusim bound` prints the bound, its limiter first, and the occupancy."""
    assert main.execute(["bound", "sgemm-lai", "-p", "m=96", "-p", "n=96", "-p", "k=960"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "sgemm-lai on gtx580 (GeForce GTX 580)"
    assert any(line.startswith("occupancy") for line in lines)
    assert any(line.startswith("issue slots") for line in lines)


def test_bound_prints_a_document(capsys):
    """`--json` carries the same under the schema version."""
    assert main.execute(["bound", "examples/saxpy.asm", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 1
    assert found["bound"]["cycles"] == max(found["bound"]["limits"].values())
    assert found["occupancy"]["blocks"] == 8


def test_bound_echoes_its_settings(capsys):
    """What `--set` replaced is in the document, as the machine holds it."""
    settings = ["--set", "unit.fp32.latency=9", "--set", "schedulers.policy=gto"]
    assert main.execute(["bound", "chain", *settings, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == {"unit.fp32.latency": 9, "schedulers.policy": "gto"}


def test_help_of_bound_waits_for_no_compiler():
    """`gpusim bound --help` imports no Numba."""
    script = (
        "import sys; from gpusim.commands.main import execute; execute(['bound', '--help']); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0
