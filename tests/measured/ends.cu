// When a launch ends: kernels whose last instructions are stores, atomics, or nothing; and blocks that wait for others.
// nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 ends.cu; ends.cubin.xz is the same with -cubin.
//
// Under ncu (`./ends ncu`) each launch of the lists below is counted once: rows of gpusim/published/h200_ends.csv have
// sm__cycles_active.max. `./ends clocks` prints when the blocks of an SM begin, and when the next kernel begins there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned int u32;
typedef long long i64;
struct Rec { i64 t; u32 smid, blk; };

__device__ __forceinline__ i64 clk() { i64 c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory"); return c; }
__device__ __forceinline__ u32 sm_id() { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
#define ME (blockIdx.x * blockDim.x + threadIdx.x)
// Lanes of one word, which the compiler does not know: else it adds them up before.
#define AT(place) p + ((threadIdx.x & none) + (place))
#define K extern "C" __global__ void __launch_bounds__(1024)
__device__ __forceinline__ void addi(u32 *p) { asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(threadIdx.x) : "memory"); }
__device__ __forceinline__ void addf(u32 *p) { asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory"); }
__device__ __forceinline__ u32 old(u32 *p) { u32 r; asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(threadIdx.x) : "memory"); return r; }
__device__ __forceinline__ u32 oldf(u32 *p) { float r; asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(r) : "l"(p), "f"(1.0f) : "memory"); return __float_as_uint(r); }

K own_empty(u32 *p, u32 none) {}
K own_store(u32 *p, u32 none) { p[ME] = threadIdx.x; }
K one_store(u32 *p, u32 none) { p[0] = ME; }
K block_store(u32 *p, u32 none) { p[blockIdx.x * 128] = ME; }
K own_shared(u32 *p, u32 none) { extern __shared__ u32 s[]; ((volatile u32 *)s)[threadIdx.x] = ME; }
K own_load(u32 *p, u32 none) { if (((volatile u32 *)p)[ME] == 0x12345679) p[0] = 1; }
K one_red(u32 *p, u32 none) { addi(AT(0)); }
K block_red(u32 *p, u32 none) { addi(AT(blockIdx.x * 128)); }
K own_red(u32 *p, u32 none) { addi(p + ME); }
K one_redf(u32 *p, u32 none) { addf(AT(0)); }
K block_redf(u32 *p, u32 none) { addf(AT(blockIdx.x * 128)); }
K own_redf(u32 *p, u32 none) { addf(p + ME); }
K one_atom(u32 *p, u32 none) { if (old(AT(0)) == 0xfffffff1) p[1] = 1; }
K block_atom(u32 *p, u32 none) { if (old(AT(blockIdx.x * 128)) == 0xfffffff1) p[1] = 1; }
K own_atom(u32 *p, u32 none) { if (old(p + ME) == 0xfffffff1) p[1] = 1; }
K one_atomf(u32 *p, u32 none) { if (oldf(AT(0)) == 0xfffffff1) p[1] = 1; }

// As one_red and the like, n times, behind a record of when the block began.
template <class F> __device__ __forceinline__ void noted(Rec *rec, int n, F act) {
  i64 t = clk();
  if (threadIdx.x == 0) { rec[blockIdx.x].t = t; rec[blockIdx.x].smid = sm_id(); rec[blockIdx.x].blk = blockIdx.x; }
#pragma unroll 1
  for (int i = 0; i < n; i++) act(i);
}
K begun_empty(Rec *rec, u32 *p, int n, u32 none) { noted(rec, n, [](int) {}); }
K begun_store(Rec *rec, u32 *p, int n, u32 none) { noted(rec, n, [=](int i) { p[ME + i * gridDim.x * blockDim.x] = i; }); }
K begun_red(Rec *rec, u32 *p, int n, u32 none) { noted(rec, n, [=](int) { addi(AT(0)); }); }
K begun_redf(Rec *rec, u32 *p, int n, u32 none) { noted(rec, n, [=](int) { addf(AT(0)); }); }
K begun_own(Rec *rec, u32 *p, int n, u32 none) { noted(rec, n, [=](int i) { addf(p + ME); }); }

// Barriers of the whole grid, n in turn: the last one to come lets all others go on.
K barriers(Rec *rec, u32 *p, int n, u32 none) {
  i64 t = clk();
  if (threadIdx.x == 0) { rec[blockIdx.x].t = t; rec[blockIdx.x].smid = sm_id(); rec[blockIdx.x].blk = blockIdx.x; }
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(p, 1u);
      while (*(volatile u32 *)p < (i + 1) * gridDim.x) {}
      __threadfence();
    }
    __syncthreads();
  }
  p[32 + ME] = blockIdx.x;
}
// Inclusive sums in one pass, with look-back (Merrill and Garland 2016): status 1 has a block's sum, 2 all up to it.
K scan(u32 *out, const u32 *in, volatile u32 *status, volatile u32 *sums, volatile u32 *prefix) {
  __shared__ u32 part[256], before;
  u32 t = threadIdx.x, b = blockIdx.x, x = in[ME];
  part[t] = x;
  __syncthreads();
  for (u32 d = 1; d < blockDim.x; d *= 2) {
    u32 y = t >= d ? part[t - d] : 0;
    __syncthreads();
    part[t] += y;
    __syncthreads();
  }
  if (t == 0) {
    u32 sum = part[blockDim.x - 1], found = 0;
    if (b == 0) { prefix[0] = sum; __threadfence(); status[0] = 2; }
    else {
      sums[b] = sum; __threadfence(); status[b] = 1;
      for (int k = b - 1; k >= 0; k--) {
        u32 s;
        while ((s = status[k]) == 0) {}
        __threadfence();
        if (s == 2) { found += prefix[k]; break; }
        found += sums[k];
      }
      prefix[b] = found + sum; __threadfence(); status[b] = 2;
    }
    before = found;
  }
  __syncthreads();
  out[ME] = part[t] + before;
}
K col(float *o) { for (int j = 0; j < 32; j++) o[threadIdx.x * 64 + j] = j; }
K far(float *o) { for (int j = 0; j < 32; j++) o[threadIdx.x * 64 * 8 + ((j * 8) & 511)] = j; }
K nothing() {}
K spin(i64 *t, int cycles) { i64 c = clk(); while (clk() - c < cycles) {} if (cycles == -1) t[0] = c; }
K marker(Rec *rec) { if (threadIdx.x == 0) { rec[blockIdx.x].t = clk(); rec[blockIdx.x].smid = sm_id(); } }

static void check(cudaError_t e) { if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } }
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v.empty() ? 0 : v[v.size() / 2]; }
typedef void (*Plain)(u32 *, u32);
typedef void (*Begun)(Rec *, u32 *, int, u32);
static const int BLOCKS[] = {1, 2, 8, 33, 66, 131, 132, 133, 160, 200, 264, 265, 400};
static u32 *p, *q;
static Rec *rec, *mark;
static void zero() { check(cudaMemset(p, 0, 64 << 20)); check(cudaDeviceSynchronize()); }

static void counted() {
  struct { const char *name; Plain f; } plain[] = {
#define P(f) {#f, f}
    P(own_empty), P(own_store), P(one_store), P(block_store), P(own_shared), P(own_load), P(one_red), P(block_red), P(own_red),
    P(one_redf), P(block_redf), P(own_redf), P(one_atom), P(block_atom), P(own_atom), P(one_atomf)};
  zero();
  for (auto &one : plain) for (int threads : {32, 1024}) for (int blocks : BLOCKS)
    one.f<<<blocks, threads, one.f == own_shared ? 4096 : 0>>>(p, 0);
  check(cudaDeviceSynchronize());
  for (int threads : {32, 256}) for (int n : {1, 10}) for (int blocks : {2, 33, 132, 264}) {
    zero();
    barriers<<<blocks, threads>>>(rec, p, n, 0);
    check(cudaDeviceSynchronize());
  }
  for (int blocks : {2, 33, 132, 264, 1056, 2112}) {
    zero();
    scan<<<blocks, 256>>>(q, q + (4 << 20), p, p + (1 << 20), p + (2 << 20));
    check(cudaDeviceSynchronize());
  }
  col<<<1, 32>>>((float *)p); far<<<1, 32>>>((float *)p);
  for (int threads : {32, 64, 128, 256, 512, 1024}) for (int blocks : {1, 132, 264, 528, 1056, 2112, 4224, 8448, 16896, 33792}) {
    nothing<<<blocks, threads>>>();
    for (int cycles : {200, 1000}) if (blocks <= 16896) spin<<<blocks, threads>>>((i64 *)p, cycles);
    check(cudaDeviceSynchronize());
  }
  check(cudaDeviceSynchronize());
}

// Medians over SMs and launches: when each block of an SM begins, and when the next kernel does, after the first block.
static void begun() {
  struct { const char *name; Begun f; } all[] = {P(begun_empty), P(begun_store), P(begun_red), P(begun_redf), P(begun_own), P(barriers)};
  printf("kernel,threads,per_sm,blocks,n,begins,next\n");
  for (auto &one : all) for (int threads : {32, 1024}) for (int per_sm : {1, 2}) for (int blocks : {1, 132, 528}) for (int n : {1, 4}) {
    if (one.f == barriers && blocks > 132 * per_sm) continue;
    int shared = (227 * 1024) / per_sm - 2048;
    check(cudaFuncSetAttribute(one.f, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    std::map<size_t, std::vector<double>> begins;
    std::vector<double> next;
    for (int i = 0; i < 4; i++) {
      zero();
      one.f<<<blocks, threads, shared>>>(rec, p, n, 0);
      marker<<<132, 32, 200 * 1024>>>(mark);
      check(cudaDeviceSynchronize());
      std::vector<Rec> r(blocks), m(132);
      check(cudaMemcpy(r.data(), rec, blocks * sizeof(Rec), cudaMemcpyDeviceToHost));
      check(cudaMemcpy(m.data(), mark, 132 * sizeof(Rec), cudaMemcpyDeviceToHost));
      if (i == 0) continue;
      std::map<u32, std::vector<i64>> by;
      for (auto &x : r) by[x.smid].push_back(x.t);
      for (auto &sm : by) std::sort(sm.second.begin(), sm.second.end());
      for (auto &sm : by) for (size_t k = 0; k < sm.second.size(); k++) begins[k].push_back(sm.second[k] - sm.second[0]);
      for (auto &x : m) if (by.count(x.smid)) next.push_back(x.t - by[x.smid][0]);
    }
    printf("%s,%d,%d,%d,%d,", one.name, threads, per_sm, blocks, n);
    for (auto &b : begins) printf("%s%.0f", b.first ? " " : "", median(b.second));
    printf(",%.0f\n", median(next));
    fflush(stdout);
  }
}
int main(int argc, char **argv) {
  check(cudaMalloc(&p, 64 << 20)); check(cudaMalloc(&q, 64 << 20));
  check(cudaMalloc(&rec, 1 << 20)); check(cudaMalloc(&mark, 1 << 20));
  check(cudaMemset(q, 1, 64 << 20));
  check(cudaFuncSetAttribute(marker, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  if (argc > 1 && !strcmp(argv[1], "ncu")) counted(); else begun();
}
