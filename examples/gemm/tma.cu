// TMA: a thread of a third warpgroup has the copy engine bring whole tiles; barriers tell when they are there, and when free.
#include "tiles.h"
#include <cuda.h>

constexpr int STAGES = 4, STAGE_BYTES = 2 * TILE * ROW;

__device__ void wait(uint64_t *barrier, int phase) {
  asm volatile("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}"
               ::"r"(place(barrier)), "r"(phase) : "memory");
}

__device__ void copy(char *to, const CUtensorMap *map, int k, int row, uint64_t *arrived) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(place(to)), "l"(map), "r"(k), "r"(row), "r"(place(arrived)) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS + 128)
gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int depth) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ uint64_t arrived[STAGES], free[STAGES];
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&arrived[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(place(&free[i])) : "memory"); // two warpgroups
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == THREADS) {
    for (int i = 0; i < depth / DEPTH; i++) {
      char *to = tiles + i % STAGES * STAGE_BYTES;
      uint64_t *whole = &arrived[i % STAGES];
      wait(&free[i % STAGES], i / STAGES % 2 ^ 1); // in the first round at once
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(whole)), "n"(STAGE_BYTES) : "memory");
      copy(to, &a, i * DEPTH, blockIdx.y * TILE, whole);
      copy(to + TILE * ROW, &b, i * DEPTH, blockIdx.x * TILE, whole);
    }
  } else if (threadIdx.x < THREADS) {
    GroupSums sums;
    for (int i = 0; i < depth / DEPTH; i++) {
      const char *stage = tiles + i % STAGES * STAGE_BYTES;
      wait(&arrived[i % STAGES], i / STAGES % 2);
      sums.begin(stage, stage + TILE * ROW);
      sums.wait();
      if (threadIdx.x % 128 == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(&free[i % STAGES])) : "memory");
    }
    sums.store(&c[blockIdx.y * TILE * n + blockIdx.x * TILE], n);
  }
}
