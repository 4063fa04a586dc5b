// Tensor maps: made by the simulator, which reads them in kernels.
#include <cstring>

#include "driver.h"

using namespace gpusim;

namespace {

constexpr size_t map_bytes = 128, most_dimensions = 5;

struct Tensor {
  int type;
  unsigned rank;
  void *address;
  const uint64_t *sizes, *strides;
  const uint32_t *box, *steps;
  int interleave, swizzle, promotion, fill;
};

Error encode(void *map, const Tensor &tensor) {
  if (!map || !tensor.rank || tensor.rank > most_dimensions) return invalid_value;
  if (!tensor.sizes || (tensor.rank > 1 && !tensor.strides) || !tensor.box || !tensor.steps) return invalid_value;
  Numbers numbers{uint64_t(tensor.type), tensor.rank, number(tensor.address)};
  numbers.insert(numbers.end(), tensor.sizes, tensor.sizes + tensor.rank);
  numbers.insert(numbers.end(), tensor.strides, tensor.strides + tensor.rank - 1);
  numbers.insert(numbers.end(), tensor.box, tensor.box + tensor.rank);
  numbers.insert(numbers.end(), tensor.steps, tensor.steps + tensor.rank);
  for (int one : {tensor.interleave, tensor.swizzle, tensor.promotion, tensor.fill}) numbers.push_back(uint64_t(one));
  Reply reply = ask("tensormap", numbers);
  if (reply.error) return reply.error;
  if (reply.bytes.size() != map_bytes) return invalid_value;
  std::memcpy(map, reply.bytes.data(), map_bytes);
  return success;
}

}  // namespace

EXPORT(int, cuTensorMapEncodeTiled)(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                    int swizzle, int promotion, int fill) {
  return driver_call([&] {
    return encode(map, {type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill});
  });
}
