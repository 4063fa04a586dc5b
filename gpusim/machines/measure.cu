// Measures the numbers of a machine file on the GPU it runs on, in half a minute:
//   nvcc -O3 -arch=native measure.cu -o measure && ./measure > card.csv
//   gpusim machines measure --read card.csv --like NAME --out card.toml
// Each line of the output is a quantity and its value. Cycles are those of clock64(). What a step of a chain takes is
// the difference between loops of 96 and of 32 steps, so that the loop itself cancels.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned long long u64;
typedef unsigned int u32;

#define CHECK(call) \
  do { \
    cudaError_t error = (call); \
    if (error != cudaSuccess) { \
      std::fprintf(stderr, "measure.cu:%d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1); \
    } \
  } while (0)

__constant__ u32 constants[64];

static long long* spans;  // of each warp, on the card
static u32* numbers;      // operands of chains
static u32* sink;         // what chains end with, so that they are not left out
static int sms;

__device__ __forceinline__ long long now() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ __forceinline__ void meet() {  // a barrier whose result is used: no clock is read before it is over
  if (__syncthreads_count(1) != (int)blockDim.x) __trap();
}

__device__ __forceinline__ void keep(long long* spans, long long span) {
  if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = span;
}

// What a step does with its state x and two operands that the compiler does not know.
#define STEP(NAME, TYPE, ...) \
  struct NAME { \
    typedef TYPE T; \
    static __device__ __forceinline__ T first(u32 x) { return (T)x; } \
    static __device__ __forceinline__ void step(T& x, T a, T b) { asm volatile(__VA_ARGS__); } \
  };
STEP(Ffma, float, "fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b))
STEP(Fmul, float, "mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
STEP(Imad, u32, "mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
STEP(Iadd, u32, "{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(x) : "r"(a), "r"(b))
STEP(Lop3, u32, "lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(x) : "r"(a), "r"(b))
STEP(Shift, u32, "shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
STEP(Permute, u32, "prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
STEP(Least, float, "{.reg .f32 t; min.f32 t, %0, %1; max.f32 %0, t, %2;}" : "+f"(x) : "f"(a), "f"(b))
STEP(Popc, u32, "popc.b32 %0, %0;" : "+r"(x))
STEP(Dot, u32, "dp4a.s32.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
STEP(Dfma, double, "fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b))
STEP(Ex2, float, "ex2.approx.ftz.f32 %0, %0;" : "+f"(x))
STEP(Shuffle, u32, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x))
STEP(LoadShared, u32, "ld.shared.u32 %0, [%0];" : "+r"(x))
STEP(LoadShared64, u32, "{.reg .u32 t; ld.volatile.shared.v2.u32 {%0, t}, [%0];}" : "+r"(x))
STEP(LoadShared128, u32, "{.reg .u32 s, t, u; ld.volatile.shared.v4.u32 {%0, s, t, u}, [%0];}" : "+r"(x))

struct LoadConstant {
  typedef u32 T;
  static __device__ __forceinline__ T first(u32 x) { return x & 0; }
  static __device__ __forceinline__ void step(T& x, T, T) { x = *(const u32*)((const char*)constants + x); }
};

struct AddShared {
  typedef u32 T;
  static __device__ __forceinline__ T first(u32) { return 0; }
  static __device__ __forceinline__ void step(T& x, T a, T) {
    asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(a));
  }
};

extern __shared__ u32 words[];
static const int WORDS = 2048;

// SHARED: bytes between the places of shared memory that lanes begin with; 0: the chain is of numbers. Each word of
// shared memory holds its own address.
template <class S, int SHARED, int CHAINS, int STEPS>
__global__ void __launch_bounds__(1024) chain(long long* spans, const u32* numbers, u32* sink, int rounds) {
  typedef typename S::T T;
  u32 base = (u32)__cvta_generic_to_shared(words);
  for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = base + 4 * i;
  u32 place = base + threadIdx.x % 32 * (SHARED ? SHARED : 4);
  T a = SHARED ? (T)place : (T)numbers[threadIdx.x], b = (T)numbers[threadIdx.x + 1024];
  T x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = SHARED ? S::first(place) : S::first(numbers[threadIdx.x + 2048 + k]);
  long long span = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {  // the first fills the instruction caches
    meet();
    long long begin = now();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
      for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++) S::step(x[k], a, b);
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++) sink[(k * 1024 + threadIdx.x)] = (u32)x[k];
    span = now() - begin;
  }
  keep(spans, span);
}

static double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// The longest span of a launch's warps, the median of seven launches.
template <class Launch>
static double longest(int warps, Launch launch) {
  std::vector<double> all;
  std::vector<long long> found(warps);
  for (int run = 0; run < 8; run++) {
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(found.data(), spans, warps * sizeof(long long), cudaMemcpyDeviceToHost));
    if (run) all.push_back((double)*std::max_element(found.begin(), found.end()));
  }
  return median(all);
}

static void say(const char* what, double value) {
  std::printf("%s,%.4f\n", what, value);
  std::fflush(stdout);
}

// Cycles of a step of a chain by one warp.
template <class S, int SHARED>
static double step() {
  const int rounds = 40;
  double few = longest(1, [&] { chain<S, SHARED, 1, 32><<<1, 32, 4 * WORDS>>>(spans, numbers, sink, rounds); });
  double many = longest(1, [&] { chain<S, SHARED, 1, 96><<<1, 32, 4 * WORDS>>>(spans, numbers, sink, rounds); });
  return (many - few) / (64 * rounds);
}

// Steps of an SM in a cycle, by threads: the most of 16 and 32 warps with 4 and 8 chains each.
template <class S, int SHARED, int CHAINS>
static double rate_of(int warps) {
  const int rounds = 24, steps = 240 / CHAINS;
  auto run = [&](int times) {
    return longest(warps, [&] {
      chain<S, SHARED, CHAINS, steps><<<1, 32 * warps, 4 * WORDS>>>(spans, numbers, sink, times);
    });
  };
  return 32.0 * warps * CHAINS * steps * 2 * rounds / (run(3 * rounds) - run(rounds));
}

template <class S, int SHARED>
static double rate() {
  double narrow = std::max(rate_of<S, SHARED, 4>(16), rate_of<S, SHARED, 4>(32));
  return std::max(narrow, std::max(rate_of<S, SHARED, 8>(16), rate_of<S, SHARED, 8>(32)));
}

template <int TIMES>
__global__ void __launch_bounds__(1024) barriers(long long* spans, int rounds) {
  long long span = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    meet();
    long long begin = now();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
      for (int k = 0; k < TIMES; k++) asm volatile("bar.sync 0;" ::: "memory");
    }
    span = now() - begin;
  }
  keep(spans, span);
}

static double barrier(int warps) {
  const int rounds = 20;
  double few = longest(warps, [&] { barriers<16><<<1, 32 * warps>>>(spans, rounds); });
  double many = longest(warps, [&] { barriers<48><<<1, 32 * warps>>>(spans, rounds); });
  return (many - few) / (32 * rounds);
}

// Products of matrices: registers of A, B and of the sums.
#define PRODUCT(NAME, SINCE, TYPE, SUMS, ...) \
  struct NAME { \
    typedef TYPE T; \
    static const int sums = SUMS, since = SINCE; \
    static __device__ __forceinline__ void step(T* c, const T* a) { asm volatile(__VA_ARGS__); } \
  };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
PRODUCT(F32K16, 800, u32, 4, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]))
PRODUCT(F32K8, 800, u32, 4, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]))
PRODUCT(F16K16, 800, u32, 2, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
        : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]))
PRODUCT(S32K32, 800, u32, 4, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]))
PRODUCT(F64K4, 800, double, 2, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1]) : "d"(a[0]), "d"(a[1]))
#endif

template <class P, int CHAINS, int STEPS>
__global__ void __launch_bounds__(512) products(long long* spans, const u32* numbers, u32* sink, int rounds) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  typedef typename P::T T;
  T a[6], c[CHAINS][P::sums];
  for (int i = 0; i < 6; i++) a[i] = (T)(numbers[threadIdx.x + i] & 0x3c003c00);
#pragma unroll
  for (int k = 0; k < CHAINS; k++)
#pragma unroll
    for (int i = 0; i < P::sums; i++) c[k][i] = 0;
  long long span = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    meet();
    long long begin = now();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
      for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++) P::step(c[k], a);
    }
    u32 all = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
#pragma unroll
      for (int i = 0; i < P::sums; i++) all += (u32)c[k][i];
    sink[threadIdx.x] = all;
    span = now() - begin;
  }
  keep(spans, span);
#endif
}

// padded: between products of a chain the compiler waits longer than the unit needs, and the latency is not told.
template <class P>
static void product(const char* kind, bool padded = false) {
  const int rounds = 20;
  char what[64];
  double few = longest(1, [&] { products<P, 1, 32><<<1, 32>>>(spans, numbers, sink, rounds); });
  double many = longest(1, [&] { products<P, 1, 96><<<1, 32>>>(spans, numbers, sink, rounds); });
  std::snprintf(what, sizeof what, "matrix.%s.latency", kind);
  if (!padded) say(what, (many - few) / (64 * rounds));
  const int warps = 8, chains = 4;  // two warps of each scheduler
  few = longest(warps, [&] { products<P, chains, 16><<<1, 32 * warps>>>(spans, numbers, sink, rounds); });
  many = longest(warps, [&] { products<P, chains, 48><<<1, 32 * warps>>>(spans, numbers, sink, rounds); });
  std::snprintf(what, sizeof what, "matrix.%s.interval", kind);
  say(what, (many - few) / (32 * rounds * chains * warps / 4));
}

// One warp loads words that hold the lower half of their own addresses, through the L1.
template <int STEPS>
__global__ void near_chain(long long* spans, u32* memory, u32* sink, int rounds) {
  u64 at = (u64)(memory + threadIdx.x);
  u32 low = (u32)at, high = (u32)(at >> 32);
  memory[threadIdx.x] = low;
  __threadfence();
  long long span = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    meet();
    long long begin = now();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
      for (int step = 0; step < STEPS; step++)
        asm volatile("{.reg .u64 p; mov.b64 p, {%0, %1}; ld.global.ca.u32 %0, [p];}" : "+r"(low) : "r"(high));
    }
    sink[threadIdx.x] = low;
    span = now() - begin;
  }
  keep(spans, span);
}

// A warp of each SM loads lines whose words hold the lower half of their own addresses, past the L1, one after the
// other: near and far.
template <int STEPS>
__global__ void line_chain(long long* spans, u32* memory, u32* sink, int lines) {
  long long span = 0;
  u32 all = 0;
  for (int line = 0; line < lines; line++) {
    u64 at = (u64)(memory + (u64)(blockIdx.x * lines + line) * 1056 + threadIdx.x);
    u32 low = (u32)at, high = (u32)(at >> 32);
    *(u32*)at = low;
    __threadfence();
    auto load = [&] {
      asm volatile("{.reg .u64 p; mov.b64 p, {%0, %1}; ld.global.cg.u32 %0, [p];}" : "+r"(low) : "r"(high) : "memory");
    };
    load();
    all += low;
    long long begin = now();
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int step = 0; step < STEPS; step++) load();
    }
    all += low;
    asm volatile("" ::"r"(all) : "memory");
    span += now() - begin;
  }
  sink[32 * blockIdx.x + threadIdx.x] = all;
  keep(spans, span);
}

// Cycles of a warp's coalesced load that the L2 answers, the mean over all SMs and places.
static double l2_load(u32* memory) {
  const int lines = 64;
  std::vector<long long> found(sms);
  double all[2];
  for (int pass = 0; pass < 4; pass++) {
    if (pass % 2)
      line_chain<24><<<sms, 32>>>(spans, memory, sink, lines);
    else
      line_chain<8><<<sms, 32>>>(spans, memory, sink, lines);
    CHECK(cudaMemcpy(found.data(), spans, sms * sizeof(long long), cudaMemcpyDeviceToHost));
    all[pass % 2] = 0;
    for (long long span : found) all[pass % 2] += (double)span;
  }
  return (all[1] - all[0]) / ((double)sms * lines * 4 * 16);
}

__global__ void link(u64* base, const u32* order, int count, int apart) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    base[(u64)order[i] * apart / 8] = (u64)(base + (u64)order[(i + 1) % count] * apart / 8);
}

// A thread of block `active` follows pointers past the L1.
__global__ void dram_chain(long long* spans, u64* first, u32* sink, int steps, int active) {
  if ((int)blockIdx.x != active) return;
  u64 at = (u64)first;
  long long begin = now();
#pragma unroll 1
  for (int i = 0; i < steps; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
  }
  sink[0] = (u32)at;
  spans[0] = now() - begin;
}

__global__ void touch(uint4* memory, size_t count, u32 value) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    memory[i] = make_uint4(value, value, value, value);
}

// Cycles of a load that passes the L1, of the DRAM, the mean over so many SMs; other memory is written before, so that the L2 is full.
static double dram_load(u64* memory, size_t bytes, int apart, int steps, int places, uint4* other, size_t other_bytes) {
  std::vector<u32> order(bytes / apart);
  for (size_t i = 0; i < order.size(); i++) order[i] = (u32)i;
  u64 seed = 88172645463325252ull;
  for (size_t i = order.size() - 1; i > 0; i--) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    std::swap(order[i], order[seed % (i + 1)]);
  }
  u32* on_card;
  CHECK(cudaMalloc(&on_card, 4 * order.size()));
  CHECK(cudaMemcpy(on_card, order.data(), 4 * order.size(), cudaMemcpyHostToDevice));
  link<<<256, 256>>>(memory, on_card, (int)order.size(), apart);
  CHECK(cudaDeviceSynchronize());
  double all = 0;
  for (int place = 0; place < places; place++) {
    long long span = 0;
    for (int pass = 0; pass < 2; pass++) {
      touch<<<1024, 256>>>(other, other_bytes / 16, (u32)place);
      dram_chain<<<sms, 32>>>(spans, memory + (u64)order[0] * apart / 8, sink, steps, place * sms / places);
      CHECK(cudaMemcpy(&span, spans, sizeof span, cudaMemcpyDeviceToHost));
    }
    all += (double)span / steps;
  }
  CHECK(cudaFree(on_card));
  return all / places;
}

__global__ void __launch_bounds__(1024) reads(long long* spans, const uint4* memory, size_t count, int times, u32* sink) {
  u32 all = 0;
  size_t stride = (size_t)gridDim.x * blockDim.x;
  __syncthreads();
  long long begin = now();
#pragma unroll 1
  for (int k = 0; k < times; k++)
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + 3 * stride < count; i += 4 * stride) {
      uint4 a = __ldcg(memory + i), b = __ldcg(memory + i + stride);
      uint4 c = __ldcg(memory + i + 2 * stride), d = __ldcg(memory + i + 3 * stride);
      all += a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
  if (all == 12345) sink[0] = all;
  keep(spans, now() - begin);
}

// Bytes of reads in a cycle of the median warp of all SMs, two blocks of 1,024 threads each.
static double read_bytes(const uint4* memory, size_t bytes, int times) {
  int blocks = 2 * sms, warps = 32 * blocks;
  size_t count = bytes / 16, stride = (size_t)blocks * 1024;
  std::vector<double> all;
  std::vector<long long> found(warps);
  for (int run = 0; run < 6; run++) {
    reads<<<blocks, 1024>>>(spans, memory, count, times, sink);
    CHECK(cudaMemcpy(found.data(), spans, warps * sizeof(long long), cudaMemcpyDeviceToHost));
    std::nth_element(found.begin(), found.begin() + warps / 2, found.end());
    if (run) all.push_back((double)found[warps / 2]);
  }
  return (double)(count / (4 * stride) * (4 * stride) * 16) * times / median(all);
}

__global__ void __launch_bounds__(128) read_once(const uint4* memory, u32* sink) {
  const uint4* first = memory + blockIdx.x * (size_t)512 + threadIdx.x;
  u32 all = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    uint4 a = __ldg(first + 128 * k);
    all ^= a.x ^ a.y ^ a.z ^ a.w;
  }
  if (all == 12345) sink[0] = all;
}

// 10^6 bytes a second that reads of the DRAM take beyond those of half as many, in blocks of 8 KB.
static double dram_mbs(const uint4* memory, size_t bytes) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  auto seconds = [&](size_t part) {
    std::vector<double> all;
    for (int run = 0; run < 9; run++) {
      float ms;
      CHECK(cudaEventRecord(begin));
      read_once<<<(unsigned)(part / 8192), 128>>>(memory, sink);
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      if (run) all.push_back(ms / 1e3);
    }
    return median(all);
  };
  return (bytes - bytes / 2) / (seconds(bytes) - seconds(bytes / 2)) / 1e6;
}

__global__ void spin(long long* spans, long long cycles) {  // cycles, and nanoseconds that they took
  u64 began, ended;
  long long begin = now();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began)::"memory");
  while (now() - begin < cycles) {
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ended)::"memory");
  spans[0] = now() - begin;
  spans[1] = (long long)(ended - began);
}

static double clock_mhz() {
  long long both[2];
  for (int run = 0; run < 3; run++) {
    spin<<<1, 1>>>(spans, 200000000ll);
    CHECK(cudaMemcpy(both, spans, sizeof both, cudaMemcpyDeviceToHost));
  }
  return 1e3 * both[0] / both[1];
}

static int attribute(cudaDeviceAttr which) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

static void properties() {
  cudaDeviceProp card;
  CHECK(cudaGetDeviceProperties(&card, 0));
  char date[16];
  std::time_t today = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&today));
  std::printf("gpusim,measure 1\nname,%s\ndate,%s\ncapability,%d.%d\n", card.name, date, card.major, card.minor);
  sms = card.multiProcessorCount;
  say("chip.sms", sms);
  say("limits.threads", card.maxThreadsPerMultiProcessor);
  say("limits.warps", card.maxThreadsPerMultiProcessor / card.warpSize);
  say("limits.blocks", attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
  say("limits.registers", card.regsPerMultiprocessor);
  say("limits.shared_bytes", (double)card.sharedMemPerMultiprocessor);
  say("limits.shared_per_block", (double)card.sharedMemPerBlockOptin);
  say("limits.shared_reserved", (double)card.reservedSharedMemPerBlock);
  say("l2.bytes", card.l2CacheSize);
  double mhz = attribute(cudaDevAttrMemoryClockRate) / 1e3;
  say("device.dram_mbs", 2 * mhz * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8);
}

int main() {
  CHECK(cudaSetDevice(0));
  properties();
  int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  size_t big = (size_t)512 << 20;
  u64 *memory, *other;
  CHECK(cudaMalloc(&spans, (size_t)sms * 64 * sizeof(long long)));
  CHECK(cudaMalloc(&numbers, 8192 * 4));
  CHECK(cudaMalloc(&sink, 8192 * 4));
  CHECK(cudaMalloc(&memory, big));
  CHECK(cudaMalloc(&other, big));
  std::vector<u32> some(8192);
  for (int i = 0; i < 8192; i++) some[i] = (i * 2654435761u >> 8) | 1;
  CHECK(cudaMemcpy(numbers, some.data(), 8192 * 4, cudaMemcpyHostToDevice));
  touch<<<1024, 256>>>((uint4*)memory, big / 16, 1);
  CHECK(cudaDeviceSynchronize());

  say("chip.shader_mhz", clock_mhz());
  say("unit.fp32.latency", step<Ffma, 0>());
  say("unit.fmul.latency", step<Fmul, 0>());
  say("unit.imul.latency", step<Imad, 0>());
  say("unit.int.latency", step<Iadd, 0>());
  say("unit.logic.latency", step<Lop3, 0>());
  say("unit.shift.latency", step<Shift, 0>());
  say("unit.permute.latency", step<Permute, 0>());
  say("unit.minmax.latency", step<Least, 0>() / 2);
  say("unit.bits.latency", step<Popc, 0>());
  say("unit.dot.latency", step<Dot, 0>());
  say("unit.dp.latency", step<Dfma, 0>());
  say("unit.sfu.latency", step<Ex2, 0>());
  say("unit.shuffle.latency", step<Shuffle, 0>());
  say("constant_cache.latency", step<LoadConstant, 0>());
  say("shared_memory.latency_32", step<LoadShared, 4>());
  say("shared_memory.latency_64", step<LoadShared64, 8>());
  say("shared_memory.latency_128", step<LoadShared128, 16>());
  say("shared_atomic.add_latency", step<AddShared, 4>());

  say("rate.fp32", rate<Ffma, 0>());
  say("rate.imul", rate<Imad, 0>());
  say("rate.int", rate<Iadd, 0>());
  say("rate.logic", rate<Lop3, 0>());
  say("rate.dp", rate<Dfma, 0>());
  say("rate.sfu", rate<Ex2, 0>());
  say("rate.bits", rate<Popc, 0>());
  say("rate.shuffle", rate<Shuffle, 0>());
  say("rate.shared", rate<LoadShared, 4>());

  double eight = barrier(8), all = barrier(32);
  say("barrier.per_arrival", (all - eight) / 24);
  say("barrier.latency", eight - (all - eight) / 3);

  if (capability >= 80) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    product<F32K16>("f32_16x32");
    product<F32K8>("f32_16x16", true);
    product<F16K16>("f16_16x32");
    product<S32K32>("s32_16x32");
    if (capability == 80 || capability == 90) product<F64K4>("f64_8x32");
#endif
  }

  double few = longest(1, [&] { near_chain<32><<<1, 32>>>(spans, (u32*)memory, sink, 20); });
  double many = longest(1, [&] { near_chain<96><<<1, 32>>>(spans, (u32*)memory, sink, 20); });
  say("load.l1", (many - few) / (64 * 20));
  say("load.l2", l2_load((u32*)memory));
  say("load.dram", dram_load(memory, (size_t)128 << 20, 128, 8192, 8, (uint4*)other, big));
  say("read.l2", read_bytes((uint4*)memory, (size_t)attribute(cudaDevAttrL2CacheSize) / 3, 64));
  say("read.dram_mbs", dram_mbs((uint4*)memory, big));
  return 0;
}
