// How functions of the runtime are defined: exported under CUDA's names, each a call on what core/ and device/ do.
#pragma once
#include "../device/device.h"
#include "abi.h"

#define API(type, name) extern "C" type gpusim_##name  // of all versions, in the library that they share
#define EXPORT(type, name) extern "C" type name        // of one version

namespace gpusim {

inline uint64_t number(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline void *pointer(uint64_t address) { return reinterpret_cast<void *>(address); }
inline Size size(const Dim3 &dim) { return {dim.x, dim.y, dim.z}; }

// launching.cc
Error read_attributes(Launch &launch, const LaunchAttribute *attributes, unsigned count);
Error clusters(int *count, Kernel *kernel, const LaunchConfiguration *configuration);
Error largest_cluster(int *blocks, Kernel *kernel, const LaunchConfiguration *configuration);

// memory/allocating.cc
Error allocated(void **pointer_to, size_t bytes, Memory kind);

// memory/copying.cc
Error in_symbol(void **place, const void *symbol, size_t bytes, size_t offset);

// memory/batches.cc
Error copy_all(void *const *into, const void *const *from, const size_t *bytes, size_t count, void *stream);

}  // namespace gpusim
