"""Every file that a command writes, with file sizes limited to some bytes as on a full disk."""

import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_options import options
from draws import few

from gpusim.commands.main import COMMANDS, execute

LISTING = Path("examples/saxpy.asm").resolve()
# Files that are read.
READ = {"sweep --t1", "validate --measured", "machines --read"} | {f"{name} --launch" for name in COMMANDS}
SWEPT = ["sweep", str(LISTING), "--set", "unit.fp32.latency=9:18:9", "--jobs", "1"]
VALIDATED = ["validate", "h200", "--kernels", "--only", "saxpy", "--only", "solo"]
OUTPUTS = {
    "run --trace": ["run", str(LISTING), "--trace", "x.npy"],
    "timeline --out": ["timeline", str(LISTING), "--out", "x.json.gz"],
    "view --out": ["view", str(LISTING), "--out", "x.html"],
    **{
        f"export --out {form}": ["export", str(LISTING), "--format", form, "--out", f"x.{form}"]
        for form in ("kanata", "perfetto", "csv", "parquet", "svg", "json")
    },
    "schedule --out": ["schedule", str(LISTING), "--out", "x.asm"],
    "space --csv": ["space", "zgemm", "--csv", "x.csv"],
    "launch --out": ["launch", str(LISTING.with_suffix(".sass")), "--out", "x.toml"],
    "schema --out": ["schema", "run", "--out", "x.json"],
    "sweep --out": [*SWEPT, "--out", "x"],
    "compare --html": ["compare", str(LISTING), "--set", "unit.fp32.latency=9,18", "--html", "x.html"],
    "limits --html": ["limits", str(LISTING), "--jobs", "1", "--html", "x.html"],
    "sweep --html": [*SWEPT, "--html", "x.html"],
    "sweep --plot": [*SWEPT, "--plot", "x.svg"],
    "sweep --kernel-tuner": [*SWEPT, "--kernel-tuner", "x.json"],
    "validate --plot": [*VALIDATED, "--plot", "x.svg"],
    "validate --markdown": [*VALIDATED, "--markdown", "x.md"],
    "examples --copy": ["examples", "--copy", "x"],
    "lessons --copy": ["lessons", "--copy", "x"],
    "machines --out": ["machines", "new", "own", "--like", "h200", "--sheet", "sms=8", "--out", "x.toml"],
    "sweep --t4": [*SWEPT, "--t4", "x.json"],
}
# These commands take long and write as others do: by whole_file.write, or as sweep does.
SLOW = {"tune --out", "tune --kernel-tuner", "tune --t4", "exec --csv", "exec --view", "exec --capture"} | {
    f"reproduce --{option}" for option in ("csv", "markdown", "plots", "tried")
}
UNKEPT = "warning: compiled code is not kept"  # what is compiled meanwhile finds the disk full, too
PARALLEL = {"compare --html", "limits --html"}  # their processes share semaphores, small files
RESUMED = {"sweep --out"}  # the next run continues from the results written so far


@contextmanager
def room(nbytes):
    """Let no file grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_every_option_that_names_a_file_is_here():
    """Every option that writes a file is tried here, but for the slow ones."""
    assert {f"{name} {option}" for name, option, _ in options(Path)} - READ - SLOW == {
        " ".join(where.split()[:2]) for where in OUTPUTS
    }


@pytest.mark.jit
@pytest.mark.parametrize("where", OUTPUTS)
@pytest.mark.parametrize("nbytes", few([64, 0], 1))
def test_a_full_disk_is_one_line_and_leaves_nothing(where, nbytes, tmp_path, monkeypatch, capsys):
    """One line names the file, the exit code is 2, and no part of the file is left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("kept")
    if "parquet" in where:
        pytest.importorskip("pyarrow")
    if "plot" in where:
        pytest.importorskip("matplotlib")
    with room(max(nbytes, 64) if where in PARALLEL else nbytes):
        code = execute(OUTPUTS[where])
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines() if not line.startswith(UNKEPT)]
    assert (code, out, len(told)) == (2, "", 1)
    assert told[0].startswith("error: x")
    assert "file too large" in told[0].lower()
    left = sorted(path.name for path in tmp_path.rglob("*"))
    assert [name for name in left if where not in RESUMED or name not in ("x", "results.jsonl")] == ["old"]


@pytest.mark.jit
@pytest.mark.parametrize("nbytes", [0, 64, 400])
def test_a_sweep_goes_on_where_the_disk_was_full(nbytes, tmp_path, monkeypatch, capsys):
    """After a full disk a sweep with room again ends with the results of an undisturbed one."""
    monkeypatch.chdir(tmp_path)
    with room(nbytes):
        assert execute([*SWEPT, "--out", "x"]) == 2
    assert execute([*SWEPT, "--out", "x"]) == 0
    assert execute([*SWEPT, "--out", "y"]) == 0
    assert Path("x/results.csv").read_bytes() == Path("y/results.csv").read_bytes()
    capsys.readouterr()
