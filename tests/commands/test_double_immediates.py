"""Machine code with 64-bit numbers in its text: every command that reads it prints it.

The code is that of tests/isa/sass/data/doubles.cu.
"""

import json
from pathlib import Path
from shutil import copy

import pytest

from gpusim.commands.main import execute

DATA = Path(__file__).parent.parent / "isa" / "sass" / "data"
LAUNCH = """
grid = [1]
block = [32]

[[argument]]
name = "x"
buffer = "float64"
elements = 32
fill = "hash 1"

[[argument]]
name = "y"
buffer = "float64"
elements = 32
fill = "zero"
"""
AT = ["--warp", "0", "--cycle", "300"]


@pytest.fixture
def doubles(tmp_path):
    """The path of the code, with its launch file next to it."""
    (tmp_path / "doubles.toml").write_text(LAUNCH)
    return str(copy(DATA / "doubles_90.sass", tmp_path / "doubles.sass"))


@pytest.mark.parametrize("name", ["codes", "report", "timeline", "explain", "hazards", "races", "bound"])
def test_commands_take_doubles_in_the_text(capsys, doubles, name):
    """A comparison with 0.5, and sums and products with numbers, neither end the command nor change their text."""
    assert execute([name, doubles, *(AT if name == "explain" else []), "--json"]) == 0
    printed = json.dumps(json.loads(capsys.readouterr().out))
    if name in ("codes", "timeline"):
        assert "DSETP.GT.AND P0, PT, R2, 0.5, PT" in printed
        assert "DFMA R4, R2.reuse, R4, 0.125" in printed
