// Cycles of units that whole kernels meet: constants at entry, bursts of loads and stores, the ways to the L2, streams,
// lines of the L1, start and order of blocks, barriers, new code, local memory.
// nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 chip.cu; chip.cubin.xz is the same with -cubin. Run on an H200, it
// prints the rows of gpusim/published/h200_chip.csv.
//
// Each warp stores what its clock says at several places. A row has, for each of these stamps, the cycles after the
// first stamp on the SM: of the earliest, the median and the latest of the SM's warps, each the median over SMs and
// launches. The first launch of each row is left out.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#include "clocks.cuh"

const int STAMPS = 16;
struct Rec { i64 t[STAMPS]; u32 smid, blk, warp, n; };
__constant__ float C[16000];

template <int N> __device__ __forceinline__ void put(Rec *rec, const i64 (&t)[N]) {
  if (threadIdx.x % 32 != 0) return;
  Rec &q = rec[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
#pragma unroll
  for (int i = 0; i < N; i++) q.t[i] = t[i];
  q.smid = sm_id();
  q.blk = blockIdx.x;
  q.warp = threadIdx.x / 32;
  q.n = N;
}
__device__ __forceinline__ size_t warp_of_grid() { return blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; }
__device__ __forceinline__ void fma_by(float &x, float y) {
  asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
}
// Loads of V words, through the L1 (ca) or past it (cg).
template <int V> __device__ __forceinline__ void load(u32 *v, const char *a) {
  if (V == 1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[0]) : "l"(a) : "memory");
  if (V == 2) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1 % V]) : "l"(a) : "memory");
  if (V == 4)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1 % V]), "=r"(v[2 % V]), "=r"(v[3 % V]) : "l"(a) : "memory");
}
template <int V> __device__ __forceinline__ void load_cg(u32 *v, const char *a) {
  if (V == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[0]) : "l"(a) : "memory");
  if (V == 4)
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1 % V]), "=r"(v[2 % V]), "=r"(v[3 % V]) : "l"(a) : "memory");
}
template <int V> __device__ __forceinline__ void store(char *a, u32 s) {
  if (V == 1) asm volatile("st.global.u32 [%0], %1;" :: "l"(a), "r"(s) : "memory");
  if (V == 2) asm volatile("st.global.v2.u32 [%0], {%1, %1};" :: "l"(a), "r"(s) : "memory");
  if (V == 4) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(a), "r"(s) : "memory");
}

// ---- consts: constants at entry, 0 to 256 bytes on, alternately A and B: an operand (D), a load to a lane's register
// (L: LDC), a parameter that is loaded to a uniform register (U: ULDC)
struct Many { int v[512]; };
template <char HOW> __device__ __forceinline__ i64 constant(float &x, int byte, int lane0, const Many &many) {
  if (HOW == 'D') x = x * C[4096 + byte / 4];
  else if (HOW == 'L') x = fmaf(x, C[4096 + byte / 4 + lane0], 1.0f);
  else x = __uint_as_float(__float_as_uint(x) + many.v[64 + byte / 4]);
  return clk_after(x);
}
template <char A, char B> __global__ void consts(Rec *rec, Many many) {
  i64 t[10];
  float x = threadIdx.x;
  int lane0 = threadIdx.x >> 12;
  asm volatile("" : "+r"(lane0));
  t[0] = clk();
  t[1] = constant<A>(x, 0, lane0, many);
  t[2] = constant<B>(x, 4, lane0, many);
  t[3] = constant<A>(x, 8, lane0, many);
  t[4] = constant<B>(x, 64, lane0, many);
  t[5] = constant<A>(x, 68, lane0, many);
  t[6] = constant<A>(x, 128, lane0, many);
  t[7] = constant<B>(x, 132, lane0, many);
  t[8] = constant<B>(x, 192, lane0, many);
  t[9] = constant<A>(x, 256, lane0, many);
  put(rec, t);
}

// ---- loads: a burst of K loads of V words a lane; issued, returned
template <int K, int V, int CG> __global__ void loads(Rec *rec, const char *p, size_t warpstride, u32 lanestride) {
  i64 t[3];
  const char *q = p + warp_of_grid() * warpstride + threadIdx.x % 32 * lanestride;
  u32 v[K * V];
  asm volatile("" : "+l"(q));
  t[0] = clk();
#pragma unroll
  for (int i = 0; i < K; i++) {
    const char *a = q + (size_t)i * 32 * lanestride;
    if (CG) load_cg<V>(v + i * V, a);
    else load<V>(v + i * V, a);
  }
  t[1] = clk();
  u32 s = 0;
#pragma unroll
  for (int i = 0; i < K * V; i++) s += v[i];
  t[2] = clk_after(s);
  put(rec, t);
}

// ---- stores: a burst of K stores of V words a lane; issued, all of them performed (MEMBAR)
template <int K, int V> __global__ void stores(Rec *rec, char *p, size_t warpstride, u32 lanestride) {
  i64 t[3];
  char *q = p + warp_of_grid() * warpstride + threadIdx.x % 32 * lanestride;
  u32 s = threadIdx.x;
  asm volatile("" : "+l"(q));
  t[0] = clk();
#pragma unroll
  for (int i = 0; i < K; i++) store<V>(q + (size_t)i * 32 * lanestride, s);
  t[1] = clk();
  asm volatile("membar.gl;" ::: "memory");
  t[2] = clk();
  put(rec, t);
}

// ---- stream: n rounds of R reads and W writes of V words a lane; all warps go on by `step` bytes, modulo `wrap`
template <int R, int W, int V>
__global__ void stream(Rec *rec, char *p, char *o, size_t step, size_t wrap, int n, u32 lanestride) {
  i64 t[2];
  size_t at = ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * lanestride) % wrap
              + threadIdx.x % 32 * lanestride;
  u32 s = 0;
  t[0] = clk();
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      u32 v[V];
      load_cg<V>(v, p + (at + r * (step / (R > 0 ? R : 1))) % wrap);
      if (V == 1) s += v[0];
      else s += v[0] ^ v[1 % V] ^ v[2 % V] ^ v[3 % V];
    }
#pragma unroll
    for (int w = 0; w < W; w++) store<V>(o + (at + w * (step / (W > 0 ? W : 1))) % wrap, i);
    at += step;
    if (at >= wrap) at -= wrap;
  }
  t[1] = clk_after(s);
  put(rec, t);
}

// ---- empty, arith, waves, tiles: when blocks start, and who goes first
__global__ void empty(Rec *rec) {
  i64 t[1];
  t[0] = clk();
  put(rec, t);
}
template <int I> __global__ void arith(Rec *rec, int n, float y) {
  i64 t[2];
  float x[I];
  for (int i = 0; i < I; i++) x[i] = threadIdx.x + i;
  t[0] = clk();
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int j = 0; j < 16; j++)
#pragma unroll
      for (int i = 0; i < I; i++) x[i] = fmaf(x[i], y, 1.5f);
  }
  float s = 0;
  for (int i = 0; i < I; i++) s += x[i];
  t[1] = clk_after(s);
  put(rec, t);
}
template <int BARS> __global__ void tiles(Rec *rec, int n, float y) {
  extern __shared__ float sh[];
  i64 t[2];
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = i;
  sh[threadIdx.x] = y;
  __syncthreads();
  t[0] = clk();
  for (int k = 0; k < n; k++) {
    float a = sh[(threadIdx.x + k) % 128], b = sh[(threadIdx.x * 3 + k) % 128];
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int i = 0; i < 8; i++) x[i] = fmaf(x[i], a, b);
    if (BARS) __syncthreads();
  }
  float s = 0;
  for (int i = 0; i < 8; i++) s += x[i];
  t[1] = clk_after(s);
  put(rec, t);
}

// ---- behind: a barrier for which one warp is 64 multiply-adds late, four multiply-adds, and then WHAT: a load from
// shared memory, a shuffle, a load from global memory, a store to shared memory, an exponential, a barrier
template <int WHAT> __global__ void behind(Rec *rec, float y, float *g) {
  __shared__ float sh[1024];
  i64 t[6];
  float x = threadIdx.x;
  sh[threadIdx.x] = y;
  __syncthreads();
  t[0] = clk();
  if (threadIdx.x / 32 == 0)
    for (int i = 0; i < 64; i++) fma_by(x, y);
  t[1] = clk();
  asm volatile("bar.sync 0;" ::: "memory");
  t[2] = clk();
  for (int i = 0; i < 4; i++) fma_by(x, y);
  asm volatile("" : "+f"(x) :: "memory");
  t[3] = clk();
  if (WHAT == 0) x += ((volatile float *)sh)[threadIdx.x];
  if (WHAT == 1) x += __shfl_xor_sync(~0u, x, 1);
  if (WHAT == 2) asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(g + threadIdx.x) : "memory");
  if (WHAT == 3)
    asm volatile("st.shared.f32 [%0], %1;" :: "r"((u32)__cvta_generic_to_shared(sh + threadIdx.x)), "f"(x) : "memory");
  if (WHAT == 4) asm volatile("ex2.approx.f32 %0, %0;" : "+f"(x));
  if (WHAT == 5) asm volatile("bar.sync 0;" ::: "memory");
  t[4] = clk();
  asm volatile("" : "+f"(x) :: "memory");
  x += 1;
  t[5] = clk_after(x);
  put(rec, t);
}

// ---- straight: code that no warp has run before, a stamp each N instructions
template <int N> __global__ void straight(Rec *rec, float y) {
  i64 t[16];
  float x[4] = {1, 2, 3, 4};
  t[0] = clk();
#pragma unroll
  for (int k = 1; k < 16; k++) {
#pragma unroll
    for (int i = 0; i < N; i++) fma_by(x[i % 4], y);
    t[k] = clk();
  }
  if (x[0] + x[1] + x[2] + x[3] == 0.1f) t[0]++;
  put(rec, t);
}

// ---- rate: 256 reads of the clock (WHAT 2), of one constant by all lanes (4: LDC), of 32 constants by 32 lanes (5)
template <int WHAT> __global__ void rate(Rec *rec, int zero) {
  i64 t[2];
  u32 s = 0;
  t[0] = clk();
  for (int k = 0; k < 16; k++) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      u32 v = 0;
      if (WHAT == 2) asm volatile("mov.u32 %0, %%clock;" : "=r"(v) :: "memory");
      if (WHAT == 4) {
        int z = zero + threadIdx.x / 4096;
        asm volatile("" : "+r"(z));
        v = __float_as_int(C[z + i]);
      }
      if (WHAT == 5) {
        int z = threadIdx.x % 32 + s % 2;
        v = __float_as_int(C[z + i]);
      }
      s ^= v;
    }
  }
  t[1] = clk_after(s);
  put(rec, t);
}

// ---- local: N words of a stack are stored, then loaded
template <int N> __global__ void local(Rec *rec, int n, int m) {
  i64 t[3];
  volatile int a[N];
  t[0] = clk();
  for (int i = 0; i < N; i++) a[(i * m) % N] = i + n;
  t[1] = clk();
  int s = 0;
  for (int i = 0; i < N; i++) s += a[(i * n) % N];
  t[2] = clk_after((u32)s);
  put(rec, t);
}

// ---- bursts: eight bursts of K coalesced loads from the L2, `gap` dependent multiply-adds and a barrier after each;
// blocks read one place, or each its own
template <int K> __global__ void bursts(Rec *rec, const char *p, size_t own, int gap, float y) {
  i64 t[9];
  const char *q = p + blockIdx.x * own + threadIdx.x * 16;
  float x = threadIdx.x;
  asm volatile("" : "+l"(q));
  t[0] = clk();
#pragma unroll
  for (int n = 0; n < 8; n++) {
    u32 v[4 * K];
    const char *z = q + (size_t)n * K * blockDim.x * 16;
#pragma unroll
    for (int i = 0; i < K; i++) load_cg<4>(v + 4 * i, z + (size_t)i * blockDim.x * 16);
    u32 s = 0;
#pragma unroll
    for (int i = 0; i < 4 * K; i++) s += v[i];
    x += __uint_as_float(s & 1);
    for (int g = 0; g < gap; g++) fma_by(x, y);
    __syncthreads();
    t[n + 1] = clk() + (__float_as_int(x) == 0x7f123456);
  }
  put(rec, t);
}

// ---- gather: loads of V words that hit the L1, of lanes in groups of m: lanes of a group `step` bytes apart, groups
// `stride` bytes apart. Nine rounds of eight loads, the first of which brings the lines.
template <int V> __global__ void gather(Rec *rec, const char *p, int m, int step, int stride) {
  i64 t[3];
  int lane = threadIdx.x % 32;
  const char *q = p + lane / m * stride + lane % m * step;
  u32 s = 0;
  asm volatile("" : "+l"(q));
  t[0] = clk();
#pragma unroll 1
  for (int k = 0; k < 9; k++) {
    u32 v[8 * V];
    if (k == 1) {
      asm volatile("bar.sync 0;" ::: "memory");
      t[1] = clk();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      u32 *w = v + i * V;
      if (V == 1) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(w[0]) : "l"(q + i * 8192) : "memory");
      if (V == 4)
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1 % V]), "=r"(w[2 % V]), "=r"(w[3 % V]) : "l"(q + i * 8192) : "memory");
    }
#pragma unroll
    for (int i = 0; i < 8 * V; i++) s += v[i];
    asm volatile("" : "+l"(q), "+r"(s) :: "memory");
  }
  t[2] = clk() + (s == 0x12345679);
  put(rec, t);
}

// ---- halves: two loads from the L2, the second `second` bytes and `gap` multiply-adds later; each is waited for
__global__ void halves(Rec *rec, const char *p, int second, int gap, float y) {
  i64 t[3];
  const char *q = p + threadIdx.x / 32 * 4096 + threadIdx.x % 16 * 4;
  float x = threadIdx.x;
  u32 a, b;
  asm volatile("" : "+l"(q));
  t[0] = clk();
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(q) : "memory");
  for (int g = 0; g < gap; g++) fma_by(x, y);
  asm volatile("" : "+f"(x) :: "memory");
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(b) : "l"(q + second) : "memory");
  b += __float_as_int(x) & 1;
  asm volatile("" : "+r"(b) :: "memory");
  t[1] = clk() + (b == 0x12345679);
  a += b;
  t[2] = clk_after(a);
  put(rec, t);
}

// ---- rows: rounds of dependent loads as in a product without tiles, U steps a round: of A, from two rows (WHICH 1),
// of B, from a row of half a line (2), or of both (3)
template <int U, int WHICH> __global__ void rows(Rec *rec, const float *A, const float *B, int lda, int ldb, int n) {
  i64 t[2];
  float s = 0;
  const float *a = A + (threadIdx.x >> 4) * lda, *b = B + (threadIdx.x & 15);
  asm volatile("" : "+l"(a), "+l"(b));
  t[0] = clk();
#pragma unroll 1
  for (int k = 0; k < n; k += U) {
    float x[U], z[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      x[u] = z[u] = 1;
      if (WHICH & 1) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x[u]) : "l"(a + u) : "memory");
      if (WHICH & 2) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(z[u]) : "l"(b + u * ldb) : "memory");
    }
#pragma unroll
    for (int u = 0; u < U; u++) s = fmaf(x[u], z[u], s);
    a += U;
    b += U * ldb;
    asm volatile("" : "+f"(s), "+l"(a), "+l"(b) :: "memory");
  }
  t[1] = clk() + (__float_as_int(s) == 0x7f123456);
  put(rec, t);
}

// ======== the host: launches, and a row of each
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) {                         \
    printf("error %s line %d\n", cudaGetErrorString(e_), __LINE__); exit(1); } } while (0)
static const size_t GB = (size_t)1 << 30, POOL = 2 * GB, MAX = 1 << 20;
static Rec *drec;
static char *pool;
static Many many;
typedef std::map<u32, std::vector<Rec>> BySm;

static std::string f(const char *s, ...) {
  char b[200];
  va_list a;
  va_start(a, s);
  vsnprintf(b, 200, s, a);
  va_end(a);
  return b;
}
static double median(std::vector<double> v) {
  if (v.empty()) return -1;
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}
static i64 first_stamp(const std::vector<Rec> &warps) {
  i64 first = warps[0].t[0];
  for (auto &q : warps) first = std::min(first, q.t[0]);
  return first;
}
// The warps of one SM: block:warp:first:last, in the order of blocks.
static std::string each_warp(std::vector<Rec> warps) {
  i64 t0 = first_stamp(warps);
  std::sort(warps.begin(), warps.end(), [](const Rec &x, const Rec &y) {
    return x.blk != y.blk ? x.blk < y.blk : x.warp < y.warp; });
  std::string s;
  for (auto &q : warps)
    s += f("%s%u:%u:%lld:%lld", s.empty() ? "" : " ", q.blk, q.warp, q.t[0] - t0, q.t[q.n - 1] - t0);
  return s;
}
struct Stamps { std::vector<double> lo, mid, hi; };
static void add(std::map<int, Stamps> &stamps, const std::vector<Rec> &warps) {
  i64 t0 = first_stamp(warps);
  for (u32 i = 0; i < warps[0].n; i++) {
    std::vector<double> v;
    for (auto &q : warps) v.push_back(q.t[i] - t0);
    stamps[i].lo.push_back(*std::min_element(v.begin(), v.end()));
    stamps[i].mid.push_back(median(v));
    stamps[i].hi.push_back(*std::max_element(v.begin(), v.end()));
  }
}
static double milliseconds(const std::function<void()> &go) {
  cudaEvent_t a, b;
  float ms;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  CK(cudaEventRecord(a));
  go();
  CK(cudaEventRecord(b));
  CK(cudaEventSynchronize(b));
  CK(cudaGetLastError());
  CK(cudaEventElapsedTime(&ms, a, b));
  cudaEventDestroy(a);
  cudaEventDestroy(b);
  return ms;
}
static void show(const char *experiment, const std::string &parameters, int grid, int block, int launches,
                 std::function<void()> go, bool each = false) {
  size_t warps = (size_t)grid * ((block + 31) / 32);
  std::map<int, Stamps> stamps;
  std::vector<double> ms;
  BySm by;
  milliseconds(go);
  for (int r = 0; r < launches; r++) {
    ms.push_back(milliseconds(go));
    if (warps > MAX) continue;
    std::vector<Rec> recs(warps);
    CK(cudaMemcpy(recs.data(), drec, sizeof(Rec) * warps, cudaMemcpyDeviceToHost));
    by.clear();
    for (auto &q : recs) by[q.smid].push_back(q);
    for (auto &s : by) add(stamps, s.second);
  }
  size_t on_one = by.empty() ? 0 : by.begin()->second.size();
  printf("%s,%s,%d,%d,%zu,%zu,%.5f,", experiment, parameters.c_str(), grid, block, by.size(), on_one, median(ms));
  for (auto &s : stamps)
    printf("%s%.0f:%.0f:%.0f", s.first ? " " : "", median(s.second.lo), median(s.second.mid), median(s.second.hi));
  printf(",%s\n", each ? each_warp(by.begin()->second).c_str() : "");
  fflush(stdout);
}

template <char A, char B> void show_consts() {
  for (int g : {1, 132}) for (int w : {1, 8})
    show("consts", f("A=%c B=%c", A, B), g, 32 * w, 7, [=] { consts<A, B><<<g, 32 * w>>>(drec, many); });
}
template <int K, int V, int CG> void show_loads(std::vector<int> grids, std::vector<int> warps, u32 stride) {
  for (int g : grids) for (int w : warps)
    show("loads", f("K=%d V=%d CG=%d stride=%u", K, V, CG, stride), g, 32 * w, 7,
         [=] { loads<K, V, CG><<<g, 32 * w>>>(drec, pool, (size_t)K * 32 * stride, stride); });
}
template <int K, int V> void show_stores(std::vector<int> grids, std::vector<int> warps, u32 stride) {
  for (int g : grids) for (int w : warps)
    show("stores", f("K=%d V=%d stride=%u", K, V, stride), g, 32 * w, 7,
         [=] { stores<K, V><<<g, 32 * w>>>(drec, pool + GB, (size_t)K * 32 * stride, stride); });
}
template <int K, int V, int CG = 0> void coalesced_loads() {
  show_loads<K, V, CG>({1, 2, 8, 33, 66, 132}, {1, 4, 8, 16, 32}, 4 * V);
}
template <int K, int V> void coalesced_stores() {
  show_stores<K, V>({1, 2, 33, 132}, {1, 4, 8, 32}, 4 * V);
  show_stores<K, V>({528, 1056}, {8}, 4 * V);
}
// Of 12 MB, which the L2 holds: one block of 1024 threads on each of g SMs, or two.
template <int R, int W, int V> void show_stream() {
  const size_t wrap = 12 << 20;
  for (int g : {1, 2, 4, 16, 33, 66, 132, 264}) {
    size_t step = (size_t)g * 1024 * 4 * V % wrap;
    show("stream", f("R=%d W=%d V=%d", R, W, V), g, 1024, 3,
         [=] { stream<R, W, V><<<g, 1024>>>(drec, pool, pool + GB, step, wrap, 64, 4 * V); });
  }
}
static void show_blocks() {
  for (int w : {1, 2, 4, 8, 16, 32}) for (int g : {132, 264, 528, 1056, 2112, 4224})
    if (g * w <= 132 * 64) show("empty", "", g, 32 * w, 7, [=] { empty<<<g, 32 * w>>>(drec); }, g * w <= 132 * 16);
  for (int w : {4, 8}) for (int b : {1, 2, 4, 8, 16}) {
    if (w * b > 64) continue;
    int g = 132 * b;
    show("arith", "I=8 n=20", g, 32 * w, 3, [=] { arith<8><<<g, 32 * w>>>(drec, 20, 0.5f); }, true);
    show("arith", "I=1 n=40", g, 32 * w, 3, [=] { arith<1><<<g, 32 * w>>>(drec, 40, 0.5f); }, true);
    show("tiles", "BARS=1 n=40", g, 32 * w, 3, [=] { tiles<1><<<g, 32 * w, 1024>>>(drec, 40, 0.5f); }, true);
    show("tiles", "BARS=0 n=40", g, 32 * w, 3, [=] { tiles<0><<<g, 32 * w, 1024>>>(drec, 40, 0.5f); }, true);
  }
  for (int w : {4, 8, 32}) for (int waves : {2, 4}) {
    int g = 132 * (64 / w) * waves;
    show("waves", "I=1 n=20", g, 32 * w, 3, [=] { arith<1><<<g, 32 * w>>>(drec, 20, 0.5f); }, true);
  }
}
template <int WHAT> void show_behind() {
  for (int w : {1, 8, 32})
    show("behind", f("WHAT=%d", WHAT), 1, 32 * w, 7,
         [=] { behind<WHAT><<<1, 32 * w>>>(drec, 0.5f, (float *)pool); }, w == 8);
}
template <int N> void show_straight() {
  for (int g : {1, 132}) for (int w : {1, 4, 8, 32})
    show("straight", f("N=%d", N), g, 32 * w, 7, [=] { straight<N><<<g, 32 * w>>>(drec, 0.5f); });
}
template <int WHAT> void show_rate() {
  for (int w : {1, 4, 8, 16, 32})
    show("rate", f("WHAT=%d", WHAT), 1, 32 * w, 5, [=] { rate<WHAT><<<1, 32 * w>>>(drec, 0); });
}
template <int K> void show_bursts() {
  for (int g : {1, 66, 132}) for (size_t own : {(size_t)0, (size_t)1 << 18})
    for (int gap : {0, 50, 100, 200, 400, 800, 1600}) for (int w : {8, 16})
      show("bursts", f("K=%d own=%zu gap=%d", K, own, gap), g, 32 * w, 5,
           [=] { bursts<K><<<g, 32 * w>>>(drec, pool, own, gap, 0.5f); });
}
template <int V> void show_gather(std::vector<int> steps, std::vector<int> strides) {
  for (int w : {1, 8, 32}) for (int m : {32, 16, 8, 4, 2, 1}) for (int step : steps) for (int stride : strides)
    show("gather", f("V=%d m=%d step=%d stride=%d", V, m, step, stride), 1, 32 * w, 3,
         [=] { gather<V><<<1, 32 * w>>>(drec, pool, m, step, stride); });
}
static void show_halves() {
  for (int w : {1, 8}) for (int second : {0, 32, 64, 128, 256}) for (int gap : {0, 4, 16, 40, 60, 80})
    show("halves", f("second=%d gap=%d", second, gap), 1, 32 * w, 7,
         [=] { halves<<<1, 32 * w>>>(drec, pool, second, gap, 0.5f); });
}
template <int U, int WHICH> void show_rows() {
  const float *A = (const float *)pool, *B = A + (1 << 20);
  for (int w : {1, 4, 8, 16}) for (int ldb : {16, 256}) for (int lda : {256, 264})
    show("rows", f("U=%d WHICH=%d lda=%d ldb=%d", U, WHICH, lda, ldb), 1, 32 * w, 5,
         [=] { rows<U, WHICH><<<1, 32 * w>>>(drec, A, B, lda, ldb, 256); });
}

int main() {
  CK(cudaMalloc(&drec, sizeof(Rec) * MAX));
  CK(cudaMalloc(&pool, POOL));
  CK(cudaMemset(pool, 0, POOL));
  CK(cudaMemcpyToSymbol(C, std::vector<float>(16000, 0.0f).data(), 64000));
  printf("experiment,parameters,blocks,threads,sms,warps_of_an_sm,ms,stamps,each_warp\n");
  show_consts<'D', 'D'>(), show_consts<'L', 'L'>(), show_consts<'U', 'U'>();
  show_consts<'D', 'L'>(), show_consts<'L', 'D'>();
  coalesced_loads<1, 1>(), coalesced_loads<2, 1>(), coalesced_loads<4, 1>(), coalesced_loads<8, 1>();
  coalesced_loads<16, 1>(), coalesced_loads<8, 1, 1>(), coalesced_loads<1, 4>(), coalesced_loads<4, 4>();
  coalesced_loads<8, 4>(), coalesced_loads<4, 2>();
  show_loads<8, 1, 0>({264, 528, 1056}, {8}, 4), show_loads<8, 4, 0>({264, 528, 1056}, {8}, 16);
  for (u32 stride : {0, 8, 16, 32, 64, 128}) {
    show_loads<8, 1, 0>({1, 132}, {8, 32}, stride);
    show_stores<8, 1>({1, 132}, {8, 32}, stride);
  }
  coalesced_stores<1, 1>(), coalesced_stores<4, 1>(), coalesced_stores<8, 1>();
  coalesced_stores<4, 2>(), coalesced_stores<4, 4>();
  show_stream<1, 0, 1>(), show_stream<4, 0, 1>(), show_stream<2, 0, 4>(), show_stream<0, 1, 1>();
  show_stream<0, 2, 4>(), show_stream<1, 1, 1>(), show_stream<2, 1, 1>(), show_stream<1, 1, 4>();
  show_stream<2, 1, 4>();
  show_blocks();
  show_behind<0>(), show_behind<1>(), show_behind<2>(), show_behind<3>(), show_behind<4>(), show_behind<5>();
  show_straight<16>(), show_straight<64>(), show_straight<256>();
  show_rate<2>(), show_rate<4>(), show_rate<5>();
  for (int g : {1, 132}) for (int w : {1, 8, 32})
    show("local", "N=32", g, 32 * w, 5, [=] { local<32><<<g, 32 * w>>>(drec, 1, 1); });
  show_bursts<2>(), show_bursts<4>();
  show_gather<1>({0, 4}, {128, 132, 136, 144, 160, 192, 256});
  show_gather<4>({0, 16}, {128, 144, 160, 192, 256});
  show_halves();
  show_rows<4, 3>(), show_rows<4, 1>(), show_rows<4, 2>(), show_rows<1, 3>(), show_rows<8, 3>(), show_rows<8, 2>();
}
