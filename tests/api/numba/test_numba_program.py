"""A program of Numba's users, unchanged, run by `gpusim exec`."""

import shutil

import pytest

from gpusim.commands.main import execute
from gpusim.programs import link
from isa.errors import UserError
from isa.nvidia.compiler import tools

pytest.importorskip("numba_cuda")
pytestmark = [
    pytest.mark.jit,
    pytest.mark.long,
    pytest.mark.skipif(
        not (tools.installed("ptxas") and tools.installed("nvcc") and shutil.which("g++")),
        reason="ptxas, nvcc (extra cuda) or g++ is not installed",
    ),
]
PROGRAM = """\
import sys

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def halved_if_odd(n):
    while n % 2:
        n //= 2
    return n


@cuda.jit
def scaled(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = halved_if_odd(x[i]) * factor


x = np.arange(100)
held = cuda.to_device(x)
scaled[4, 32](held, int(sys.argv[1]))
print(held.copy_to_host()[:8].tolist(), *cuda.get_current_device().compute_capability)
"""


def test_a_program_of_numba(tmp_path, capfd):
    """It compiles for the card through its own driver calls, prints its results, and its launch is in the table."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    assert execute(["exec", str(file), "--machine", "a100", "--time", "none", "--", "3"]) == 0
    out = capfd.readouterr().out
    assert "[0, 0, 6, 0, 12, 6, 18, 0] 8 0" in out
    assert "1 launch on a100: values only" in out


def test_a_program_that_is_not_there(tmp_path):
    """A file of Python that can't be read is refused; another one is the first argument of this Python."""
    file = tmp_path / "program.py"
    with pytest.raises(UserError, match=r"program\.py: No such file or directory; give a program"):
        link.executable(file, 90, (), tmp_path)
    assert link.arguments_of(file, ["a"]) == (str(file), "a")
    assert link.arguments_of(tmp_path / "app", ["a"]) == ("a",)
