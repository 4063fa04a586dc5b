#include <cstdio>

int main() {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("%s %d.%d %d SMs, %zu + %zu bytes of shared memory, %d MB of L2\n", p.name, p.major, p.minor,
           p.multiProcessorCount, p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.l2CacheSize >> 20);
    printf("%d threads of %d %d %d, grids of %d %d %d, warps of %d, clusters %d\n", p.maxThreadsPerBlock,
           p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1],
           p.maxGridSize[2], p.warpSize, p.clusterLaunch);
    int driver, runtime, count, sms, clock, shared;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaGetDeviceCount(&count);
    printf("texture %d %d %d, managed %d, unified %d, %d %d, %d device\n", p.maxTexture1D, p.maxTexture2D[1],
           p.maxTexture3D[2], p.managedMemory, p.unifiedAddressing, driver, runtime, count);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
    printf("attributes %d %d %d; %d\n", sms, clock, shared, cudaSetDevice(1) == cudaErrorInvalidDevice);
}
