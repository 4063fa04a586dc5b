"""Tune a sum of vectors: a script for Kernel Tuner, as its users write them."""

import numpy
from kernel_tuner import tune_kernel

kernel_string = """
__global__ void vector_add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * block_size_x * each + threadIdx.x;
  for (int k = 0; k < each; k++, i += block_size_x)
    if (i < n) c[i] = a[i] + b[i];
}
"""

size = 100_000
a = numpy.random.randn(size).astype(numpy.float32)
b = numpy.random.randn(size).astype(numpy.float32)
c = numpy.zeros_like(b)
n = numpy.int32(size)

tune_params = {"block_size_x": [64, 256, 1024, 2048], "each": [1, 2]}
results, env = tune_kernel(
    "vector_add",
    kernel_string,
    size,
    [c, a, b, n],
    tune_params,
    grid_div_x=["block_size_x", "each"],
    answer=[a + b, None, None, None],
    metrics={"GB/s": lambda p: 3 * 4 * size / p["time"] / 1e6},
    quiet=True,
)
