"""Space files of tests: a kernel that adds numbers, with a tunable block and tunable additions of a thread."""

import shutil

import pytest

from isa.nvidia.compiler import nvrtc, tools

needs_compiler = pytest.mark.skipif(
    not (nvrtc.available() or (tools.installed("nvcc") and shutil.which("g++"))), reason="extra cuda is not installed"
)
POINT = {"BLOCK": 64, "EACH": 2, "PAD": 1}
SOURCE = """\
extern "C" __global__ void sum(const float *x, float *y, int n) {
  __shared__ float kept[BLOCK * PAD];
  int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
  for (int i = 0; i < EACH; i++) {
    int at = first + i * BLOCK;
    kept[threadIdx.x] = x[at];
    if (at < n) y[at] = kept[threadIdx.x] + 1.0f;
  }
}
"""
SPACE = """\
source = "sum.cu"
restrictions = ["BLOCK * EACH <= 512"]

[parameters]
BLOCK = [64, 128, 2048]
EACH = "range(1, 3)"
PAD = [1, 2]

[sizes]
N = 16384

[check]
N = 1024

[launch]
grid = ["N // (BLOCK * EACH)"]
block = ["BLOCK"]
flops = "N"
bytes = "8 * N"

[[launch.argument]]
name = "x"
buffer = "float32"
elements = "N"
fill = "hash 1"

[[launch.argument]]
name = "y"
buffer = "float32"
elements = "N"

[[launch.argument]]
value = "N"
type = "int32"

[[launch.expect]]
buffer = "y"
value = "x + 1"
relative = 1e-6
"""


def written(folder, text=SPACE, source=SOURCE):
    """Write a space file with its source into a folder, and return its path."""
    (folder / "sum.cu").write_text(source)
    path = folder / "sum.toml"
    path.write_text(text)
    return path
