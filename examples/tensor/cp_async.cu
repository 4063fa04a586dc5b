// C = A B, whose tiles come by cp.async into three stages of shared memory while earlier ones are multiplied.
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda::wmma;

constexpr int TILE = 32, ROW = TILE + 8, STAGES = 3;
struct Stage { half a[TILE][ROW], b[TILE][ROW]; };

extern "C" __global__ void product(const half *a, const half *b, float *c, int n, int depth) {
  __shared__ __align__(16) Stage stages[STAGES];
  int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
  int y = blockIdx.y * TILE, x = blockIdx.x * TILE, line = threadIdx.x / 4, part = threadIdx.x % 4 * 8;
  auto copy = [&](int k) { // a group of copies for each stage; past the end an empty one
    Stage &to = stages[k / TILE % STAGES];
    if (k < depth) {
      __pipeline_memcpy_async(&to.a[line][part], &a[(y + line) * depth + k + part], 16);
      __pipeline_memcpy_async(&to.b[line][part], &b[(k + line) * n + x + part], 16);
    }
    __pipeline_commit();
  };
  fragment<accumulator, 16, 16, 16, float> sums;
  fill_fragment(sums, 0.0f);
  for (int k = 0; k < (STAGES - 1) * TILE; k += TILE) copy(k);
  for (int k = 0; k < depth; k += TILE) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads(); // all threads' copies are there, and all warps are done with the stage before
    copy(k + (STAGES - 1) * TILE);
    Stage &from = stages[k / TILE % STAGES];
    for (int i = 0; i < TILE; i += 16) {
      fragment<matrix_a, 16, 16, 16, half, row_major> of_a;
      fragment<matrix_b, 16, 16, 16, half, row_major> of_b;
      load_matrix_sync(of_a, &from.a[row][i], ROW);
      load_matrix_sync(of_b, &from.b[i][column], ROW);
      mma_sync(sums, of_a, of_b, sums);
    }
  }
  store_matrix_sync(&c[(y + row) * n + x + column], sums, n, mem_row_major);
}
