// Launches: the block of parameters is made as the kernel's own table of them says.
#include <cstring>

#include "../core/properties.h"
#include "device.h"

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

// A list of words and values names a block that is made already, as launches of the driver may have it.
Error pack_extra(Launch &launch, void *const *extra) {
  enum : uint64_t { end, block_follows, bytes_follow };
  const void *block = nullptr;
  size_t bytes = 0;
  if (!launch.kernel) return invalid_device_function;
  if (Error error = known(launch.kernel)) return error;
  for (; extra && *extra; extra += 2) {
    auto word = reinterpret_cast<uint64_t>(extra[0]);
    if (word == block_follows) block = extra[1];
    if (word == bytes_follow) bytes = *static_cast<const size_t *>(extra[1]);
  }
  if (!launch.kernel->parameters.empty() && !block) return invalid_value;
  launch.block_of_parameters.assign(launch.kernel->block_bytes, 0);
  size_t most = launch.block_of_parameters.size();
  if (bytes && most) std::memcpy(launch.block_of_parameters.data(), block, bytes < most ? bytes : most);
  return success;
}

// A fault comes later, with the next synchronising call; a launch that can't be says so at once.
Error launch_now(const Launch &launch, Stream *stream) {
  auto &grid = launch.grid, &block = launch.block, &cluster = launch.cluster;
  if (Error error = known(launch.kernel)) return error;
  Numbers numbers{launch.kernel->id, grid.x,    grid.y,        grid.z,      block.x,
                  block.y,           block.z,   launch.shared, stream->id,  launch.cooperative,
                  cluster.x,         cluster.y, cluster.z,     launch.flags};
  Numbers places = launch.places.empty() ? Numbers{0} : launch.places;
  if (!takes(callers_of_launch)) places.resize(1);
  numbers.insert(numbers.end(), places.begin(), places.end());
  Reply reply = ask("launch", numbers, launch.block_of_parameters.data(), launch.block_of_parameters.size());
  keep_print(reply.bytes);
  bool fault =
      reply.error == 214 || reply.error == 702 ||
      (reply.error >= 700 && reply.error < 720 && reply.error != 701 && reply.error != 704 && reply.error != 705);
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
