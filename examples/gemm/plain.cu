// Plain loads: each tile goes through registers, and nothing is multiplied until it lies in shared memory.
#include "tiles.h"

extern "C" __global__ void __launch_bounds__(THREADS) gemm(const half *a, const half *b, float *c, int n, int depth) {
  extern __shared__ __align__(1024) char tiles[]; // of A, then of B
  a += blockIdx.y * TILE * depth, b += blockIdx.x * TILE * depth;
  Sums sums;
  for (int k = 0; k < depth; k += DEPTH) {
#pragma unroll
    for (int i = threadIdx.x; i < TILE * 8; i += THREADS) {
      *(uint4 *)&tiles[swizzled(i / 8, i % 8)] = *(const uint4 *)&a[i / 8 * depth + k + i % 8 * 8];
      *(uint4 *)&tiles[TILE * ROW + swizzled(i / 8, i % 8)] = *(const uint4 *)&b[i / 8 * depth + k + i % 8 * 8];
    }
    __syncthreads();
    sums.multiply(tiles, tiles + TILE * ROW);
    __syncthreads();
  }
  sums.store(&c[blockIdx.y * TILE * n + blockIdx.x * TILE], n);
}
