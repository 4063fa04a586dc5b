// The cycles of constants.csv: a chain of 32 multiply-adds, each with a constant `STRIDE` bytes further, timed one by one.
// nvcc -arch=sm_90 constants.cu; H200, driver's default clocks, 2026-11-22. The first constant lies at byte 64 of its bank.
#include <cstdio>

__constant__ float C[16000];
#define CLOCK(t) asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory")

template <int STRIDE> __global__ void chain(unsigned *out, float *sink) {
  float x = threadIdx.x;
  unsigned t[33];
  CLOCK(t[0]);
#pragma unroll
  for (int i = 0; i < 32; i++) {
    x = fmaf(x, C[16 + i * STRIDE / 4], 1.0f);
    asm volatile("" : "+f"(x) :: "memory");
    CLOCK(t[i + 1]);
  }
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < 33; i++) out[threadIdx.x / 32 * 33 + i] = t[i];
  sink[threadIdx.x] = x;
}

template <int STRIDE> void rows(unsigned *out, float *sink, int threads, int runs) {
  unsigned t[33 * 8];
  for (int run = 0; run < runs; run++) {
    chain<STRIDE><<<1, threads>>>(out, sink);
    cudaMemcpy(t, out, sizeof t, cudaMemcpyDeviceToHost);
    for (int w = 0; w < threads / 32; w++) {
      printf("%d,%d,%d,%d,", STRIDE, threads, run, w);
      for (int i = 0; i < 32; i++) printf("%u%s", t[w * 33 + i + 1] - t[w * 33 + i], i < 31 ? " " : "\n");
    }
  }
}

int main() {
  unsigned *out;
  float *sink;
  cudaMalloc(&out, 4096);
  cudaMalloc(&sink, 4096);
  printf("stride,threads,run,warp,cycles\n");
  rows<4>(out, sink, 32, 2);
  rows<16>(out, sink, 32, 2);
  rows<32>(out, sink, 32, 2);
  rows<64>(out, sink, 32, 2);
  rows<128>(out, sink, 32, 2);
  rows<256>(out, sink, 32, 2);
  rows<64>(out, sink, 64, 1);
  rows<64>(out, sink, 256, 1);
}
