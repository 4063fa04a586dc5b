// How long one warp of a scheduler waits for seven others that never stop: a yield may cost it thousands of cycles.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin starve.cu   the base of the edited code (starve.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 starve.cu -o starve -lcuda       the program that runs it
//   python3 starve.py starve.cubin folder; ./starve folder           prints what each warp read, for h100_starved.csv
//
// A block of one SM with eight warps of each scheduler, the third of three launches, in its second round. One warp of
// each scheduler reads its clock 40 times; the others multiply and add, 64 times in each round of a loop, and read theirs
// before and behind it. starve.py gives both their stall counts and yields. A line has the program, the place of the one
// warp among its scheduler's, the rounds of the loop, the warp, and its clocks since that warp's first one.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>
#include <cuda.h>
#include "block.cuh"
extern "C" __global__ void __launch_bounds__(1024) edited(u32 *out, const float *in, int place, int rounds) {
  u32 t[40], begin = 0, end = 0;
  float f = in[0], g = in[1], h = in[2], k = in[3];
  for (int i = 0; i < 40; i++) t[i] = 0;
  for (int again = 0; again < 2; again++) {
    if (__syncthreads_count(1) != (int)blockDim.x) __trap();
    if (threadIdx.x / 128 == place) {
#pragma unroll
      for (int i = 0; i < 40; i++) t[i] = clock();
    } else {
      asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
#pragma unroll 1
      for (int i = 0; i < rounds; i++)
#pragma unroll
        for (int j = 0; j < 16; j++) {
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f));
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(g));
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(h));
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(k));
        }
      asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    }
  }
  if (threadIdx.x % 32 == 0) {
    u32 *to = out + threadIdx.x / 32 * 42;
    to[0] = begin; to[1] = end;
#pragma unroll
    for (int i = 0; i < 40; i++) to[2 + i] = t[i];
  }
  out[8192 + threadIdx.x] = (u32)(f + g + h + k);
}
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
int main(int count, char **names) {
  std::string folder = names[1];
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CUdeviceptr out, in; CHECK(cuMemAlloc(&out, 1 << 16)); CHECK(cuMemAlloc(&in, 1 << 16)); CHECK(cuMemsetD32(in, 0, 1 << 14));
  std::ifstream list(folder + "/list"); std::string file;
  while (std::getline(list, file)) {
    CUmodule module; CUfunction function;
    CHECK(cuModuleLoad(&module, (folder + "/" + file + ".cubin").c_str())); CHECK(cuModuleGetFunction(&function, module, "edited"));
    for (int place : {0, 7}) for (int rounds : {20, 80}) {
      void *arguments[] = {&out, &in, &place, &rounds};
      for (int k = 0; k < 3; k++) CHECK(cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 0, 0, arguments, nullptr));
      std::vector<u32> t(42 * 32); CHECK(cuMemcpyDtoH(t.data(), out, t.size() * 4));
      for (int i = 0; i < 32; i++) {
        u32 first = t[42 * (4 * place + i % 4) + 2];
        printf("%s,%d,%d,%d", file.c_str(), place, rounds, i);
        for (int k = i / 4 == place ? 2 : 0; k < (i / 4 == place ? 42 : 2); k++) printf(",%d", (int)(t[42 * i + k] - first));
        printf("\n");
      }
    }
    CHECK(cuModuleUnload(module));
  }
}
