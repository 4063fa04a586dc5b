// Fills cudaDeviceProp, of either version: those fields that both have, under the same names.
#pragma once
#include <cstring>

#include "../core/properties.h"
#include "api.h"

namespace gpusim {

inline void set(int *into, std::initializer_list<int> attributes) {
  for (int attribute : attributes) device_attribute(into++, attribute);
}

// Numbers are those of attributes.def.
template <typename Properties>
void fill_properties(Properties &made) {
  std::strncpy(made.name, device_name().c_str(), sizeof made.name - 1);
  std::memcpy(made.uuid, "gpusim, device 0", 16);
  made.totalGlobalMem = property(total_memory);
  made.sharedMemPerBlock = property(shared_per_block);
  made.memPitch = property(pitch);
  made.totalConstMem = property(constant_memory);
  made.textureAlignment = property(texture_alignment);
  made.texturePitchAlignment = property(texture_pitch_alignment);
  made.surfaceAlignment = 512;
  made.sharedMemPerMultiprocessor = property(shared_per_processor);
  made.sharedMemPerBlockOptin = property(shared_optin);
  made.reservedSharedMemPerBlock = property(shared_reserved);
  set(&made.regsPerBlock, {12, 10});
  set(&made.maxThreadsPerBlock, {1, 2, 3, 4, 5, 6, 7});
  set(&made.major, {75, 76});
  set(&made.multiProcessorCount, {16});
  set(&made.canMapHostMemory, {19});
  set(&made.maxTexture1D, {21, 77});
  set(made.maxTexture2D, {22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54});
  set(&made.maxSurface1D, {55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68});
  set(&made.concurrentKernels, {31, 32, 33, 34, 50, 35, 40, 41});
  set(&made.memoryBusWidth, {37, 38, 108, 39, 78, 79, 80});
  set(&made.regsPerMultiprocessor, {82, 83, 84, 85, 86});
  set(&made.pageableMemoryAccess, {88, 89, 90, 91, 95});
  set(&made.pageableMemoryAccessUsesHostPageTables, {100, 101, 106, 109});
  set(&made.hostRegisterSupported, {99, 112, 113, 114, 115});
  set(&made.clusterLaunch, {120, 129});
}

}  // namespace gpusim
