// Loops of multiply-adds longer than the caches of instructions that are near, on one SM, some, or all.
//
//   nvcc 13.0.88 compiles this for sm_90 (fetch.cubin.xz); tests/measured/fetch.py times it, and prints h200_fetch.csv
//
// Each SM has one block. `after` holds for each SM the cycles after which its block begins, -1 if it does nothing. Each
// warp notes its clock before its fourth round and behind its last.
typedef unsigned u32;
__device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm() { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }

// KB of code: 64 instructions of 16 bytes each.
template <int KB> __device__ __forceinline__ void loop(u32 *clocks, const int *after, int rounds, float a, float *sink) {
  const u32 begun = clk();
  const int wait = after[sm()];
  if (wait < 0) return;
  u32 begin = 0;
  float v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
  while (clk() - begun < (u32)wait) { }
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    if (r == 3) begin = clk();
#pragma unroll
    for (int i = 0; i < KB * 64; i++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v[i % 8]) : "f"(a));
  }
  const u32 end = clk();
  for (int i = 0; i < 8; i++) sum += v[i];
  if (sum == 12345) *sink = sum;
  if (threadIdx.x % 32 == 0) {
    clocks[sm() * 64 + threadIdx.x / 32] = begin;
    clocks[sm() * 64 + 32 + threadIdx.x / 32] = end;
  }
}

#define LOOP(KB) extern "C" __global__ void __launch_bounds__(1024) loop##KB(u32 *clocks, const int *after, int rounds, float a, float *sink) { loop<KB>(clocks, after, rounds, a, sink); }
LOOP(24) LOOP(32) LOOP(40) LOOP(48) LOOP(64) LOOP(80) LOOP(112)
