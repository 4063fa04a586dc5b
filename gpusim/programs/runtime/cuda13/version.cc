// What only libcudart.so.13 has.
#include "../cudart/fill_properties.h"
#include "properties.h"

using namespace gpusim;

__attribute__((constructor)) static void is_13() { set_runtime_version(13000); }

EXPORT(int, cudaGetDeviceProperties)(Properties13 *made, int device) {
  return call([&]() -> Error {
    if (!made) return invalid_value;
    if (device) return invalid_device;
    std::memset(static_cast<void *>(made), 0, sizeof *made);
    fill_properties(*made);
    made->deviceNumaId = made->hostNumaId = -1;
    return success;
  });
}

EXPORT(int, cudaMemcpyBatchAsync)(void *const *into, const void *const *from, const size_t *bytes, size_t count, void *,
                                  size_t *, size_t, void *stream) {
  return call([&] { return copy_all(into, from, bytes, count, stream); });
}
