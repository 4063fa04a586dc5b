#include <cstdio>

__global__ void good() {}
__global__ void bad() {}

int main() {
    good<<<1, 2048>>>();
    printf("launch: %s, ", cudaGetErrorName(cudaPeekAtLastError()));
    puts(cudaGetErrorString(cudaGetLastError()));
    printf("again: %s\n", cudaGetErrorString(cudaGetLastError()));
    bad<<<1, 32>>>();
    printf("fault: %s\n", cudaGetErrorString(cudaGetLastError()));
    printf("synchronize: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    void *memory;
    printf("malloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, 4)));
    cudaDeviceReset();
    cudaGetLastError();
    printf("reset: %s\n", cudaGetErrorString(cudaMalloc(&memory, 4)));
}
