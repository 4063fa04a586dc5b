"""Every number of a launch file may be an extreme one."""

import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from draws import few
from lowered import stand_in

from gpusim.bounds.bounds import bound
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from isa.errors import UserError

DATA = Path(__file__).parents[2] / "isa" / "sass" / "data"
EXTREME = "0", "-1", "2147483647", "2147483648", "9223372036854775807", "18446744073709551616", f"{10**400}"
REALS = "1e400", "nan", "-inf", "1e-400", "0.5", "true"
PLACES = {  # the line of LAUNCH, and what takes its place
    "grid": ("grid = [2]", "grid = [{}]"),
    "grid x y": ("grid = [2]", "grid = [{0}, {0}]"),
    "grid x y z": ("grid = [2]", "grid = [{}, 65535, 65535]"),
    "block": ("block = [32]", "block = [{}]"),
    "block x y z": ("block = [32]", "block = [{0}, {0}, {0}]"),
    "shared": ("shared = 0", "shared = {}"),
    "stack": ("stack = 1024", "stack = {}"),
    "flops": ("flops = 1", "flops = {}"),
    "architecture": ("architecture = 90", "architecture = {}"),
    "elements": ("elements = 64", "elements = {}"),
    "offset": ("offset = 0", "offset = {}"),
    "value": ("value = 7", "value = {}"),
    "hash": ("hash 1", "hash {0} {0} {0}"),
    "constant": ("hash 1", "constant {}"),
    "values": ("hash 1", "values {0} {0}"),
    "within": ("within = 0", "within = {}"),
    "relative": ("relative = 0", "relative = {}"),
    "expected": ("2 * x", "{} * x"),
    "texture": ("elements = 64", "texture = {{ size = [{0}, {0}] }}"),
}
LAUNCH = """\
kernel = "flip"
grid = [2]
block = [32]
shared = 0
stack = 1024
flops = 1
architecture = 90
[[argument]]
name = "x"
buffer = "float32"
elements = 64
fill = "hash 1"
offset = 0
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
within = 0
relative = 0
"""


def written(folder, place, number):
    """Write a launch file with the number at a place, beside a cubin; return the cubin's path."""
    old, new = PLACES[place]
    assert LAUNCH.count(old) == 1
    path = folder / "k.cubin"
    shutil.copy(DATA / "sm_90.cubin", path)
    path.with_suffix(".toml").write_text(LAUNCH.replace(old, new.format(number)))
    return path


@pytest.mark.parametrize(("place", "number"), few(list(product(PLACES, (*EXTREME, *REALS))), 60))
def test_any_number_works_or_is_one_line(place, number, tmp_path, monkeypatch):
    """Each number of a launch file with each extreme value makes a kernel that has a bound, or is refused in a line."""
    stand_in(monkeypatch)
    with suppress(UserError):  # whose message is one line
        kernel = prepared(str(written(tmp_path, place, number)))
        assert kernel.blocks < 2**31
        bound(kernel, load("h200"), limit=10_000)


def test_a_grid_whose_blocks_have_no_number(tmp_path):
    """A grid that CUDA's sizes allow, of more blocks than 31 bits count, is refused at its place."""
    with pytest.raises(UserError, match=r"k\.toml:2:1: grid: 9223\d+ blocks; take 2147483647 at most"):
        prepared(str(written(tmp_path, "grid x y z", "2147483647")))
