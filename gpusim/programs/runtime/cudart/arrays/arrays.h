// CUDA arrays: plain rows of elements with a pitch, in memory of the device.
#pragma once
#include "../graphs/abi.h"

namespace gpusim {

struct Array {
  uint64_t address, pitch, slice, element;  // bytes
  Extent extent;                            // elements; 0 where it has no such dimension
  Channels channels;
  unsigned flags;
};

enum ArrayFlags : unsigned { layered = 1, cubemap = 4 };

Array *array_at(const void *handle);

}  // namespace gpusim
