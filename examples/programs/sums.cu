// A sum in three ways: a tree in shared memory, shuffles, and cooperative groups; as many blocks as fit at once.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    cudaError_t error = (call);                                                                   \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

namespace cg = cooperative_groups;
constexpr int THREADS = 256;

__device__ float own_part(const float *numbers, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += numbers[i];
  return sum;
}

__global__ void by_tree(const float *numbers, int n, float *total) {
  __shared__ float parts[THREADS];
  parts[threadIdx.x] = own_part(numbers, n);
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(total, parts[0]);
}

__global__ void by_shuffles(const float *numbers, int n, float *total) {
  float sum = own_part(numbers, n);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void by_groups(const float *numbers, int n, float *total) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float sum = cg::reduce(warp, own_part(numbers, n), cg::plus<float>());
  if (warp.thread_rank() == 0) atomicAdd(total, sum);
}

int main() {
  const int n = 50000;
  std::vector<float> numbers(n);
  double expected = 0;  // whole numbers below 2^24: exact in any order
  for (int i = 0; i < n; i++) expected += numbers[i] = i % 64;

  float *on_card, *totals;
  CHECK(cudaMalloc(&on_card, n * sizeof(float)));
  CHECK(cudaMalloc(&totals, 3 * sizeof(float)));
  CHECK(cudaMemcpy(on_card, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(totals, 0, 3 * sizeof(float)));

  void (*kernels[])(const float *, int, float *) = {by_tree, by_shuffles, by_groups};
  const char *names[] = {"tree", "shuffles", "groups"};
  for (int way = 0; way < 3; way++) {
    int fit;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernels[way], THREADS, 0));
    int blocks = std::min(4 * fit, (n + THREADS - 1) / THREADS);
    kernels[way]<<<blocks, THREADS>>>(on_card, n, totals + way);
    CHECK(cudaGetLastError());
  }
  float found[3];
  CHECK(cudaMemcpy(found, totals, sizeof(found), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int way = 0; way < 3; way++) {
    std::printf("%-8s %.0f\n", names[way], found[way]);
    wrong += found[way] != expected;
  }
  std::printf("%s\n", wrong ? "FAILED" : "PASSED");
  CHECK(cudaFree(on_card));
  CHECK(cudaFree(totals));
  return wrong != 0;
}
