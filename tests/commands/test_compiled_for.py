"""CUDA C is compiled for the machine that is named; a stand-in for the compiler gives the cubin of an architecture."""

import json

import numpy as np
import pytest
from lowered import stand_in
from test_launch_command import DATA, LAUNCH

import gpusim
from gpusim.commands.main import execute
from gpusim.launch.file.prepare import prepared
from isa.architecture import Target
from isa.nvidia.compiler import compile


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The path of a file of CUDA C with its launch file; every program doubles x."""
    stand_in(monkeypatch)
    compiled = {one: (DATA / f"sm_{one}.cubin").read_bytes() for one in (75, 80, 90)}
    monkeypatch.setattr(
        compile,
        "compile_file",
        lambda _, architecture, flags: compiled[int(flags[0][-2:]) if flags else architecture or 90],
    )
    path = tmp_path / "k.cu"
    path.write_text("")
    path.with_suffix(".toml").write_text(LAUNCH)
    return str(path)


def printed(capsys, *arguments):
    """Return the document that a command prints."""
    assert execute([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["a100", "rtx2080ti", "h200"])
@pytest.mark.parametrize("command", ["run", "report", "bound", "timeline", "traffic", "limits", "sweep"])
def test_the_machine_says_for_what_is_compiled(capsys, source, command, machine):
    """Neither the launch file nor an option names an architecture: the code is the machine's, and runs there."""
    more = ["--set", "global_memory.latency=500,600", "--jobs", "1"] if command == "sweep" else []
    found = printed(capsys, command, source, "--machine", machine, *more)
    assert "executes sm_" not in json.dumps(found)  # a sweep says so in its rows
    assert found


@pytest.mark.jit
def test_machines_beside_each_other_have_their_own_code(capsys, source):
    """A comparison compiles for each."""
    found = printed(capsys, "compare", source, "--machine", "a100", "--machine", "h200")
    assert [one["machine"] for one in found["variants"]] == ["a100", "h200"]


@pytest.mark.jit
def test_python_names_machines_too(source, tmp_path):
    """As a name, as a path, and as an object."""
    own = tmp_path / "own.toml"
    own.write_text('extends = "a100"\nname = "Own"\n')
    for machine in ("a100", own, gpusim.load("a100")):
        assert gpusim.simulate(source, machine).kernel.target == Target("nvidia", 80)
    assert gpusim.simulate(source).kernel.target == Target("nvidia", 90)
    with pytest.raises(gpusim.UserError, match=r"^machine=3: give the name of a machine"):
        gpusim.simulate(source, 3)


@pytest.mark.parametrize("words", [["--arch", "90"], ["--nvcc-flags=-arch=sm_90"], []])
def test_what_is_asked_for_goes_before(capsys, source, tmp_path, words):
    """An option, of the compiler too, or the launch file names an architecture: other machines say what to do."""
    if not words:
        (tmp_path / "k.toml").write_text(f"architecture = 90\n{LAUNCH}")
    assert execute(["bound", source, "--machine", "a100", *words]) == 2
    advice = "take h100, h100-pcie, h200, compile for sm_80 (CUDA C: --arch 80), or force it, to see what if (--force)"
    assert capsys.readouterr().err == f"error: flip: machine code for sm_90; a100 executes sm_80; {advice}\n"


@pytest.mark.parametrize("machine", ["gtx580", "v100"])
def test_a_machine_that_executes_no_such_code_is_refused(capsys, source, machine):
    """The code is that of no machine then, and the message names the option that forces it."""
    assert execute(["bound", source, "--machine", machine]) == 2
    assert capsys.readouterr().err.endswith("; take h100, h100-pcie, h200, or force it, to see what if (--force)\n")


@pytest.mark.jit
def test_python_says_what_to_do_in_its_words():
    """A module of one architecture names the argument of RawModule, and that of a call."""
    function = gpusim.RawModule(path=DATA / "sm_90.cubin").get_function("flip")
    arguments = np.zeros(64, "f4"), np.int32(0), np.int8(0), 1.0
    with pytest.raises(gpusim.UserError, match=r"CUDA C: architecture=80\), or force it, to see what if \(force\)$"):
        function((1,), (32,), arguments, machine="a100")


def test_code_is_not_compiled_again(tmp_path, monkeypatch):
    """A cubin has the architecture that it has."""
    stand_in(monkeypatch)
    (tmp_path / "k.cubin").write_bytes((DATA / "sm_90.cubin").read_bytes())
    (tmp_path / "k.toml").write_text(LAUNCH)
    assert prepared(str(tmp_path / "k.cubin"), compiled_for=80).target == Target("nvidia", 90)
