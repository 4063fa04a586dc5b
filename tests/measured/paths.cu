// What random loads, stores, and updates of few words cost on the ways to the L2, by SMs; what stacks and tables cost.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin paths.cu   the code that is simulated (paths.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 paths.cu -o paths -lcuda        the program that runs it; ./paths paths.cubin
//
// prints gpusim/published/h200_paths.csv. One block runs on each of `sms` SMs. Each thread makes `rounds` rounds of four
// accesses to words chosen by a hash: of `words` of them, `unit` bytes of which neighbouring lanes take together, each
// lane a sector of 32 bytes (gather, scatter), or one word among so many (plain stores, RED, ATOM). `table` reads a
// constant by lane, 1 to 8 lines of it, twice; `stack` stores and loads a local array at places that differ by lane;
// `sweep` reads, or copies, so many megabytes, 8 warps of each SM in turn, three times; `sets` reads so many lines so many
// bytes apart, one after the other, once and five times, with the whole L1. Cycles are from the first
// warp's entry to the last one's exit of a block, the mean over blocks, the least of four launches behind a first one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#include "block.cuh"
__constant__ u32 table_words[512];
__device__ __forceinline__ u32 hash(u32 x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
#define BEGIN __syncthreads(); i64 begin = clk();
#define END i64 end = clk(); if (threadIdx.x % 32 == 0) rec[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = {begin, end};
__device__ __forceinline__ u32 spread(u32 i, u32 unit, u32 bytes) { // a lane's own sector in a random place
  u32 lanes = unit / 32, lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  return (hash(warp * 7919u + i * 64u + lane / lanes + 1) & (bytes / unit - 1)) * unit + lane % lanes * 32;
}
extern "C" __global__ void __launch_bounds__(1024) gather(Rec *rec, char *p, u32 *sums, u32 bytes, u32 unit, int rounds) {
  u32 sum = 0;
  BEGIN
  for (int r = 0; r < rounds; r++) {
    u32 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(p + spread(r * 4 + k, unit, bytes)) : "memory");
    sum += v[0] + v[1] + v[2] + v[3];
  }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(1024) scatter(Rec *rec, char *p, u32 *sums, u32 bytes, u32 unit, int rounds) {
  BEGIN
  for (int r = 0; r < rounds; r++)
#pragma unroll
    for (int k = 0; k < 4; k++) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + spread(r * 4 + k, unit, bytes)), "r"(r) : "memory");
  END
}
template <int WHAT> __device__ __forceinline__ void among(Rec *rec, u32 *p, u32 *sums, u32 words, int rounds) {
  u32 sum = 0;
  BEGIN
  for (int r = 0; r < rounds; r++) {
    u32 v[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      u32 *a = p + (hash((blockIdx.x * blockDim.x + threadIdx.x) * 64 + r * 4 + k) & (words - 1));
      if (WHAT == 0) asm volatile("st.global.u32 [%0], %1;" ::"l"(a), "r"(r) : "memory");
      if (WHAT == 1) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(a), "r"(1) : "memory");
      if (WHAT == 2) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v[k]) : "l"(a), "r"(1) : "memory");
      if (WHAT == 3) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(a), "f"(1.0f) : "memory");
    }
    sum += v[0] + v[1] + v[2] + v[3];
  }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  if (WHAT == 2) sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(1024) store(Rec *rec, u32 *p, u32 *sums, u32 words, u32, int rounds) { among<0>(rec, p, sums, words, rounds); }
extern "C" __global__ void __launch_bounds__(1024) red(Rec *rec, u32 *p, u32 *sums, u32 words, u32, int rounds) { among<1>(rec, p, sums, words, rounds); }
extern "C" __global__ void __launch_bounds__(1024) atom(Rec *rec, u32 *p, u32 *sums, u32 words, u32, int rounds) { among<2>(rec, p, sums, words, rounds); }
extern "C" __global__ void __launch_bounds__(1024) redf(Rec *rec, u32 *p, u32 *sums, u32 words, u32, int rounds) { among<3>(rec, p, sums, words, rounds); }
extern "C" __global__ void __launch_bounds__(1024) one(Rec *rec, u32 *p, u32 *sums, u32 words, u32, int rounds) { // by one lane
  BEGIN
  for (int r = 0; r < rounds; r++)
    if (threadIdx.x % 32 == 0) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p + (blockIdx.x & (words - 1))), "r"(1) : "memory");
  END
}
extern "C" __global__ void __launch_bounds__(1024) table(Rec *rec, char *p, u32 *sums, u32 stride, u32 lanes, int rounds) {
  u32 sum = 0;
  BEGIN
  for (int r = 0; r < rounds; r++) {
    u32 v;
    asm volatile("ld.const.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_constant(table_words) + threadIdx.x % lanes * stride + sum) : "memory");
    sum += v;
  }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(1024) stack(Rec *rec, char *p, u32 *sums, u32 words, u32 distinct, int rounds) {
  u32 own[32], sum = 0;
  for (int k = 0; k < 32; k++) own[k] = k;
  BEGIN
  for (int r = 0; r < rounds; r++) {
    u32 at = (threadIdx.x % distinct + r) & (words - 1);
    own[at] = r;
    sum += own[(at + 5) & (words - 1)];
  }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum + own[sum & 31];
}
extern "C" __global__ void __launch_bounds__(1024) sweep(Rec *rec, uint4 *p, u32 *sums, u32 bytes, u32 copies, int rounds) {
  u32 sum = 0, count = bytes / 16 / (1 + copies), step = gridDim.x * blockDim.x;
  BEGIN
  for (int r = 0; r < rounds; r++) {
    u32 me = (blockIdx.x + r * 37) % gridDim.x * blockDim.x + threadIdx.x;
#pragma unroll 4
    for (u32 i = me; i < count; i += step) {
      uint4 v = __ldcg(p + i);
      if (copies) p[count + i] = v;
      else sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(1024) sets(Rec *rec, char *p, u32 *sums, u32 stride, u32 lines, int rounds) {
  u32 sum = 0;
  BEGIN
#pragma unroll 1
  for (int r = 0; r < rounds; r++)
#pragma unroll 1
    for (u32 i = 0; i < lines; i++) {
      u32 v;
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p + (size_t)i * stride + sum) : "memory");
      sum += v;
    }
  asm volatile("" : "+r"(sum) :: "memory");
  END
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
static CUmodule module;
static CUdeviceptr rec, p, sums;
static void show(const char *name, u32 sms, u32 warps, u32 first, u32 second, int rounds) {
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, name));
  void *arguments[] = {&rec, &p, &sums, &first, &second, &rounds};
  double least = 1e30;
  for (int launch = 0; launch < 5; launch++) {
    CHECK(cuLaunchKernel(function, sms, 1, 1, warps * 32, 1, 1, name[1] == 'e' && name[2] == 't' ? 0 : 120000, 0, arguments, nullptr));
    std::vector<Rec> clocks(sms * warps);
    CHECK(cuMemcpyDtoH(clocks.data(), rec, sizeof(Rec) * clocks.size()));
    double sum = 0;
    for (u32 b = 0; b < sms; b++) {
      i64 begin = clocks[b * warps].t[0], end = clocks[b * warps].t[1];
      for (u32 w = 1; w < warps; w++) begin = std::min(begin, clocks[b * warps + w].t[0]), end = std::max(end, clocks[b * warps + w].t[1]);
      sum += end - begin;
    }
    if (launch) least = std::min(least, sum / sms);
  }
  printf("%s,%u,%u,%u,%u,%d,%.0f\n", name, sms, warps, first, second, rounds, least);
}
int main(int count, char **names) {
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, names[1]));
  CHECK(cuMemAlloc(&rec, 1 << 20)); CHECK(cuMemAlloc(&p, 256 << 20)); CHECK(cuMemAlloc(&sums, 1 << 20)); CHECK(cuMemsetD32(p, 0, 64 << 20));
  CUfunction f;
  for (const char *n : {"gather", "scatter", "store", "red", "atom", "redf", "one", "table", "stack", "sweep", "sets"}) {
    CHECK(cuModuleGetFunction(&f, module, n)); CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 120000)); }
  printf("experiment,sms,warps,first,second,rounds,cycles\n");
  for (const char *what : {"gather", "scatter"}) for (u32 sms : {1u, 33u, 66u, 132u}) for (u32 warps : {1u, 8u, 32u})
    for (u32 unit : {32u, 64u, 128u, 1024u}) show(what, sms, warps, 4 << 20, unit, 16);
  for (u32 bytes : {1u << 20, 16u << 20}) for (u32 sms : {1u, 132u}) show("gather", sms, 32, bytes, 32, 16), show("scatter", sms, 32, bytes, 32, 16);
  for (const char *what : {"store", "red", "atom", "redf"}) for (u32 sms : {1u, 12u, 33u, 132u}) for (u32 warps : {1u, 8u})
    for (u32 words : {1u, 8u, 256u, 4096u, 65536u}) show(what, sms, warps, words, 0, 8);
  for (u32 sms : {1u, 12u, 33u, 132u}) for (u32 warps : {1u, 8u}) for (u32 words : {1u, 256u}) show("one", sms, warps, words, 0, 16);
  for (u32 sms : {1u, 132u}) for (u32 warps : {1u, 2u, 8u, 32u}) for (u32 lanes : {1u, 2u, 4u, 8u, 16u, 32u}) for (u32 stride : {4u, 64u}) for (int rounds : {1, 2, 8})
    if (lanes > 1 || stride == 4) show("table", sms, warps, stride, lanes, rounds);
  for (u32 sms : {1u, 132u}) for (u32 warps : {1u, 4u, 16u, 32u}) for (u32 distinct : {1u, 2u, 4u, 8u, 16u, 32u}) show("stack", sms, warps, 32, distinct, 32);
  CHECK(cuMemsetD32(p, 0, 64 << 20));
  for (u32 stride = 128; stride <= 131072; stride *= 2) for (u32 lines : {4u, 8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u, 1536u, 1792u}) for (int rounds : {1, 5})
    if (stride * lines <= (256u << 20)) show("sets", 1, 1, stride, lines, rounds);
  for (u32 copies : {0u, 1u}) for (u32 mb : {8u, 16u, 20u, 24u, 28u, 32u, 36u, 40u, 44u, 48u, 52u, 56u, 60u, 64u, 72u, 80u, 96u, 128u}) show("sweep", 132, 8, mb << 20, copies, 3);
}
