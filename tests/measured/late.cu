// Cycles of chains of loads whose results have to be written beside multiply-adds of other warps: how late a result is
// for those who wait for it if its register bank is taken. The multiply-adds are edited: tests/measured/late.py gives
// them their registers and yields, and each chain one register.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin late.cu    the base of the edited code (late.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 late.cu -o late -lcuda          the program that times it
//   python3 late.py late.cubin folder; ./late folder/*              prints the rows of h100_late.csv
//
// A block of one SM. Warp 0 (or 0 to 3, on four schedulers) has the chain, warps 4 and up the multiply-adds. A row is the
// difference of 12 and 4 rounds of 64 links, medians of 7 launches; the multiply-adds take longer than the chain.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda.h>
#include "block.cuh"

struct Link { u32 a, b, c, d; i64 *p; }; // what a chain reads next, and registers of wide loads
struct LDS32 { static __device__ __forceinline__ void go(Link &x) { asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x.a) :: "memory"); } };
struct LDS64 { static __device__ __forceinline__ void go(Link &x) { asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%0];" : "+r"(x.a), "=r"(x.b) :: "memory"); } };
struct LDS128 { static __device__ __forceinline__ void go(Link &x) { asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%0];" : "+r"(x.a), "=r"(x.b), "=r"(x.c), "=r"(x.d) :: "memory"); } };
struct SHFL { static __device__ __forceinline__ void go(Link &x) { asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x.a)); } };
struct MUFU { static __device__ __forceinline__ void go(Link &x) { asm volatile("{.reg .f32 t; mov.b32 t, %0; rsqrt.approx.ftz.f32 t, t; mov.b32 %0, t;}" : "+r"(x.a)); } };
struct LDG64 { static __device__ __forceinline__ void go(Link &x) { asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x.p) :: "memory"); } };

template <class OP>
__device__ __forceinline__ void body(Rec *rec, const float *in, float *sink, i64 *ring, int rounds, int iterations, int chains, int stride) {
  int warp = threadIdx.x / 32;
  u32 base = (u32)__cvta_generic_to_shared(shared_words);
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) shared_words[i] = base + i * 4; // each word is its own address
  Link x = {base + threadIdx.x % 32 * stride, 0, 0, 0, ring + threadIdx.x % 32};
  float y[20];
#pragma unroll
  for (int k = 0; k < 20; k++) y[k] = in[threadIdx.x + k];
  i64 begin = 0, end = 0;
#pragma unroll 1
  for (int round = 0; round < 2; round++) { // the first one fetches the code
    if (__syncthreads_count(1) != (int)blockDim.x) __trap(); // a clock behind a plain barrier does not wait for it
    begin = clk();
    if (warp < chains) {
#pragma unroll 1
      for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int u = 0; u < 64; u++) OP::go(x);
      }
    } else if (warp >= 4) {
#pragma unroll 1
      for (int i = 0; i < iterations; i++) {
#pragma unroll
        for (int u = 0; u < 240; u++)
          asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(y[u % 20]) : "f"(y[(u + 1) % 20]), "f"(y[(u + 2) % 20]));
      }
    }
    end = clk();
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 20; k++) sum += y[k];
  if (threadIdx.x % 32 == 0) rec[warp] = {begin, end};
  sink[threadIdx.x] = sum + x.a + x.b + x.c + x.d + (float)(i64)x.p;
}
#define KERNEL(OP) \
  extern "C" __global__ void __launch_bounds__(1024) late_##OP(Rec *rec, const float *in, float *sink, i64 *ring, int rounds, \
                                                               int iterations, int chains, int stride) { \
    body<OP>(rec, in, sink, ring, rounds, iterations, chains, stride); \
  }
KERNEL(LDS32) KERNEL(LDS64) KERNEL(LDS128) KERNEL(SHFL) KERNEL(MUFU) KERNEL(LDG64)

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) return;
  const char *text = "";
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

static CUdeviceptr rec, in, sink, ring;

static double cycles(CUfunction function, int rounds, int iterations, int chains, int others, int stride) {
  void *arguments[] = {&rec, &in, &sink, &ring, &rounds, &iterations, &chains, &stride};
  std::vector<double> found;
  for (int launch = 0; launch < 7; launch++) {
    CHECK(cuLaunchKernel(function, 1, 1, 1, 128 * (1 + others), 1, 1, 8192, 0, arguments, nullptr));
    Rec r[32];
    CHECK(cuMemcpyDtoH(r, rec, sizeof r));
    double last = 0;
    for (int i = 0; i < chains; i++) last = std::max(last, double(r[i].t[1] - r[i].t[0]));
    found.push_back(last);
  }
  std::sort(found.begin(), found.end());
  return found[3];
}

int main(int count, char **names) {
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  for (CUdeviceptr *each : {&rec, &in, &sink, &ring}) CHECK(cuMemAlloc(each, 1 << 16));
  CHECK(cuMemsetD32(in, 0x3f800000, 1 << 14));
  std::vector<i64> own(1 << 13);
  for (int i = 0; i < 1 << 13; i++) own[i] = (i64)ring + 8 * i;
  CHECK(cuMemcpyHtoD(ring, own.data(), 1 << 16));
  struct { const char *name; int stride; } chains_of[] = {{"LDS32", 4}, {"LDS64", 8}, {"LDS128", 16}, {"SHFL", 4}, {"MUFU", 4}, {"LDG64", 4}};
  printf("others,chain,chains,warps,cycles\n");
  for (int k = 1; k < count; k++) {
    CUmodule module;
    CHECK(cuModuleLoad(&module, names[k]));
    std::string file = std::string(names[k]).substr(std::string(names[k]).rfind('/') + 1);
    std::string others = file.substr(0, file.rfind('.'));
    for (auto &op : chains_of) {
      CUfunction function;
      CHECK(cuModuleGetFunction(&function, module, (std::string("late_") + op.name).c_str()));
      for (int chains : {1, 4})
        for (int warps : {0, 1, 2, 4}) { // of multiply-adds on each scheduler
          int iterations = warps ? 480 / warps : 0;
          double some = cycles(function, 4, iterations, chains, warps, op.stride);
          double more = cycles(function, 12, iterations, chains, warps, op.stride);
          printf("%s,%s,%d,%d,%.2f\n", others.c_str(), op.name, chains, warps, (more - some) / (8 * 64));
        }
    }
    CHECK(cuModuleUnload(module));
  }
}
