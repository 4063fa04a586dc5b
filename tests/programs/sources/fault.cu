// A kernel that stores behind its memory.
#include <cstdio>

__global__ void stores(int *data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = 1;
}

int main() {
  int *data;
  cudaMalloc(&data, 64);
  stores<<<1, 32>>>(data, 32);
  printf("launch %d\n", cudaGetLastError());
  printf("wait %d\n", cudaDeviceSynchronize());
  printf("later %d\n", cudaMalloc(&data, 64));
  return 5;
}
