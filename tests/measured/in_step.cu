// What SMs wait for that load the same lines at the same time, from the L2 or from the DRAM.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin in_step.cu   the code that is simulated (in_step.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 in_step.cu -o in_step -lcuda      the program that runs it; ./in_step in_step.cubin
//
// prints gpusim/published/h200_in_step.csv. A block of 256 threads loads in each of 64 steps a tile of 4 KB, waits for
// all of it, and computes for some 1,300 cycles. The blocks of a row of the grid (`sharers`) load the same tiles, and
// each row (of `groups`) has its own. `tall`: 32 bytes of each of 128 rows of 2 KB, the next 32 in the next step;
// `wide`: 512 bytes of each of 8 rows, the next 8 rows in the next step. An SM holds `resident` blocks; a grid has one
// wave of blocks or eight. A row of the file has the waits of a wave in cycles, the means of even and of odd steps, in
// the third of three launches; `cold`: 512 MB were written before it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
typedef unsigned int u32;
__device__ __forceinline__ u32 clk() { u32 c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory"); return c; }
template <bool TALL> __device__ __forceinline__ void measure(const char *from, u32 pitch, u32 *waits, float *sums) {
  u32 row = TALL ? threadIdx.x / 8 : threadIdx.x / 128, column = (TALL ? threadIdx.x % 8 : threadIdx.x % 128) * 4;
  u32 rows = TALL ? 32 : 2;
  from += (size_t)blockIdx.y * (TALL ? 128 * pitch : 512) + (size_t)row * pitch + column;
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < 64; step++) {
    float word[4];
    u32 begin = clk();
#pragma unroll
    for (int i = 0; i < 4; i++) asm volatile("ld.global.f32 %0, [%1];" : "=f"(word[i]) : "l"(from + (size_t)i * rows * pitch) : "memory");
    sum += word[0] + word[1] + word[2] + word[3];
    asm volatile("" : "+f"(sum) :: "memory");
    __syncthreads();
    u32 end = clk();
    if (threadIdx.x == 0) waits[(step * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = end - begin;
#pragma unroll 1
    for (int i = 0; i < 40; i++)
#pragma unroll
      for (int j = 0; j < 8; j++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
    __syncthreads();
    from += TALL ? 32 : 8 * pitch;
  }
  sums[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(256) tall(const char *from, u32 pitch, u32 *waits, float *sums) { measure<true>(from, pitch, waits, sums); }
extern "C" __global__ void __launch_bounds__(256) wide(const char *from, u32 pitch, u32 *waits, float *sums) { measure<false>(from, pitch, waits, sums); }
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
int main(int count, char **names) {
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CUmodule module; CUfunction function; CHECK(cuModuleLoad(&module, names[1]));
  CUdeviceptr from, other, waits, sums; const size_t others = (size_t)512 << 20;
  CHECK(cuMemAlloc(&from, 256 << 20)); CHECK(cuMemAlloc(&other, others)); CHECK(cuMemAlloc(&waits, 64 << 20)); CHECK(cuMemAlloc(&sums, 64 << 20));
  CHECK(cuMemsetD32(from, 0, 64 << 20));
  printf("tile,sharers,groups,resident,l2,wave,even,odd\n");
  struct Grid { u32 sharers, waves, resident; };
  std::vector<Grid> grids;
  for (u32 sharers : {1u, 2u, 4u, 12u, 33u, 66u, 132u}) grids.push_back({sharers, 1, 1});
  for (u32 resident : {1u, 2u}) for (u32 sharers : {12u, 32u, 33u, 43u}) grids.push_back({sharers, 8, resident});
  for (const char *tile : {"tall", "wide"}) for (const char *l2 : {"warm", "cold"}) for (auto &grid : grids) {
    CHECK(cuModuleGetFunction(&function, module, tile));
    u32 wave = 132 * grid.resident, groups = grid.waves * wave / grid.sharers, shared = 220000 / grid.resident;
    u32 pitch = tile[0] == 't' ? 2048 : 512 * groups, blocks = grid.sharers * groups;
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    void *arguments[] = {&from, &pitch, &waits, &sums};
    for (int k = 0; k < 3; k++) {
      if (l2[0] == 'c') CHECK(cuMemsetD32(other, k, others / 4));
      CHECK(cuCtxSynchronize());
      CHECK(cuLaunchKernel(function, grid.sharers, groups, 1, 256, 1, 1, shared, 0, arguments, nullptr));
      CHECK(cuCtxSynchronize());
    }
    std::vector<u32> t(64 * blocks);
    CHECK(cuMemcpyDtoH(t.data(), waits, t.size() * 4));
    for (u32 w = 0; w < grid.waves; w++) {
      double sum[2] = {0, 0};
      u32 end = std::min(blocks, (w + 1) * wave), count = end - w * wave;
      for (u32 step = 8; step < 64; step++) for (u32 b = w * wave; b < end; b++) sum[step % 2] += t[step * blocks + b];
      printf("%s,%u,%u,%u,%s,%u,%.0f,%.0f\n", tile, grid.sharers, groups, grid.resident, l2, w, sum[0] / 28 / count, sum[1] / 28 / count);
    }
  }
}
