"""Tune a filter in constant memory: a strategy, restrictions, a cache, points with too much shared memory."""

import kernel_tuner
import numpy as np

source = """
#define TILE (block_size_x * tile_size_x)
__constant__ float weights[17];

extern "C" __global__ void filtered(float *output, const float *input) {
  __shared__ float kept[(TILE + 16) * depth];
  int first = blockIdx.x * TILE;
  for (int i = threadIdx.x; i < TILE + 16; i += block_size_x) kept[i] = input[first + i];
  __syncthreads();
  for (int t = threadIdx.x; t < TILE; t += block_size_x) {
    float sum = 0;
    for (int i = 0; i < 17; i++) sum += kept[t + i] * weights[i];
    output[first + t] = sum;
  }
}
"""

width = 1 << 14
image = np.arange(width + 16, dtype=np.float32) % 101
weights = np.linspace(0, 1, 17, dtype=np.float32)
answer = np.convolve(image, weights[::-1], "valid").astype(np.float32)

results, env = kernel_tuner.tune_kernel(
    "filtered",
    source,
    width,
    [np.zeros(width, np.float32), image],
    {"block_size_x": [32, 128], "tile_size_x": [1, 2, 4], "depth": [1, 64]},
    grid_div_x=["block_size_x * tile_size_x"],
    restrictions=["block_size_x * tile_size_x <= 256", "depth == 1 or tile_size_x < 4"],
    cmem_args={"weights": weights},
    answer=[answer, None],
    atol=1e-2,
    strategy="random_sample",
    strategy_options={"max_fevals": 7},
    cache="filtered",
    quiet=True,
)
