// Five-point stencil: a tensor copy brings a tile with its border, zeros beyond the image, and another takes the result.
#include <cuda.h>
#include <cstdint>

constexpr int WIDTH = 32, HEIGHT = 16, SIDE = 4; // a tile; columns on either side, of which one is needed (16 bytes)
constexpr int ROW = WIDTH + 2 * SIDE;

__device__ uint32_t place(const void *at) { return __cvta_generic_to_shared(at); }

extern "C" __global__ void stencil(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ __align__(128) float in[HEIGHT + 2][ROW], out[HEIGHT][WIDTH];
  __shared__ uint64_t arrived;
  int x = blockIdx.x * WIDTH, y = blockIdx.y * HEIGHT;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&arrived)), "n"(sizeof in) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(place(in)), "l"(&from), "r"(x - SIDE), "r"(y - 1), "r"(place(&arrived)) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n@!over bra again;\n}"
               ::"r"(place(&arrived)) : "memory");
  for (int i = threadIdx.x / WIDTH; i < HEIGHT; i += blockDim.x / WIDTH) {
    int row = i + 1, column = threadIdx.x % WIDTH + SIDE;
    out[i][column - SIDE] = in[row - 1][column] + in[row + 1][column] + in[row][column - 1] + in[row][column + 1] -
                            4 * in[row][column];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x),
                 "r"(y), "r"(place(out)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
