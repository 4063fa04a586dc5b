// Stages of shared memory that cp.async fills: one group of copies for each tile.
#pragma once
#include "tiles.h"
#include <cuda_pipeline.h>

constexpr int STAGES = 3, STAGE_BYTES = 2 * TILE * ROW;

struct Copies {
  const half *a, *b;
  char *tiles;
  int depth;

  __device__ void begin() {
    for (int k = 0; k < (STAGES - 1) * DEPTH; k += DEPTH) copy(k);
  }

  template <bool FENCE = false> __device__ const char *next(int k) { // the stage of the tile at k, once it is there
    __pipeline_wait_prior(STAGES - 2);
    if (FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // wgmma reads what copies wrote
    __syncthreads(); // and all warps are done with the stage before, which the next copies fill
    copy(k + (STAGES - 1) * DEPTH);
    return tiles + k / DEPTH % STAGES * STAGE_BYTES;
  }

  __device__ void copy(int k) {
    char *to = tiles + k / DEPTH % STAGES * STAGE_BYTES;
    if (k < depth)
#pragma unroll
      for (int i = threadIdx.x; i < TILE * 8; i += THREADS) {
        __pipeline_memcpy_async(to + swizzled(i / 8, i % 8), &a[i / 8 * depth + k + i % 8 * 8], 16);
        __pipeline_memcpy_async(to + TILE * ROW + swizzled(i / 8, i % 8), &b[i / 8 * depth + k + i % 8 * 8], 16);
      }
    __pipeline_commit();
  }
};
