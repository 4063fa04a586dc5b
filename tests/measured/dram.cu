// Streams of R reads and W writes, arrays of 16 to 512 MB: how much of the DRAM's bandwidth arrives.
// nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90a dram.cu. Run on an H200, it prints the rows of
// gpusim/published/h200_dram.csv, without its head.
//
// A block of 128 threads moves `V` tiles of 2 KB of each array, once. Time is between two events around a launch, the
// second of five launches' sorted times but the first.
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

template <int R, int W, int V> __global__ void __launch_bounds__(128) move(const uint4 *from, uint4 *to, size_t n, int zero) {
  size_t i = blockIdx.x * (size_t)(128 * V) + threadIdx.x;
  uint4 sum[V] = {};
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int k = 0; k < V; k++) {
      uint4 v = __ldg(from + r * n + i + k * 128);
      sum[k].x ^= v.x, sum[k].y ^= v.y, sum[k].z ^= v.z, sum[k].w ^= v.w;
    }
#pragma unroll
  for (int w = 0; w < W; w++)
#pragma unroll
    for (int k = 0; k < V; k++) to[w * n + i + k * 128] = sum[k];
  if (W == 0) {
    unsigned all = 0;
    for (int k = 0; k < V; k++) all ^= sum[k].x ^ sum[k].y ^ sum[k].z ^ sum[k].w;
    if (all == zero + 0x7f123457u) to[i] = sum[0];  // never, which the compiler does not know
  }
}
template <int R, int W, int V> void show(uint4 *from, uint4 *to, bool in_place) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (size_t mb : {16, 32, 64, 128, 256, 512}) {
    if (R * mb > 1024 || W * mb > 1024) continue;
    size_t n = mb * 65536;
    std::vector<float> times;
    for (int i = 0; i < 5; i++) {
      cudaEventRecord(begin);
      move<R, W, V><<<n / (128 * V), 128>>>(from, in_place ? from : to, n, 0);
      cudaEventRecord(end), cudaEventSynchronize(end);
      float ms;
      cudaEventElapsedTime(&ms, begin, end);
      if (i) times.push_back(1000 * ms);
    }
    std::sort(times.begin(), times.end());
    printf("%d,%d,%d,%d,%zu,%.2f\n", R, W, V, in_place, mb, times[1]);
  }
}
int main() {
  uint4 *from, *to;
  const size_t bytes = 1200ull << 20;
  cudaMalloc(&from, bytes), cudaMalloc(&to, bytes);
  cudaMemset(from, 1, bytes), cudaMemset(to, 1, bytes);
  show<1, 0, 1>(from, to, 0), show<1, 0, 4>(from, to, 0), show<2, 0, 4>(from, to, 0);
  show<0, 1, 1>(from, to, 0), show<0, 1, 4>(from, to, 0), show<0, 2, 4>(from, to, 0);
  show<1, 1, 1>(from, to, 0), show<1, 1, 2>(from, to, 0), show<1, 1, 4>(from, to, 0);
  show<2, 1, 2>(from, to, 0), show<3, 1, 2>(from, to, 0), show<4, 1, 1>(from, to, 0);
  show<1, 2, 2>(from, to, 0), show<1, 3, 2>(from, to, 0), show<1, 1, 4>(from, to, 1);
}
