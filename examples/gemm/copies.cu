// cp.async: copies go past the registers into three stages, two tiles ahead of the one that is multiplied.
#include "copied.h"

extern "C" __global__ void __launch_bounds__(THREADS) gemm(const half *a, const half *b, float *c, int n, int depth) {
  extern __shared__ __align__(1024) char tiles[];
  Copies copies{a + blockIdx.y * TILE * depth, b + blockIdx.x * TILE * depth, tiles, depth};
  copies.begin();
  Sums sums;
  for (int k = 0; k < depth; k += DEPTH) {
    const char *stage = copies.next(k);
    sums.multiply(stage, stage + TILE * ROW);
  }
  sums.store(&c[blockIdx.y * TILE * n + blockIdx.x * TILE], n);
}
