"""Launches of a card that are written as launch files."""

import json
import shutil

import numpy as np
import pytest

import gpusim
from gpusim import cupy as cp
from gpusim.commands.main import execute
from isa.nvidia.compiler import tools

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(
        not (tools.installed("nvcc") and tools.installed("nvdisasm") and shutil.which("g++")),
        reason="nvcc (extra cuda), nvdisasm or g++ is not installed",
    ),
]
TRIPLE = 'extern "C" __global__ void triple(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3; }'


def test_a_captured_launch_runs_again(tmp_path, capsys):
    """The first of alike launches is a file, whose cycles are those of the launch; the second one is not."""
    with cp.active("h200", capture=tmp_path / "made") as card:
        x = cp.asarray(np.arange(32, dtype=np.float32))
        kernel = cp.RawKernel(TRIPLE, "triple")
        for _ in range(2):
            kernel((1,), (32,), (x, np.int32(20)))
    (file,) = (tmp_path / "made").glob("*.toml")
    assert execute(["run", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == card.launches[0].figures.cycles


def test_a_text_can_not_be_captured(tmp_path):
    """A launch of a dump's text, which has no cubin, is refused in one line."""
    module = gpusim.RawModule(path="examples/saxpy.sass")
    with pytest.raises(gpusim.UserError, match="can't be captured; load a cubin"):
        module.get_function(module.kernels[0]).capture(tmp_path / "x.toml", (1,), (32,), ())
