"""Estimates from whole waves, compared with runs of all blocks."""

import numpy as np
import pytest
from space_files import needs_compiler

from gpusim.engines.simulate import run_sm
from gpusim.launch_file.caches import holding
from gpusim.machine.machine import load
from gpusim.raw_module import RawModule
from gpusim.simulation import simulate
from gpusim.waves import Share
from isa.errors import UserError
from isa.text.listing import read

pytestmark = pytest.mark.jit
TWO_SMS = load("gtx580", {"chip.sms": 2})
BORDER = """.grid 9 {rows}
.block 256
.buffer a f32 1048576
S2R R0, CTAID.X
S2R R1, CTAID.Y
S2R R2, TID.X
MOV R4, {most}
ISETP.EQ P0, R0, 8
@P0 MOV R4, {few}
ISETP.EQ P0, R1, {last}
@P0 MOV R4, {few}
IMAD R3, R0, 256, R2
SHL R3, R3, 2
IADD R3, R3, c[a]
MOV R5, 0
again:
LDG R6, [R3]
FFMA R7, R6, R6, R7
FFMA R8, R7, R7, R8
IADD R5, R5, 1
ISETP.LT P0, R5, R4
@P0 BRA again
STG [R3], R8
EXIT
"""


def border(rows=11, most=20, few=10):
    """A grid whose blocks in the right column and in the last row do less."""
    return read(BORDER.format(rows=rows, most=most, few=few, last=rows - 1))


@pytest.mark.parametrize("few", [10, 15, 19])
@pytest.mark.parametrize("rows", [11, 12, 17])
def test_blocks_that_differ_are_scaled_by_their_work(rows, few):
    """From 12 of 50 to 77 blocks the time of all is told within 3 %, and their warp instructions exactly."""
    kernel = border(rows, few=few)
    whole, sampled = simulate(kernel, TWO_SMS, values=False), simulate(kernel, TWO_SMS, values=False, sample=12)
    assert (sampled.scaling.method, whole.scaling.method) == ("work", "complete")
    assert sampled.scaling.simulated_blocks == 12
    assert sampled.cycles == pytest.approx(whole.cycles, rel=0.03)
    assert sampled.warp_instructions == whole.warp_instructions


def test_most_blocks_must_be_alike():
    """Where fewer than half of the SM's blocks are of one class, none stand for all."""
    loop = "again:\nIADD R1, R1, 1\nISETP.LT P0, R1, R0\n@P0 BRA again\nEXIT"
    text = f".grid 64\nS2R R0, CTAID.X\nLOP.AND R0, R0, 30\n{loop}"
    one = load("gtx580", {"chip.sms": 1, "limits.blocks": 2})
    with pytest.raises(UserError, match="its blocks differ"):
        simulate(read(text), one, sample=4)


def test_the_sms_first_blocks_can_be_skipped():
    """The blocks after those that are skipped issue what the run of all issues beyond that of the skipped ones."""
    kernel = border()
    whole, first, rest = (
        run_sm(kernel, TWO_SMS, feed="trace-driven", **given) for given in ({}, {"blocks": 44}, {"skip": 44})
    )
    assert (whole.blocks, first.blocks, rest.blocks) == (50, 44, 6)
    assert np.array_equal(whole.issued, first.issued + rest.issued)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_engines_skip_the_same_blocks(engine):
    """Both engines simulate the same blocks, in the same cycles."""
    run = run_sm(border(rows=3), TWO_SMS, engine=engine, feed="trace-driven", skip=4, blocks=5)
    assert (run.blocks, run.cycles) == (5, run_sm(border(rows=3), TWO_SMS, skip=4, blocks=5).cycles)


def test_work_is_waves_where_blocks_are_alike():
    """Without work of their own seven blocks, two at a time, are three whole waves; else their warp instructions."""
    assert (Share(7, 2).done(7), Share(7, 2).done(4)) == (3, 2)
    share = Share(3, 1, np.array([5, 7, 11]))
    assert (share.done(2), share.done(3)) == (12, 23)


STENCIL = """
extern "C" __global__ void stencil(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  for (int i = 0; i < ROWS; i++, y++) {
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) continue;
    const float *at = in + y * width + x;
    out[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]) - at[0];
  }
}
"""
CONVOLUTION = """
extern "C" __global__ void convolution(const float *in, float *out, int width, int height) {
  __shared__ float tile[ROWS * 8 + 4][36];
  int left = blockIdx.x * 32, top = blockIdx.y * ROWS * 8;
  for (int i = threadIdx.y; i < ROWS * 8 + 4; i += 8)
    for (int j = threadIdx.x; j < 36; j += 32)
      if (top + i < height + 4 && left + j < width + 4) tile[i][j] = in[(top + i) * (width + 4) + left + j];
  __syncthreads();
  for (int i = threadIdx.y; i < ROWS * 8; i += 8) {
    float sum = 0;
    for (int k = 0; k < 25; k++) sum += tile[i + k / 5][threadIdx.x + k % 5] * (k + 1);
    int x = left + threadIdx.x, y = top + i;
    if (x < width && y < height) out[y * width + x] = sum;
  }
}
"""


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("source", "name"), [(STENCIL, "stencil"), (CONVOLUTION, "convolution")])
def test_kernels_with_borders_are_told_from_some_waves(source, name, rows):
    """Half of the blocks of a stencil and of a convolution, whose borders do less, tell the time within 3 %."""
    card, _ = holding(load("rtx3090", {"chip.sms": 2}), "warm")
    width, height = 500, 333
    arrays = np.zeros((height + 4) * (width + 4), np.float32), np.zeros(height * width, np.float32)
    module = RawModule(source, options=(f"-DROWS={rows}",), architecture=86)
    args = *arrays, np.int32(width), np.int32(height)
    kernel = module.get_function(name).launched((16, -(-height // (8 * rows))), (32, 8), args)
    whole = simulate(kernel, card, values=False)
    sampled = simulate(kernel, card, values=False, sample=whole.run.blocks // 2)
    assert sampled.scaling.method == "work"
    assert sampled.cycles == pytest.approx(whole.cycles, rel=0.03)
    assert sampled.warp_instructions == whole.warp_instructions
