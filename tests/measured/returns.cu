// Cycles of loops of multiply-adds among loads from shared memory whose registers lie in chosen banks: what a returning
// result costs the operands that others read. The loops are edited: tests/measured/returns.py writes them over the
// placeholders below, instruction by instruction.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin returns.cu    the base of the edited loops (returns.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 returns.cu -o returns -lcuda       the program that times them
//   python3 returns.py returns.cubin loops; ./returns loops            prints the rows of h200_returns.csv
//
// A row is the difference of two numbers of iterations, of one block on one SM; the median of 7 launches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <cuda.h>
#include "block.cuh"

extern "C" __global__ void __launch_bounds__(1024) edited(Rec *rec, const float *in, float *sink, int iterations,
                                                              int bytes) { // of a lane's load
  u32 place = (u32)__cvta_generic_to_shared(shared_words) + threadIdx.x % 32 * bytes;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) shared_words[i] = i;
  float x[52];
#pragma unroll
  for (int k = 0; k < 52; k++) x[k] = in[threadIdx.x + k];
  i64 begin, end;
#pragma unroll 1
  for (int round = 0; round < 2; round++) { // the first one fetches the code
    if (__syncthreads_count(1) != (int)blockDim.x) __trap();
    begin = clk();
#pragma unroll 1
    for (int i = 0; i < iterations; i++) {
      asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(x[0]) : "r"(place) : "memory");
#pragma unroll
      for (int u = 0; u < 240; u++)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[u % 52]) : "f"(x[(u + 1) % 52]), "f"(x[(u + 2) % 52]));
    }
    end = clk();
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 52; k++) sum += x[k];
  if (threadIdx.x % 32 == 0) rec[threadIdx.x / 32] = {begin, end};
  sink[threadIdx.x] = sum;
}

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) return;
  const char *text = "";
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

static CUdeviceptr rec, in, sink;

static double cycles(CUfunction function, int warps, int iterations, int bytes, int launches) {
  std::vector<double> found;
  void *arguments[] = {&rec, &in, &sink, &iterations, &bytes};
  for (int launch = 0; launch < launches; launch++) {
    CHECK(cuLaunchKernel(function, 1, 1, 1, warps * 32, 1, 1, 8192, 0, arguments, nullptr));
    Rec r[32];
    CHECK(cuMemcpyDtoH(r, rec, sizeof(Rec) * warps));
    i64 begin = r[0].t[0], end = r[0].t[1];
    for (int i = 1; i < warps; i++) begin = std::min(begin, r[i].t[0]), end = std::max(end, r[i].t[1]);
    found.push_back(double(end - begin));
  }
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

int main(int count, char **names) {
  std::string folder = names[1];
  int launches = count > 2 ? atoi(names[2]) : 7; // 1 under the profiler
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc(&rec, 1 << 16));
  CHECK(cuMemAlloc(&in, 1 << 16));
  CHECK(cuMemAlloc(&sink, 1 << 16));
  CHECK(cuMemsetD32(in, 0x3f800000, 1 << 14));
  std::ifstream list(folder + "/list");
  std::string line;
  printf("name,W,i1,i2,cyc1,cyc2\n");
  while (std::getline(list, line)) { // file|name|bytes of a lane's load|warps of a block, by commas
    std::stringstream parts(line);
    std::string file, name, bytes, warps, one;
    std::getline(parts, file, '|'), std::getline(parts, name, '|'), std::getline(parts, bytes, '|');
    std::getline(parts, warps, '|');
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoad(&module, (folder + "/" + file).c_str()));
    CHECK(cuModuleGetFunction(&function, module, "edited"));
    std::stringstream each(warps);
    while (std::getline(each, one, ',')) {
      int w = atoi(one.c_str()), b = atoi(bytes.c_str());
      double first = launches > 1 ? cycles(function, w, 4, b, launches) : 0;
      double second = cycles(function, w, 12, b, launches);
      printf("%s,%d,4,12,%.1f,%.1f\n", name.c_str(), w, first, second);
    }
    CHECK(cuModuleUnload(module));
  }
}
