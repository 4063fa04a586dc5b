"""The options of machine code: every command that runs it takes the same ones, and reads it alike."""

import json
from pathlib import Path
from shutil import copy
from typing import get_args, get_type_hints

import pytest

from gpusim.commands.frame.command import flat
from gpusim.commands.frame.options import CodeOptions
from gpusim.commands.main import execute, function_of

SAXPY = Path("examples/saxpy.sass")
OUT = {"view": ["--out", "view.html"], "export": ["--format", "csv", "--out", "out.csv"]}
MORE = {"explain": ["--warp", "0", "--cycle", "0"], **OUT}
COMMANDS = (
    *("run", "report", "timeline", "explain", "view", "export", "limits", "sweep", "compare", "hazards", "bound"),
    *("codes", "races", "traffic"),
)


def declared(of):
    """Return what the options of a function or group take, with their names and help, by parameter."""
    kinds = {name: get_args(kind) for name, kind in get_type_hints(of, include_extras=True).items()}
    return {name: (one[0], one[1].default, one[1].help) for name, one in kinds.items() if one[1:]}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_shared_options(name):
    """All have --arch, --launch, --nvcc-flags, --force and --strict by the shared declarations."""
    taken = declared(flat(function_of(name)))
    shared = declared(CodeOptions)
    assert {each: taken[each] for each in shared} == shared


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", [["--arch", "90"], ["--launch", "k.toml"], ["--nvcc-flags", "-O3"]])
def test_a_listing_has_no_such_options(capsys, monkeypatch, tmp_path, name, option):
    """An option of machine code beside a listing ends in one line that names it."""
    listing = str(Path("examples/reduce.asm").resolve())
    monkeypatch.chdir(tmp_path)
    assert execute([name, listing, *MORE.get(name, []), *option]) == 2
    assert capsys.readouterr().err == f"error: {option[0]}: {listing} is no machine code; leave the option out\n"


@pytest.fixture
def apart(tmp_path):
    """Machine code, and a launch file elsewhere, which has one block in place of eight."""
    code = copy(SAXPY, tmp_path / "k.sass")
    (tmp_path / "other").mkdir()
    launch = tmp_path / "other" / "one.toml"
    launch.write_text(SAXPY.with_suffix(".toml").read_text().replace("grid = [8]", "grid = [1]"))
    return [str(code), "--launch", str(launch)]


@pytest.mark.jit
@pytest.mark.parametrize("name", ["races", "traffic", "bound", "hazards", "report", "codes"])
def test_a_launch_file_may_lie_elsewhere(capsys, apart, name):
    """The launch that --launch names is what is run."""
    assert execute([name, *apart, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kernel"] == "saxpy"
    assert found.get("blocks", 1) == 1


@pytest.mark.jit
@pytest.mark.parametrize("name", ["timeline", "view", "export", "explain"])
def test_timelines_are_of_the_launch_that_is_named(capsys, monkeypatch, apart, tmp_path, name):
    """So are all that show a timeline."""
    monkeypatch.chdir(tmp_path)
    assert execute([name, *apart, *MORE.get(name, []), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.jit
def test_a_timeline_of_a_file_takes_no_such_option(capsys, apart, tmp_path):
    """A timeline that is kept in a file is of a finished run."""
    kept = str(tmp_path / "t.json")
    assert execute(["timeline", *apart, "--out", kept]) == 0
    assert execute(["timeline", kept, "--arch", "90"]) == 2
    assert "leave out kernel and machine options" in capsys.readouterr().err


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "machine"), [("report", "a100"), ("bound", "rtx3090"), ("compare", "a100"), ("codes", "a100")]
)
def test_another_architecture_needs_force(capsys, apart, name, machine):
    """Code of sm_90 on a machine of another kind is refused, and run with --force: what if."""
    code, *launch = apart
    names = [code, code] if name == "compare" else [code]
    asked = [name, *names, *launch, "--machine", machine]
    assert execute(asked) == 2
    assert "force it, to see what if" in capsys.readouterr().err
    assert execute([*asked, "--force"]) == 0


@pytest.mark.jit
def test_a_sweep_knows_its_launch_file(capsys, apart, tmp_path):
    """Results that are kept of one launch are not taken for another one's."""
    asked = ["sweep", *apart, "--set", "schedulers.count=2,4", "--jobs", "1", "--out", str(tmp_path / "out"), "--json"]
    assert execute(asked) == 0
    capsys.readouterr()
    assert execute(asked) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 2
    Path(apart[-1]).write_text(Path(apart[-1]).read_text().replace("grid = [1]", "grid = [2]"))
    assert execute(asked) == 2


@pytest.mark.parametrize("file", ["k.cu", "k.cubin", "k.sass", "k.toml"])
def test_machine_code_is_not_reordered(capsys, file):
    """The scheduler of listings refuses the machine code of any file in one line, before it reads the file."""
    assert execute(["schedule", file]) == 2
    expected = f"error: {file}: machine code, whose order is its compiler's; reorder a listing\n"
    assert capsys.readouterr().err == expected
