// C = A B^T by wgmma: four warps together multiply tiles that lie in shared memory, 64 numbers of K at a time.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int TILE = 64, ROW = 2 * TILE; // a row of K fills the 128 bytes over which chunks of 16 bytes are swizzled

__device__ uint64_t descriptor(uint32_t tile) { // bytes between groups of 8 rows: 8 ROW; swizzle 1: 128 bytes
  return (tile & 0x3FFFF) >> 4 | uint64_t(8 * ROW >> 4) << 32 | uint64_t(1) << 62;
}

__device__ void multiply(float (&c)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, "
      "1, 1, 1, 0, 0;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128) product(const half *a, const half *b, float *c, int n, int depth) {
  __shared__ __align__(1024) char as[TILE * ROW], bs[TILE * ROW];
  int y = blockIdx.y * TILE, x = blockIdx.x * TILE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint64_t of_a = descriptor(__cvta_generic_to_shared(as)), of_b = descriptor(__cvta_generic_to_shared(bs));
  float sums[32] = {};
  for (int k = 0; k < depth; k += TILE) {
    for (int i = threadIdx.x; i < TILE * 8; i += blockDim.x) { // eight chunks of a row, swizzled by the row
      int row = i / 8, chunk = i % 8, to = row * ROW + (chunk ^ row % 8) * 16;
      *(uint4 *)&as[to] = *(const uint4 *)&a[(y + row) * depth + k + chunk * 8];
      *(uint4 *)&bs[to] = *(const uint4 *)&b[(x + row) * depth + k + chunk * 8];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // wgmma reads what plain stores wrote
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < TILE / 16; i++) multiply(sums, of_a + 2 * i, of_b + 2 * i); // 16 numbers are 2 x 16 bytes
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  for (int j = 0; j < 8; j++) {
    float *at = &c[(y + warp * 16 + lane / 4) * n + x + j * 8 + lane % 4 * 2];
    *(float2 *)at = make_float2(sums[4 * j], sums[4 * j + 1]);
    *(float2 *)(at + 8 * n) = make_float2(sums[4 * j + 2], sums[4 * j + 3]);
  }
}
