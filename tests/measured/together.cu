// Sectors that SMs get and that the L2 is asked for, where blocks load the same: ./together lists the launches in order.
//
//   nvcc -std=c++17 -O3 -arch=sm_90a together.cu -o together
//   ncu --cache-control none --clock-control none --csv --page raw --metrics lts__t_sectors_srcunit_tex_op_read.sum,
//     l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,sm__cycles_active.max ./together
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define CK(c) do { cudaError_t e = (c); if (e) { fprintf(stderr, "%s: %s\n", #c, cudaGetErrorString(e)); exit(1); } } while (0)
__device__ __forceinline__ i64 clk() { i64 c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory"); return c; }
// Blocks of a row load the same 4 KB in each step (both: those of a column, too), then wait for `work` cycles.
extern "C" __global__ void __launch_bounds__(256) together(const char *p, u32 *sink, u64 row, int steps, u32 mask, int work, int both) {
  u32 sum = 0, v[4];
  const char *a = p + blockIdx.y * row, *b = p + (1ull << 28) + blockIdx.x * row;
  for (int s = 0; s < steps; s++) {
    u32 at = (s * 4096u + threadIdx.x * 16u) & mask;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(a + at) : "memory");
    sum |= v[0];
    if (both) { asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(b + at) : "memory"); sum |= v[0]; }
    asm volatile("" : "+r"(sum) :: "memory");
    __syncthreads();
    if (work) { i64 t = clk(); while (clk() - t < work) {} }
  }
  if (sum == 0x12345679) sink[0] = sum;
}
int main() {
  char *p;
  u32 *rec;
  CK(cudaMalloc(&p, 1ull << 30));
  CK(cudaMemset(p, 0, 1ull << 30));
  CK(cudaMalloc(&rec, 1 << 20));
    CK(cudaFuncSetAttribute((const void *)together, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    int n = 0;
    auto go = [&](int gx, int gy, int r, int steps, int loop, int work, int both) {
      int shared = r == 8 ? 0 : (226 << 10) / r - (2 << 10);
      together<<<dim3(gx, gy), 256, shared>>>(p, (u32 *)rec, loop * 4096ull, steps, loop * 4096u - 1, work, both);
      CK(cudaGetLastError());
      printf("%d,%d,%d,%d,%d,%d,%d,%d\n", n++, gx, gy, r, steps, loop, work, both);
    };
    for (int r : {1, 2, 4, 8})
      for (int waves : {1, 4})
        for (int work : {0, 1500})
          for (int loop : {4, 64})
            for (int gx : {4, 18, 32, 64}) {
              if (loop == 64 && gx == 4) continue;
              go(gx, std::max(1, 132 * r * waves / gx), r, 64, loop, work, 0);
            }
    for (int r : {1, 2, 4, 8})
      for (int side : {8, 16, 32, 64})
        for (int work : {0, 1500}) if (side * side <= 132 * r * 8 && side * side >= 64 * r) go(side, side, r, 64, 64, work, 1);
  CK(cudaDeviceSynchronize());
}
