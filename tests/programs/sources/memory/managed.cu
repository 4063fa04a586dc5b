#include <cstdio>

__managed__ int shared_number;
__global__ void touch(int *first, int *second) { *first += 1, *second += 1; }

int main() {
    int *managed, *host, *device, own;
    cudaMallocManaged(&managed, 8192);
    cudaMallocHost(&host, 8);
    cudaMalloc(&device, 4);
    *managed = 41, *host = 42;
    shared_number = 5;
    touch<<<1, 1>>>(managed, host);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", *managed, *host, shared_number);
    cudaPointerAttributes facts[4];
    void *pointers[] = {managed, host, device, &own};
    for (int i = 0; i < 4; i++) cudaPointerGetAttributes(&facts[i], pointers[i]);
    printf("%d %d %d %d\n", facts[0].type, facts[1].type, facts[2].type, facts[3].type);
    cudaFreeHost(host);
    cudaFree(managed);
}
