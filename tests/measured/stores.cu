// Stores, reductions and atomics at places that a plan gives: what is merged before the L2, and how long they take.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90a -cubin stores.cu   the code that is simulated (stores.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90a stores.cu -o stores -lcuda       the program that runs it
//   ./stores stores.cubin plan.txt time                               prints the times of the rows of the plan
//   ncu ... ./stores stores.cubin plan.txt count                      launches each row once, to be counted
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
struct Rec { i64 begin, end; };
struct Mark { i64 t; u32 sm, pad; };
// A place is a number's digits times their strides: (i & m0) * s0 + ((i >> k1) & m1) * s1 + (i >> k2) * s2.
struct Walk { u32 m0, s0, k1, m1, s1, k2, s2; };
struct Plan { Walk block, warp, lane, step; u32 rounds, lanes, unused, first; };

__device__ __forceinline__ i64 clk() { i64 c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory"); return c; }
__device__ __forceinline__ u32 at(const Walk &w, u32 i) { return (i & w.m0) * w.s0 + ((i >> w.k1) & w.m1) * w.s1 + (i >> w.k2) * w.s2; }
enum { ST8, ST32, ST64, ST128, RED, REDF, RED64, REDF64, REDMIN, REDMAX64, REDAND, REDH2, REDB2, REDV2, REDV4, REDV4H, ATOM, ATOMF, ATOM64,
       ATOMF64, EXCH, CAS, EXCH64, CAS64, EXCH128, CAS128, ATOMV4, ATOMH2 };
template <int OP> __device__ __forceinline__ u32 act(char *p, u32 v) {
  u32 r = 0;
  u64 w = v, q = 0;
  float f = 1.0f, g;
  if (OP == ST8) asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == ST32) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == ST64) asm volatile("st.global.v2.u32 [%0], {%1,%1};" ::"l"(p), "r"(v) : "memory");
  if (OP == ST128) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(v) : "memory");
  if (OP == RED) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == REDF) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(f) : "memory");
  if (OP == RED64) asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(w) : "memory");
  if (OP == REDF64) asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(1.0) : "memory");
  if (OP == REDMIN) asm volatile("red.global.min.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == REDMAX64) asm volatile("red.global.max.u64 [%0], %1;" ::"l"(p), "l"(w) : "memory");
  if (OP == REDAND) asm volatile("red.global.and.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == REDH2) asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == REDB2) asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if (OP == REDV2) asm volatile("red.global.v2.f32.add [%0], {%1,%1};" ::"l"(p), "f"(f) : "memory");
  if (OP == REDV4) asm volatile("red.global.v4.f32.add [%0], {%1,%1,%1,%1};" ::"l"(p), "f"(f) : "memory");
  if (OP == REDV4H) asm volatile("red.global.v4.f16x2.add.noftz [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(v) : "memory");
  if (OP == ATOM) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory");
  if (OP == ATOMF) { asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(g) : "l"(p), "f"(f) : "memory"); r = __float_as_uint(g); }
  if (OP == ATOM64) { asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(q) : "l"(p), "l"(w) : "memory"); r = q; }
  if (OP == ATOMF64) { double d; asm volatile("atom.global.add.f64 %0, [%1], %2;" : "=d"(d) : "l"(p), "d"(1.0) : "memory"); r = (u32)__double_as_longlong(d); }
  if (OP == EXCH) asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory");
  if (OP == CAS) asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(p), "r"(v), "r"(v + 1) : "memory");
  if (OP == EXCH64) { asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(q) : "l"(p), "l"(w) : "memory"); r = q; }
  if (OP == CAS64) { asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(q) : "l"(p), "l"(w), "l"(w + 1) : "memory"); r = q; }
  if (OP == EXCH128) { asm volatile("{.reg .b128 a, b; mov.b128 b, {%2, %2}; atom.global.exch.b128 a, [%1], b; mov.b128 {%0, _}, a;}" : "=l"(q) : "l"(p), "l"(w) : "memory"); r = q; }
  if (OP == CAS128) { asm volatile("{.reg .b128 a, b, c; mov.b128 b, {%2, %2}; mov.b128 c, {%2, %2}; atom.global.cas.b128 a, [%1], b, c; mov.b128 {%0, _}, a;}" : "=l"(q) : "l"(p), "l"(w) : "memory"); r = q; }
  if (OP == ATOMV4) { float a, b, c; asm volatile("atom.global.v4.f32.add {%0,%1,%2,%3}, [%4], {%5,%5,%5,%5};" : "=f"(g), "=f"(a), "=f"(b), "=f"(c) : "l"(p), "f"(f) : "memory"); r = __float_as_uint(g + a + b + c); }
  if (OP == ATOMH2) asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory");
  return r;
}
#define PLACE(plan) (at(plan.block, blockIdx.x) + at(plan.warp, threadIdx.x / 32) + at(plan.lane, threadIdx.x % 32) + plan.first)
__device__ __forceinline__ void record(Rec *rec, i64 begin) {
  i64 end = clk();
  if (rec && threadIdx.x % 32 == 0) rec[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = {begin, end};
}
// `rounds` bursts of U accesses by `lanes` lanes of each warp.
template <int OP, int U> __device__ __forceinline__ void burst(Rec *rec, char *p, const Plan &plan, u32 *sums) {
  i64 begin = clk();
  u32 sum = 0;
  char *base = p + PLACE(plan);
  if (threadIdx.x % 32 < plan.lanes)
#pragma unroll 1
    for (u32 r = 0; r < plan.rounds; r++) {
      char *place[U];
      u32 old[U];
#pragma unroll
      for (int i = 0; i < U; i++) { place[i] = base + at(plan.step, r * U + i); asm volatile("" : "+l"(place[i])); }
#pragma unroll
      for (int i = 0; i < U; i++) {
        old[i] = act<OP>(place[i], r);
      }
#pragma unroll
      for (int i = 0; i < U; i++) sum += old[i];
    }
  asm volatile("" : "+r"(sum) :: "memory");
  record(rec, begin);
  if (sum == 0xfffffff1) sums[0] = sum;
}
#define K extern "C" __global__ void __launch_bounds__(1024)
#define BURST(name, op, u) K name(Rec *rec, char *p, u32 *sums, __grid_constant__ const Plan plan, __grid_constant__ const Plan loads) { burst<op, u>(rec, p, plan, sums); }
BURST(st8, ST8, 16) BURST(st32, ST32, 16) BURST(st64, ST64, 16) BURST(st128, ST128, 16)
BURST(four32, ST32, 4) BURST(four64, ST64, 4) BURST(four128, ST128, 4) BURST(one32, ST32, 1)
#define ATOMIC(name, op) BURST(name, op, 4)
ATOMIC(red, RED) ATOMIC(redf, REDF) ATOMIC(red64, RED64) ATOMIC(redf64, REDF64) ATOMIC(redmin, REDMIN) ATOMIC(redmax64, REDMAX64) ATOMIC(redand, REDAND)
ATOMIC(redh2, REDH2) ATOMIC(redb2, REDB2) ATOMIC(redv2, REDV2) ATOMIC(redv4, REDV4) ATOMIC(redv4h, REDV4H) ATOMIC(atom, ATOM) ATOMIC(atomf, ATOMF)
ATOMIC(atom64, ATOM64) ATOMIC(atomf64, ATOMF64) ATOMIC(exch, EXCH) ATOMIC(cas, CAS) ATOMIC(exch64, EXCH64) ATOMIC(cas64, CAS64)
ATOMIC(exch128, EXCH128) ATOMIC(cas128, CAS128) ATOMIC(atomv4, ATOMV4) ATOMIC(atomh2, ATOMH2)
// `rounds` of R loads past the L1 and W stores of what they bring; N words a lane.
template <int R, int W, int N> __device__ __forceinline__ void mix(Rec *rec, char *p, const Plan &to, const Plan &from) {
  i64 begin = clk();
  char *in = p + PLACE(from), *out = p + PLACE(to);
#pragma unroll 1
  for (u32 r = 0; r < to.rounds; r++) {
    uint4 v[R > 0 ? R : 1] = {};
#pragma unroll
    for (int i = 0; i < R; i++) {
      char *a = in + at(from.step, r * R + i);
      if (N == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[i].x) : "l"(a) : "memory");
      else asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w) : "l"(a) : "memory");
    }
#pragma unroll
    for (int i = 0; i < W; i++) {
      char *a = out + at(to.step, r * W + i);
      uint4 x = v[R > 0 ? i * R / W : 0];
      if (R > W && W == 1) { for (int k = 1; k < R; k++) x.x ^= v[k].x, x.y ^= v[k].y, x.z ^= v[k].z, x.w ^= v[k].w; }
      if (N == 1) asm volatile("st.global.u32 [%0], %1;" ::"l"(a), "r"(x.x) : "memory");
      else asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(a), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
    }
  }
  record(rec, begin);
}
#define MIX(name, r, w, n) K name(Rec *rec, char *p, u32 *sums, __grid_constant__ const Plan plan, __grid_constant__ const Plan loads) { mix<r, w, n>(rec, p, plan, loads); }
MIX(mix11, 1, 1, 1) MIX(mix11q, 1, 1, 4) MIX(mix21, 2, 1, 1) MIX(mix41, 4, 1, 1) MIX(mix44, 4, 4, 1) MIX(mix44q, 4, 4, 4) MIX(mix24, 2, 4, 1)
K none(Rec *rec, char *p, u32 *sums, __grid_constant__ const Plan plan, __grid_constant__ const Plan loads) { record(rec, clk()); }
K spin(int cycles) { i64 begin = clk(); while (clk() - begin < cycles) {} }
K marker(Mark *marks) { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); if (threadIdx.x == 0) marks[blockIdx.x] = {clk(), s, 0}; }

#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
static CUmodule module;
static CUfunction function(const char *name, int shared) {
  CUfunction f;
  CHECK(cuModuleGetFunction(&f, module, name));
  CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
  if (shared) CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
  return f;
}
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v.empty() ? 0 : v[v.size() / 2]; }
static bool read_plan(FILE *file, Plan &p) {
  for (Walk *w : {&p.block, &p.warp, &p.lane, &p.step})
    if (fscanf(file, "%u%u%u%u%u%u%u", &w->m0, &w->s0, &w->k1, &w->m1, &w->s1, &w->k2, &w->s2) != 7) return false;
  return fscanf(file, "%u%u%u%u", &p.rounds, &p.lanes, &p.unused, &p.first) == 4;
}
int main(int count, char **names) {
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, names[1]));
  bool timed = !strcmp(names[3], "time");
  CUdeviceptr rec, p, sums, before, after, null = 0;
  const size_t bytes = 1536ull << 20;
  CHECK(cuMemAlloc(&rec, 64 << 20)); CHECK(cuMemAlloc(&p, bytes)); CHECK(cuMemAlloc(&sums, 1 << 20));
  CHECK(cuMemAlloc(&before, 1 << 16)); CHECK(cuMemAlloc(&after, 1 << 16)); CHECK(cuMemsetD32(p, 0, bytes / 4));
  CUfunction mark = function("marker", 200 << 10), busy = function("spin", 200 << 10);
  FILE *file = fopen(names[2], "r");
  char id[100], kernel[100];
  int blocks, warps, shared, counts;
  Plan to, from;
  if (timed) printf("id,between,begin_to_end\n");
  while (fscanf(file, "%99s %99s %d %d %d %d", id, kernel, &blocks, &warps, &shared, &counts) == 6 && read_plan(file, to) && read_plan(file, from)) {
    CUfunction f = function(kernel, shared);
    void *with[] = {timed ? &rec : &null, &p, &sums, &to, &from};
    if (!timed) { if (counts) CHECK(cuLaunchKernel(f, blocks, 1, 1, warps * 32, 1, 1, shared, 0, with, nullptr)); continue; }
    double least = 1e30, span = 1e30;
    for (int i = 0; i < 5; i++) {
      int cycles = 40000;
      void *spins[] = {&cycles}, *one[] = {&before}, *two[] = {&after};
      CHECK(cuLaunchKernel(busy, 132, 1, 1, 32, 1, 1, 200 << 10, 0, spins, nullptr));
      CHECK(cuLaunchKernel(mark, 132, 1, 1, 32, 1, 1, 200 << 10, 0, one, nullptr));
      CHECK(cuLaunchKernel(f, blocks, 1, 1, warps * 32, 1, 1, shared, 0, with, nullptr));
      CHECK(cuLaunchKernel(mark, 132, 1, 1, 32, 1, 1, 200 << 10, 0, two, nullptr));
      CHECK(cuCtxSynchronize());
      std::vector<Mark> a(132), b(132);
      std::vector<Rec> took_by(blocks * warps);
      CHECK(cuMemcpyDtoH(a.data(), before, 132 * sizeof(Mark))); CHECK(cuMemcpyDtoH(b.data(), after, 132 * sizeof(Mark)));
      CHECK(cuMemcpyDtoH(took_by.data(), rec, sizeof(Rec) * took_by.size()));
      std::vector<i64> begins(132);
      std::vector<double> took;
      for (auto &m : a) begins[m.sm] = m.t;
      for (auto &m : b) took.push_back(m.t - begins[m.sm]);
      double sum = 0;
      for (int k = 0; k < blocks; k++) {
        i64 begin = took_by[k * warps].begin, end = took_by[k * warps].end;
        for (int w = 1; w < warps; w++) begin = std::min(begin, took_by[k * warps + w].begin), end = std::max(end, took_by[k * warps + w].end);
        sum += end - begin;
      }
      if (i) least = std::min(least, median(took)), span = std::min(span, sum / blocks);
    }
    printf("%s,%.0f,%.0f\n", id, least, span);
  }
  CHECK(cuCtxSynchronize());
}
