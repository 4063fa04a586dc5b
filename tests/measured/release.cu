// When the warps of a block go on behind a barrier: each reads its clock before it, and behind what waits for it.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin release.cu   the code that is simulated (release.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 release.cu -o release -lcuda      the program that runs it; ./release release.cubin
//
// prints gpusim/published/h100_released.csv: of the third of three launches, the clocks of each warp in the second round,
// since the last one read before the barrier. `bar`: behind a second barrier, which waits for the first and lets the read
// of the clock pass; `load`: behind a shared load whose value has come.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#include "block.cuh"
template <bool LOADS> __device__ __forceinline__ void measure(u32 *out) {
  u32 place = (u32)__cvta_generic_to_shared(shared_words) + threadIdx.x * 4, before = 0, behind = 0, value = 0;
  shared_words[threadIdx.x] = threadIdx.x;
#pragma unroll 1
  for (int round = 0; round < 2; round++) {
    if (__syncthreads_count(1) != (int)blockDim.x) __trap();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(before) :: "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    if (LOADS) {
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(place) : "memory");
      if (value != threadIdx.x) __trap();
    } else asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(behind) :: "memory");
  }
  if (threadIdx.x % 32 == 0) { out[threadIdx.x / 32] = behind; out[32 + threadIdx.x / 32] = before; }
}
extern "C" __global__ void __launch_bounds__(1024) bar(u32 *out) { measure<false>(out); }
extern "C" __global__ void __launch_bounds__(1024) load(u32 *out) { measure<true>(out); }
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
int main(int count, char **names) {
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CUmodule module; CUfunction function; CHECK(cuModuleLoad(&module, names[1]));
  CUdeviceptr out; CHECK(cuMemAlloc(&out, 256));
  printf("kernel,warps,before,behind\n");
  for (const char *kernel : {"bar", "load"}) for (int w : {1, 2, 4, 8, 12, 16, 20, 24, 28, 32}) {
    CHECK(cuModuleGetFunction(&function, module, kernel));
    void *arguments[] = {&out};
    for (int k = 0; k < 3; k++) CHECK(cuLaunchKernel(function, 1, 1, 1, w * 32, 1, 1, 4096, 0, arguments, nullptr));
    std::vector<u32> t(64); CHECK(cuMemcpyDtoH(t.data(), out, 256));
    u32 last = t[32]; for (int i = 0; i < w; i++) if ((int)(t[32 + i] - last) > 0) last = t[32 + i];
    printf("%s,%d", kernel, w);
    for (int at : {32, 0}) for (int i = 0; i < w; i++) printf("%c%d", i ? ' ' : ',', (int)(t[at + i] - last));
    printf("\n");
  }
}
