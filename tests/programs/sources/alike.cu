// Launches that look alike and take different times: a bound in constant memory; and two of clusters, which are alike.
#include <cstdio>

__constant__ int bound;

__global__ void turns(int *out) {
  int sum = threadIdx.x;
  for (int i = 0; i < bound; i++) sum = sum * 3 + i;
  out[threadIdx.x] = sum;
}

__global__ void __cluster_dims__(2) pairs(int *out) { out[blockIdx.x] = blockIdx.x; }

int main() {
  int *out;
  cudaMalloc(&out, 4096);
  pairs<<<4, 32>>>(out);
  pairs<<<4, 32>>>(out);
  for (int bounds : {10, 10, 8000}) {
    cudaMemcpyToSymbol(bound, &bounds, sizeof bounds);
    turns<<<1, 32>>>(out);
  }
  return cudaDeviceSynchronize();
}
