// Launches: the block of parameters is made as the kernel's own table of them says.
#include <cstring>

#include "work.h"

namespace gpusim {

Error pack(Launch &launch, void **arguments) {
  if (!launch.kernel) return invalid_device_function;
  if (Error error = known(launch.kernel)) return error;
  auto &parameters = launch.kernel->parameters;
  launch.block_of_parameters.assign(launch.kernel->block_bytes, 0);
  if (!parameters.empty() && !arguments) return invalid_value;
  for (size_t i = 0; i < parameters.size(); i++)
    std::memcpy(&launch.block_of_parameters[parameters[i].offset], arguments[i], parameters[i].size);
  return success;
}

Error pack(Launch &launch, const void *block, size_t bytes) {
  if (!launch.kernel) return invalid_device_function;
  if (Error error = known(launch.kernel)) return error;
  launch.block_of_parameters.assign(launch.kernel->block_bytes, 0);
  size_t most = launch.block_of_parameters.size();
  if (bytes && most) std::memcpy(launch.block_of_parameters.data(), block, bytes < most ? bytes : most);
  return success;
}

// A fault comes later, with the next synchronising call; a launch that can't be says so at once.
Error launch_now(const Launch &launch, Stream *stream) {
  auto &grid = launch.grid, &block = launch.block, &cluster = launch.cluster;
  if (Error error = known(launch.kernel)) return error;
  Numbers numbers{launch.kernel->id, grid.x,  grid.y,  grid.z, block.x, block.y, block.z, launch.shared, stream->id,
                  launch.cooperative, cluster.x, cluster.y, cluster.z, 0};
  numbers.insert(numbers.end(), launch.places.begin(), launch.places.end());
  if (launch.places.empty()) numbers.push_back(0);
  Reply reply = ask("launch", numbers, launch.block_of_parameters.data(), launch.block_of_parameters.size());
  keep_print(reply.bytes);
  bool fault = reply.error == 214 || reply.error == 702 || (reply.error >= 700 && reply.error < 720 && reply.error != 701 &&
                                                            reply.error != 704 && reply.error != 705);
  if (!fault) return reply.error;
  fail_later(reply.error);
  return success;
}

Error active_blocks(int *blocks, Kernel *kernel, int threads, uint64_t shared, uint64_t cluster) {
  if (!blocks || threads <= 0) return invalid_value;
  if (!kernel) return invalid_device_function;
  if (Error error = known(kernel)) return error;
  Reply reply = ask("occupancy", {kernel->id, uint64_t(threads), shared, cluster});
  *blocks = int(reply.number(0));
  return reply.error;
}

}  // namespace gpusim
