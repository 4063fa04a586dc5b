"""`--max-cycles`: every command that advises raising it has it."""

import pytest

from gpusim.commands.main import execute

WINDOW = ["--cycles", "0:4000"]
BY_CYCLES = {
    "run": [],
    "report": [],
    "limits": ["--jobs", "1"],
    "schedule": [],
    "timeline": WINDOW,
    "explain": ["--warp", "0", "--cycle", "4000"],
    "export": ["--format", "csv", "--out", "file"],
    "view": [*WINDOW, "--out", "file.html"],
}


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("command", BY_CYCLES)
def test_a_run_beyond_its_cycles_is_one_line(command, tmp_path, monkeypatch, capsys):
    """A run beyond --max-cycles ends with 3 and one line that advises raising it, and writes no file."""
    monkeypatch.chdir(tmp_path)
    assert execute([command, "chain", *BY_CYCLES[command], "--max-cycles", "1000"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "chain: still running after 1000 cycles" in err
    assert err.endswith("or raise --max-cycles\n")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
