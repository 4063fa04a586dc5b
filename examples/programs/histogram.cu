// Counts bytes: each block in shared memory, whose size the launch gives, then all into global memory by atomics.
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

__constant__ unsigned char fold[256];  // which bin a byte is counted in

__global__ void count(const unsigned char *bytes, size_t n, unsigned *bins, int how_many) {
  extern __shared__ unsigned own[];
  for (int bin = threadIdx.x; bin < how_many; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&own[fold[bytes[i]]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < how_many; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}

int main() {
  const size_t n = 60000;
  const int how_many = 64;
  std::vector<unsigned char> bytes(n), folded(256);
  unsigned state = 1;
  for (auto &byte : bytes) byte = (state = state * 1664525u + 1013904223u) >> 24;
  for (int byte = 0; byte < 256; byte++) folded[byte] = byte / 4;

  unsigned char *on_card;
  unsigned *bins;
  CHECK(cudaMalloc(&on_card, n));
  CHECK(cudaMalloc(&bins, how_many * sizeof(unsigned)));
  CHECK(cudaMemcpy(on_card, bytes.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(fold, folded.data(), 256));
  CHECK(cudaMemset(bins, 0, how_many * sizeof(unsigned)));

  cudaDeviceProp card;
  CHECK(cudaGetDeviceProperties(&card, 0));
  int blocks = card.multiProcessorCount < 24 ? card.multiProcessorCount : 24;
  count<<<blocks, 256, how_many * sizeof(unsigned)>>>(on_card, n, bins, how_many);
  CHECK(cudaGetLastError());
  std::vector<unsigned> found(how_many), expected(how_many);
  CHECK(cudaMemcpy(found.data(), bins, how_many * sizeof(unsigned), cudaMemcpyDeviceToHost));

  for (auto byte : bytes) expected[folded[byte]]++;
  int wrong = 0;
  for (int bin = 0; bin < how_many; bin++) wrong += found[bin] != expected[bin];
  std::printf("%zu bytes in %d bins: %d wrong\n%s\n", n, how_many, wrong, wrong ? "FAILED" : "PASSED");
  CHECK(cudaFree(on_card));
  CHECK(cudaFree(bins));
  return wrong != 0;
}
