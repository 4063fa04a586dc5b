// Blocks of each launch on stdin (registers of a thread, threads of a block, its bytes of shared memory), as NVIDIA's
// calculator has them, on an SM with the properties of the command line. The calculator of CUDA 8.0 knows Fermi.
#include <cuda_occupancy.h>
#include <cstdio>
#include <cstdlib>

int main(int, char** given) {
  cudaOccDeviceProp properties;
  int* numbers[] = {&properties.computeMajor, &properties.computeMinor, &properties.maxThreadsPerMultiprocessor,
                    &properties.regsPerMultiprocessor, &properties.regsPerBlock};
  for (int* number : numbers) *number = std::atoi(*++given);
  properties.sharedMemPerMultiprocessor = std::atoi(*++given);
  properties.sharedMemPerBlock = 49152;
  properties.maxThreadsPerBlock = 1024;
  properties.warpSize = 32;
  properties.numSms = 1;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
#ifndef FERMI
  properties.sharedMemPerBlockOptin = std::atoi(*++given);
  properties.reservedSharedMemPerBlock = std::atoi(*++given);
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  kernel.numBlockBarriers = 1;
#endif
  cudaOccDeviceState state;
  for (int threads, shared; std::scanf("%d %d %d", &kernel.numRegs, &threads, &shared) == 3;) {
    cudaOccResult found;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &properties, &kernel, &state, threads, shared)) return 1;
    std::printf("%d\n", found.activeBlocksPerMultiprocessor);
  }
}
