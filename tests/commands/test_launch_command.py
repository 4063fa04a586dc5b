"""Launch files from the command line, and machine code that runs with them; its program is replaced by one in text."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from lowered import stand_in
from read.fenced import ROOT
from read.schemas import check_document
from space_files import needs_compiler

from gpusim.commands.main import execute
from gpusim.launch.file import source

DATA = ROOT / "tests" / "isa" / "sass" / "data"
LAUNCH = """\
kernel = "flip"
grid = [3]
block = [32]
[[argument]]
name = "x"
buffer = "float32"
elements = 96
fill = "hash 1"
[[argument]]
value = 7
type = "int32"
[[argument]]
value = 1
type = "int8"
[[argument]]
value = 2.5
type = "float64"
[[expect]]
buffer = "x"
value = "2 * x"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with machine code for sm_90 and its launch file; every program doubles x."""
    stand_in(monkeypatch)
    monkeypatch.chdir(tmp_path)
    shutil.copy(DATA / "sm_90.cubin", "k.cubin")
    (tmp_path / "k.toml").write_text(LAUNCH)
    return tmp_path


def printed(capsys, *arguments):
    """Return the document that a command prints."""
    assert execute([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """Return the one line with which a command is refused."""
    assert execute(list(arguments)) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.mark.jit
@pytest.mark.usefixtures("folder")
def test_machine_code_runs_with_its_launch_file(capsys):
    """The machine is that of its architecture, the settings those of warm caches, and the values are checked."""
    found = printed(capsys, "run", "k.cubin")
    assert (found["kernel"], found["machine"], found["verified"]) == ("flip", "h200", True)
    assert (found["grid"], found["block"]) == ([3, 1, 1], [32, 1, 1])
    assert found["settings"] == {"l2.filled": 1}
    assert "ineffective" not in found


@pytest.mark.jit
def test_a_run_without_expected_values_says_what_does_not_run(folder, capsys):
    """Without [[expect]] nothing is compared, and blocks of other SMs don't run."""
    (folder / "k.toml").write_text(LAUNCH.partition("[[expect]]")[0])
    assert execute(["run", "k.cubin"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "no results are known for the blocks that ran; the other 2 of 3 blocks don't run" in screen


@pytest.mark.jit
def test_warm_caches_are_faster_than_cold_ones(folder, capsys):
    """With `caches = "cold"` loads come from the DRAM; `--set` goes before what the launch file asks for."""
    warm = printed(capsys, "run", "k.cubin")
    (folder / "k.toml").write_text(f'caches = "cold"\n{LAUNCH}')
    cold = printed(capsys, "run", "k.cubin")
    assert cold["settings"] == {}
    assert warm["cycles"] < cold["cycles"]
    assert printed(capsys, "run", "k.cubin", "--set", "l2.filled=1")["cycles"] == warm["cycles"]


@pytest.mark.jit
def test_wrong_values_end_with_1(folder, capsys):
    """Results other than those expected end with code 1, as those of a listing."""
    (folder / "k.toml").write_text(LAUNCH.replace("2 * x", "3 * x"))
    assert execute(["run", "k.cubin", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["verification"]
    assert found["wrong"] == found["values"] == 96


@pytest.mark.jit
@pytest.mark.parametrize("command", ["bound", "report", "timeline", "traffic"])
@pytest.mark.usefixtures("folder")
def test_other_commands_take_code_or_its_launch_file(capsys, command):
    """The code and its launch file mean the same kernel to every command."""
    first = printed(capsys, command, "k.cubin")
    assert first["kernel"] == "flip"
    assert printed(capsys, command, "k.toml") == first


@pytest.mark.jit
@pytest.mark.usefixtures("folder")
def test_sweeps_and_comparisons_take_code(capsys):
    """Variants are on the machine of the code, with its settings; another value of one changes the cycles."""
    found = printed(capsys, "compare", "k.cubin", "--set", "l2.filled=1,0")
    assert [one["machine"] for one in found["variants"]] == ["h200", "h200"]
    (other,) = found["differences"]
    assert other["cycles"] > 0
    found = printed(capsys, "sweep", "k.cubin", "--set", "global_memory.latency=500,1000", "--jobs", "1")
    assert len(found["rows"]) == 2


@pytest.mark.jit
def test_another_machine_only_by_force(folder, capsys):
    """A machine with other code is refused with the one that fits; `--force` or the launch file let it run."""
    error = refused(capsys, "run", "k.cubin", "--machine", "a100")
    advice = "take h100, h100-pcie, h200, compile for sm_80 (CUDA C: --arch 80), or "
    assert f"machine code for sm_90; a100 executes sm_80; {advice}" in error
    assert printed(capsys, "run", "k.cubin", "--machine", "a100", "--force")["machine"] == "a100"
    (folder / "k.toml").write_text(f"any_machine = true\n{LAUNCH}")
    assert printed(capsys, "run", "k.cubin", "--machine", "gtx580")["machine"] == "gtx580"


def test_options_that_do_not_fit(folder, capsys):
    """A parameter of code, and options of code for a listing, are refused in one line."""
    assert "k.cubin is machine code; change its launch file instead" in refused(capsys, "run", "k.cubin", "-p", "n=1")
    for option in (["--arch", "90"], ["--force"], ["--launch", "k.toml"], ["--nvcc-flags", "-O3"]):
        assert "chain is no machine code; leave the option out" in refused(capsys, "run", "chain", *option)
    assert "k.cubin: machine code for sm_90, not for sm_80" in refused(capsys, "run", "k.cubin", "--arch", "80")
    for command, what in (("asm", "no listing; gpusim sass prints it"), ("schedule", "whose order is its compiler's")):
        assert f"k.cubin: machine code, {what}" in refused(capsys, command, "k.cubin")
    (folder / "k.toml").unlink()
    assert "k.cubin: no launch file k.toml; gpusim launch k.cubin --out k.toml writes a first one" in refused(
        capsys, "run", "k.cubin"
    )


@pytest.mark.usefixtures("folder")
def test_a_whole_program_is_sent_to_exec(capsys):
    """CUDA C with a main(), and without a launch file, is a program: one line names the command that runs it."""
    Path("p.cu").write_text("__global__ void k() { }\nint main() { k<<<1, 1>>>(); }\n")
    assert refused(capsys, "run", "p.cu") == (
        "error: p.cu: a program with a main(); gpusim exec p.cu runs it, or gpusim launch p.cu --out p.toml "
        "writes a launch file of one kernel\n"
    )
    Path("p.cu").write_text("__global__ void k() { } // int main()\n")
    assert "p.cu: no launch file p.toml; gpusim launch p.cu --out p.toml writes" in refused(capsys, "run", "p.cu")


@pytest.mark.jit
def test_a_launch_file_is_written_and_runs(folder, capsys):
    """`gpusim launch` writes a file that `run` takes; it replaces none without --replace."""
    assert execute(["launch", "k.cubin", "flip", "-o", "new.toml"]) == 0
    assert capsys.readouterr().out == ""
    assert source.read(folder / "new.toml").file.code == "k.cubin"
    text = (folder / "new.toml").read_text()
    (folder / "new.toml").write_text(text.replace('name = "a1"', 'name = "x"'))
    assert printed(capsys, "run", "new.toml")["kernel"] == "flip"
    assert "k.toml: exists, and may have been edited; give --replace" in refused(
        capsys, "launch", "k.cubin", "flip", "--out", "k.toml"
    )
    assert execute(["launch", "k.cubin", "flip", "--out", "k.toml", "--replace"]) == 0
    assert "code =" not in (folder / "k.toml").read_text()


@pytest.mark.jit
def test_a_launch_file_from_another_folder(folder):
    """A launch file elsewhere names the code by a path from its own folder."""
    (folder / "there").mkdir()
    assert execute(["launch", "k.cubin", "flip", "--out", "there/k.toml"]) == 0
    found = source.read(folder / "there" / "k.toml")
    assert found.named("code", found.file.code).resolve() == folder / "k.cubin"


@pytest.mark.jit
@pytest.mark.usefixtures("folder")
def test_a_launch_file_is_printed(capsys):
    """Without a file it is printed, as TOML or as a document; of several kernels one must be named."""
    assert execute(["launch", "k.cubin", "flip"]) == 0
    assert capsys.readouterr().out.startswith("# A launch of flip in k.cubin; ")
    found = printed(capsys, "launch", "k.cubin", "flip")
    check_document(found, "launch")
    assert [one.get("type") for one in found["argument"]] == [None, "int32", "int8", None]
    message = "k.cubin: has kernels pairs, flip; name one behind it: gpusim launch k.cubin KERNEL"
    assert message in refused(capsys, "launch", "k.cubin")


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
def test_a_source_is_drafted_for_any_machine(tmp_path, monkeypatch, capsys):
    """The draft of CUDA C runs on machines of two architectures; one asked for by --arch is stated."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.cu").write_text('extern "C" __global__ void s(float *y) { y[threadIdx.x] = threadIdx.x; }')
    assert execute(["launch", "s.cu", "--out", "s.toml"]) == 0
    found = [printed(capsys, "run", "s.cu", "--machine", name)["machine"] for name in ("rtx3090", "h200")]
    assert found == ["rtx3090", "h200"]
    assert execute(["launch", "s.cu", "--arch", "86"]) == 0
    assert "\narchitecture = 86\n" in capsys.readouterr().out


@pytest.mark.jit
def test_arrays_in_files(folder, capsys):
    """Contents and results may come from .npy files."""
    x = np.arange(96, dtype=np.float32)
    np.save("x.npy", x)
    np.save("y.npy", 2 * x)
    text = LAUNCH.replace('buffer = "float32"\nelements = 96\nfill = "hash 1"', 'file = "x.npy"')
    (folder / "k.toml").write_text(text.replace('value = "2 * x"', 'file = "y.npy"'))
    found = printed(capsys, "run", "k.cubin")
    assert (found["verified"], found["verification"]["values"]) == (True, 96)
