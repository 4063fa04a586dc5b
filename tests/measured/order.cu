// The clock of every instruction of each warp: which warp a scheduler lets go. The 96 reads of the clock are edited:
// tests/measured/order.py gives them their stall counts and yields. (The load and the multiply-adds before them are
// there to be copied between the reads; no published row does so.)
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin order.cu    the base of the edited code (order.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 order.cu -o order -lcuda         the program that runs it
//   python3 order.py order.cubin folder; ./order folder              prints what each warp read, for h100_order.csv
//
// A block of one SM with 1 to 4 warps of each scheduler, the third of three launches, in its second round. A line has
// the program, the warps, the warp, and its clocks since the first one of all.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <cuda.h>
#include "block.cuh"
extern "C" __global__ void __launch_bounds__(512) edited(u32 *out, const float *in) {
  u32 place = (u32)__cvta_generic_to_shared(shared_words) + threadIdx.x % 32 * 8;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) shared_words[i] = i;
  u32 t[96]; u32 a, b; double d = in[threadIdx.x]; float f = in[threadIdx.x + 7];
#pragma unroll 1
  for (int round = 0; round < 2; round++) {
    if (__syncthreads_count(1) != (int)blockDim.x) __trap();
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(place) : "memory");
    asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(d));
    asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f));
    if (__syncthreads_count(1) != (int)blockDim.x) __trap();
#pragma unroll
    for (int i = 0; i < 96; i++) asm volatile("mov.u32 %0, %%clock;" : "=r"(t[i]) :: "memory");
  }
  if (threadIdx.x % 32 == 0)
#pragma unroll
    for (int i = 0; i < 96; i++) out[threadIdx.x / 32 * 96 + i] = t[i];
  out[8192 + threadIdx.x] = a + b + (u32)d + (u32)f;
}
#define CHECK(call) do { CUresult r = call; if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s: %s\n", #call, t); exit(1); } } while (0)
int main(int count, char **names) {
  std::string folder = names[1];
  CHECK(cuInit(0)); CUdevice device; CUcontext context; CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CUdeviceptr out, in; CHECK(cuMemAlloc(&out, 1 << 16)); CHECK(cuMemAlloc(&in, 1 << 16)); CHECK(cuMemsetD32(in, 0x3f800000, 1 << 14));
  std::ifstream list(folder + "/list"); std::string file;
  while (std::getline(list, file)) {
    CUmodule module; CUfunction function;
    CHECK(cuModuleLoad(&module, (folder + "/" + file + ".cubin").c_str())); CHECK(cuModuleGetFunction(&function, module, "edited"));
    for (int w : {4, 8, 12, 16}) {
      void *arguments[] = {&out, &in};
      for (int k = 0; k < 3; k++) CHECK(cuLaunchKernel(function, 1, 1, 1, w * 32, 1, 1, 8192, 0, arguments, nullptr));
      std::vector<u32> t(96 * w); CHECK(cuMemcpyDtoH(t.data(), out, t.size() * 4));
      u32 first = t[0]; for (int i = 0; i < w; i++) if ((int)(t[96 * i] - first) < 0) first = t[96 * i];
      for (int i = 0; i < w; i++) { printf("%s,%d,%d", file.c_str(), w, i); for (int k = 0; k < 96; k++) printf(",%d", (int)(t[96 * i + k] - first)); printf("\n"); }
    }
    CHECK(cuModuleUnload(module));
  }
}
