"""Machine code that reads behind a buffer: told by default, refused with --strict."""

import json
import shutil

import pytest
from read.fenced import ROOT

from gpusim.commands.main import execute

FIRST = "saxpy+0x100 LDG.E R2, desc[UR6][R2.64]"


@pytest.fixture
def short(tmp_path):
    """A launch of saxpy over 1,000 elements, of whose x the launch file has 900."""
    shutil.copy(ROOT / "examples" / "saxpy.sass", tmp_path)
    text = (ROOT / "examples" / "saxpy.toml").read_text()
    assert 'elements = 1000\nfill = "hash 1"' in text
    launch = tmp_path / "saxpy.toml"
    launch.write_text(text.replace("elements = 1000", "elements = 900", 1).partition("[[expect]]")[0])
    return launch


@pytest.mark.jit
def test_a_run_tells_of_loads_behind_a_buffer(short, capsys):
    """The eighth block's SM alone runs: its threads 4 to 103 read behind x; the document counts them, too."""
    assert execute(["run", str(short), "--sms", "all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"reads saxpy: {FIRST}, block 7, warp 0, lane 4 and 99 other loads: 4 bytes at" in shown
    assert "0 behind the end of x" in shown
    assert execute(["run", str(short), "--sms", "all", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["beyond"]
    assert (found["loads"], found["block"], found["warp"], found["lane"]) == (100, 7, 0, 4)


@pytest.mark.jit
def test_strict_ends_there(short, capsys):
    """With --strict the same launch ends with one line and code 2."""
    assert execute(["run", str(short), "--sms", "all", "--strict"]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert FIRST in line
    assert "lie in no buffer; the nearest is x" in line


def test_strict_is_for_machine_code(capsys):
    """Listings declare their buffers, and kernels of the catalog have their own: the option is refused."""
    assert execute(["run", "chain", "--strict"]) == 2
    assert "--strict: chain is no machine code; leave the option out" in capsys.readouterr().err
