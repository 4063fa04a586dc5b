// C = A B with the functions of nvcuda::wmma: a warp has 16 x 16 numbers of C, and tiles lie in shared memory.
#include <mma.h>
using namespace nvcuda::wmma;

constexpr int TILE = 32, ROW = TILE + 8; // a row of 80 bytes: eight rows begin in different banks

extern "C" __global__ void product(const half *a, const half *b, float *c, int n, int depth) {
  __shared__ __align__(16) half as[TILE][ROW], bs[TILE][ROW];
  int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
  int y = blockIdx.y * TILE, x = blockIdx.x * TILE;
  fragment<accumulator, 16, 16, 16, float> sums;
  fill_fragment(sums, 0.0f);
  for (int k = 0; k < depth; k += TILE) {
    int line = threadIdx.x / 4, part = threadIdx.x % 4 * 8; // each thread brings eight numbers of each tile
    *(uint4 *)&as[line][part] = *(const uint4 *)&a[(y + line) * depth + k + part];
    *(uint4 *)&bs[line][part] = *(const uint4 *)&b[(k + line) * n + x + part];
    __syncthreads();
    for (int i = 0; i < TILE; i += 16) {
      fragment<matrix_a, 16, 16, 16, half, row_major> of_a;
      fragment<matrix_b, 16, 16, 16, half, row_major> of_b;
      load_matrix_sync(of_a, &as[row][i], ROW);
      load_matrix_sync(of_b, &bs[i][column], ROW);
      mma_sync(sums, of_a, of_b, sums);
    }
    __syncthreads();
  }
  store_matrix_sync(&c[(y + row) * n + x + column], sums, n, mem_row_major);
}
