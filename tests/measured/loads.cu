// Loads of full grids: how long they wait and how much arrives, by pattern, place and number under way.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin loads.cu   the code that is simulated (loads.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 loads.cu -o loads -lcuda        the program that runs it; ./loads loads.cubin PLAN
//
// prints PLAN's launches with their cycles, as in gpusim/published/h200_loads.csv (spaces for commas): a line of the plan
// has the columns up to `cold`. Cold launches read another place of 72 GB each time, or have another seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>
#include <cuda.h>
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
struct Rec { i64 begin, end, sm; };
__device__ __forceinline__ i64 clk() { i64 c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory"); return c; }
__device__ __forceinline__ u32 sm_id() { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
__device__ __forceinline__ u32 hash(u32 x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
template <int CA, int V> __device__ __forceinline__ void load(u32 *v, const char *a) {
  if (CA && V == 1) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[0]) : "l"(a) : "memory");
  if (CA && V == 2) asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1 % V]) : "l"(a) : "memory");
  if (CA && V == 4) asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1 % V]), "=r"(v[2 % V]), "=r"(v[3 % V]) : "l"(a) : "memory");
  if (!CA && V == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[0]) : "l"(a) : "memory");
  if (!CA && V == 2) asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1 % V]) : "l"(a) : "memory");
  if (!CA && V == 4) asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1 % V]), "=r"(v[2 % V]), "=r"(v[3 % V]) : "l"(a) : "memory");
}
#define BEGIN __syncthreads(); i64 begin = clk();
#define END(all) asm volatile("" : "+r"(all) :: "memory"); i64 end = clk() + (all == 0x12345679); \
  if (threadIdx.x % 32 == 0) { Rec &q = rec[(blockIdx.x * blockDim.x + threadIdx.x) / 32]; q.begin = begin; q.end = end; q.sm = sm_id(); }
// Loads at equal distances: of blocks, warps, groups of 2^g lanes, lanes of a group, and steps; k steps are under way.
template <int CA, int V, int K> __device__ __forceinline__ void affine(Rec *rec, const char *p, u64 block, u64 warp, u64 group, u64 lane, u64 step, u64 mask, u32 g, int rounds, u32 zero) {
  u32 sum = 0, l = threadIdx.x % 32;
  u64 me = threadIdx.x / 32 * warp + (l >> g) * group + (l & ((1u << g) - 1)) * lane;
  p += blockIdx.x * block;
  BEGIN
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    u32 v[K][V];
    const char *a = p + (me & mask);
#pragma unroll
    for (int k = 0; k < K; k++) load<CA, V>(v[k], a + k * step);
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int i = 0; i < V; i++) sum |= v[k][i];
    me += K * step + (sum & zero);
  }
  END(sum)
}
// Loads of units at random places; groups of 2^g lanes have the same unit.
template <int CA, int V, int K> __device__ __forceinline__ void anywhere(Rec *rec, const char *p, u64 own, u64 n, u64 unit, u64 lane, u64 seed, u64 unused, u32 g, int rounds, u32 zero) {
  u32 sum = 0, l = threadIdx.x % 32, in = l & ((1u << g) - 1);
  u32 me = ((u32)own * blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 7919u * 64u + (l >> g) + (u32)seed;
  p += in * lane;
  BEGIN
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    u32 v[K][V];
#pragma unroll
    for (int k = 0; k < K; k++) load<CA, V>(v[k], p + (u64)__umulhi(hash(me + k * 64), (u32)n) * unit);
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int i = 0; i < V; i++) sum |= v[k][i];
    me += K * 64 + (sum & zero);
  }
  END(sum)
}
#define A(C, V, K) extern "C" __global__ void __launch_bounds__(1024) affine_##C##_##V##_##K(Rec *rec, const char *p, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u32 g, int rounds, u32 zero) { affine<C, V, K>(rec, p, a, b, c, d, e, f, g, rounds, zero); }
#define R(C, V, K) extern "C" __global__ void __launch_bounds__(1024) random_##C##_##V##_##K(Rec *rec, const char *p, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u32 g, int rounds, u32 zero) { anywhere<C, V, K>(rec, p, a, b, c, d, e, f, g, rounds, zero); }
A(0,1,1) A(0,1,2) A(0,1,4) A(0,1,8) A(0,1,16) A(1,1,1) A(1,1,2) A(1,1,4) A(1,1,8) A(1,1,16)
A(0,2,1) A(0,2,4) A(1,2,1) A(1,2,4) A(0,4,1) A(0,4,2) A(0,4,4) A(0,4,8) A(1,4,1) A(1,4,2) A(1,4,4) A(1,4,8)
R(0,1,1) R(0,1,2) R(0,1,4) R(0,1,8) R(0,1,16) R(1,1,1) R(1,1,4) R(1,1,8) R(0,4,1) R(0,4,4) R(1,4,1) R(1,4,4)
// One warp reads b lines, c bytes apart, a times; of each visit to line i sectors (d words on) by turns: step f through
// the lines. Counts visits, behind the first pass, that took over 100 cycles; and cycles of each pass.
extern "C" __global__ void replace(Rec *rec, const char *p, u64 passes, u64 lines, u64 stride, u64 sector, u64 by, u64 warm, u32 g, int rounds, u32 zero) {
  u32 sum = 0;
  i64 late = 0, all = 0;
  for (u32 pass = 0; pass < passes; pass++) {
    u32 i = 0;
#pragma unroll 1
    for (u32 n = 0; n < lines; n++) {
      u32 v[1];
      i64 t = clk();
      load<1, 1>(v, p + i * stride + pass * sector % 128 + (sum & zero));
      sum |= v[0];
      asm volatile("" : "+r"(sum) :: "memory");
      i64 u = clk() + (sum == 0x12345679);
      if (pass > 0) late += u - t > 110, all += u - t;
      i += by;
      if (i >= lines) i -= lines;
    }
  }
  if (threadIdx.x == 0) rec[blockIdx.x].begin = late, rec[blockIdx.x].end = all, rec[blockIdx.x].sm = sm_id();
}
// Warps below a chase hits in the L1; the others load sectors anywhere, k = 4 under way. Mean cycles of a hit.
extern "C" __global__ void __launch_bounds__(1024) beside(Rec *rec, const char *p, u64 hits, u64 n, u64 unit, u64 lane, u64 seed, u64 where, u32 g, int rounds, u32 zero) {
  u32 sum = 0, l = threadIdx.x % 32;
  if (threadIdx.x / 32 < hits) {
    u32 v[1];
    load<1, 1>(v, p + where + l * 4);
    sum = v[0] & zero;
    __syncthreads();
    i64 begin = clk();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) { load<1, 1>(v, p + where + l * 4 + (sum & zero)); sum |= v[0]; }
    END(sum)
  } else {
    u32 in = l & ((1u << g) - 1), me = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 7919u * 64u + (l >> g) + (u32)seed;
    p += in * lane;
    BEGIN
#pragma unroll 1
    for (int r = 0; r < rounds / 16; r++) {
      u32 v[4][1];
#pragma unroll
      for (int k = 0; k < 4; k++) load<1, 1>(v[k], p + (u64)__umulhi(hash(me + k * 64), (u32)n) * unit);
#pragma unroll
      for (int k = 0; k < 4; k++) sum |= v[k][0];
      me += 256 + (sum & zero);
    }
    END(sum)
  }
}
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
int main(int count, char **names) {
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CUmodule module; CHECK(cuModuleLoad(&module, names[1]));
  bool once = count > 3;
  u64 gb = 72;
  CUdeviceptr rec, p; CHECK(cuMemAlloc(&rec, 8 << 20));
  while (cuMemAlloc(&p, gb << 30) && gb > 2) gb -= 2;
  fprintf(stderr, "%llu GB\n", gb);
  CHECK(cuMemsetD32(p, 0, (1ull << 30)));
  if (!once) CHECK(cuMemsetD32(p, 0, (gb << 30) / 4));
  FILE *plan = fopen(names[2], "r"); char line[512];
  u64 at = 0; std::vector<Rec> recs;
  while (fgets(line, sizeof line, plan)) {
    char name[64], kernel[64]; u32 sms, blocks, warps, g, cold; int rounds; u64 q[6], bytes;
    if (sscanf(line, "%63s %63s %u %u %u %llu %llu %llu %llu %llu %llu %u %d %llu %u", name, kernel, &sms, &blocks, &warps, q, q + 1, q + 2, q + 3, q + 4, q + 5, &g, &rounds, &bytes, &cold) != 15) continue;
    CUfunction f; CHECK(cuModuleGetFunction(&f, module, kernel));
    double span = 1e30, each = 1e30, last = 0; i64 raw0 = 0, raw1 = 0; u32 zero = 0, grid = sms * blocks;
    u64 end = gb << 30;
    if (bytes > end) continue;
    for (int i = 0; i < (once ? 1 + !cold : 4); i++) {
      CUdeviceptr base = p;
      if (cold == 1) { at += (bytes + (2 << 20)) >> 21 << 21; if (at + bytes > end) at = 0; base = p + at; }
      if (cold == 2) q[4] += 1000003;
      void *arguments[] = {&rec, &base, q, q + 1, q + 2, q + 3, q + 4, q + 5, &g, &rounds, &zero};
      CHECK(cuLaunchKernel(f, grid, 1, 1, warps * 32, 1, 1, 0, 0, arguments, nullptr));
      bool by_block = kernel[2] == 'p';
      recs.resize(by_block ? grid : grid * warps);
      CHECK(cuMemcpyDtoH(recs.data(), rec, recs.size() * sizeof(Rec)));
      if (by_block) { raw0 = recs[0].begin, raw1 = recs[0].end; continue; }
      std::map<i64, std::pair<i64, i64>> of; double sum = 0, all = 0, hits = 0; i64 n = 0;
      for (size_t j = 0; j < recs.size(); j++) {
        auto &r = recs[j];
        auto it = of.insert({r.sm, {r.begin, r.end}}).first;
        it->second.first = std::min(it->second.first, r.begin), it->second.second = std::max(it->second.second, r.end);
        all += r.end - r.begin;
        if (kernel[0] == 'b' && j % warps < q[0]) hits += r.end - r.begin, n++;
      }
      i64 most = 0;
      for (auto &o : of) sum += o.second.second - o.second.first, most = std::max(most, o.second.second - o.second.first);
      if (kernel[0] == 'b') { last = hits / n / rounds; all -= hits; }
      if (i || once || cold) { if (sum / of.size() < span) { span = sum / of.size(), each = all / (recs.size() - n); if (kernel[0] != 'b') last = most; } }
    }
    line[strcspn(line, "\n")] = 0;
    if (kernel[2] == 'p') printf("%s %lld %lld 0\n", line, raw0, raw1);
    else printf("%s %.1f %.1f %.1f\n", line, span, each, last);
  }
}
