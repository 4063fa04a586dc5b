// What only libcudart.so.12 has, or has otherwise than 13.
#include "../cudart/fill_properties.h"
#include "properties.h"

using namespace gpusim;

__attribute__((constructor)) static void is_12() { set_runtime_version(12000); }

EXPORT(int, cudaGetDeviceProperties_v2)(Properties12 *made, int device) {
  return call([&]() -> Error {
    if (!made) return invalid_value;
    if (device) return invalid_device;
    std::memset(static_cast<void *>(made), 0, sizeof *made);
    fill_properties(*made);
    set(&made->clockRate, {13});
    set(&made->deviceOverlap, {15});
    set(&made->memoryClockRate, {36});
    set(&made->singleToDoublePrecisionPerfRatio, {87});
    return success;
  });
}

EXPORT(int, cudaMemcpyBatchAsync)(void **into, void **from, size_t *bytes, size_t count, void *, size_t *, size_t,
                                  size_t *failed, void *stream) {
  if (failed) *failed = ~size_t(0);
  return call([&] { return copy_all(into, from, bytes, count, stream); });
}

EXPORT(int, cudaLaunchCooperativeKernelMultiDevice)(void *, unsigned, unsigned) {
  refuse("cudaLaunchCooperativeKernelMultiDevice");
}
