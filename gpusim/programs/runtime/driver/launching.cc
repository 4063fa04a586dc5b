// Launches of the driver, and how many blocks of a kernel fit.
#include <algorithm>

#include "../core/properties.h"
#include "driver.h"

using namespace gpusim;

namespace {

struct Configuration {  // CUlaunchConfig
  Dim3 grid, block;
  unsigned shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned count;
};

Error start(Work &work, void *kernel, void *stream, void **arguments, void **extra) {
  work.kind = Work::kernel;
  Launch &launch = work.launch;
  launch.kernel = kernel_at(kernel);
  if (!launch.kernel) return invalid_handle;
  launch.places = places_of_callers();
  Error error = arguments ? pack(launch, arguments) : pack_extra(launch, extra);
  return error ? error : enqueue(stream_at(stream), std::move(work), true);
}

LaunchConfiguration of_runtime(const Configuration &configuration) {
  return {configuration.grid,   configuration.block,      configuration.shared,
          configuration.stream, configuration.attributes, configuration.count};
}

// The most threads for which the most warps fit, as the largest block of those that are alike.
Error best_block(int *blocks, int *threads, Kernel *kernel, size_t (*shared_of)(int), size_t shared, int most) {
  if (!blocks || !threads) return invalid_value;
  if (!kernel) return invalid_handle;
  if (Error error = known(kernel)) return error;
  int limit = int(std::min(kernel->threads, property(threads_per_block))), best = 0;
  if (most > 0) limit = std::min(limit, most);
  *blocks = *threads = 0;
  for (int size = limit; size > 0; size = (size - 1) / 32 * 32) {
    int fit = 0;
    if (Error error = active_blocks(&fit, kernel, size, shared_of ? shared_of(size) : shared)) return error;
    if (fit * size <= best) continue;
    best = fit * size;
    *threads = size, *blocks = fit * int(property(processors));
  }
  return success;
}

}  // namespace

EXPORT(int, cuLaunchKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, void *stream, void **arguments, void **extra) {
  return driver_call([&] {
    Work work;
    work.launch.grid = {gx, gy, gz}, work.launch.block = {bx, by, bz}, work.launch.shared = shared;
    return start(work, kernel, stream, arguments, extra);
  });
}
EXPORT(int, cuLaunchCooperativeKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                       unsigned bz, unsigned shared, void *stream, void **arguments) {
  return driver_call([&] {
    Work work;
    work.launch.grid = {gx, gy, gz}, work.launch.block = {bx, by, bz}, work.launch.shared = shared;
    work.launch.cooperative = true;
    return start(work, kernel, stream, arguments, nullptr);
  });
}
EXPORT(int, cuLaunchKernelEx)(const Configuration *configuration, void *kernel, void **arguments, void **extra) {
  return driver_call([&]() -> Error {
    if (!configuration) return invalid_value;
    Work work;
    work.launch.grid = size(configuration->grid), work.launch.block = size(configuration->block);
    work.launch.shared = configuration->shared;
    if (Error error = read_attributes(work.launch, configuration->attributes, configuration->count)) return error;
    return start(work, kernel, configuration->stream, arguments, extra);
  });
}

EXPORT(int, cuOccupancyMaxActiveClusters)(int *count, void *kernel, const Configuration *configuration) {
  return driver_call([&]() -> Error {
    if (!configuration) return invalid_value;
    auto same = of_runtime(*configuration);
    return clusters(count, kernel_at(kernel), &same);
  });
}
EXPORT(int, cuOccupancyMaxPotentialClusterSize)(int *blocks, void *kernel, const Configuration *configuration) {
  return driver_call([&]() -> Error {
    if (!configuration) return invalid_value;
    auto same = of_runtime(*configuration);
    return largest_cluster(blocks, kernel_at(kernel), &same);
  });
}
EXPORT(int, cuOccupancyMaxPotentialBlockSize)(int *blocks, int *threads, void *kernel, size_t (*shared_of)(int),
                                              size_t shared, int most) {
  return driver_call([&] { return best_block(blocks, threads, kernel_at(kernel), shared_of, shared, most); });
}
EXPORT(int, cuOccupancyMaxPotentialBlockSizeWithFlags)(int *blocks, int *threads, void *kernel,
                                                       size_t (*shared_of)(int), size_t shared, int most, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(blocks, threads, kernel, shared_of, shared, most);
}
