// Launches by calls: cooperative ones, those with attributes, and what is asked of and set for a kernel.
#include <cstring>

#include "../core/properties.h"
#include "api.h"

using namespace gpusim;

namespace {

enum { cooperative_attribute = 2, cluster_attribute = 4, priority_attribute = 8 };
enum { dynamic_shared_attribute = 8, carveout_attribute = 9, last_attribute = 15 };

Error start(Work &work, void **arguments, void *stream) {
  work.kind = Work::kernel;
  work.launch.places = places_of_callers();
  if (Error error = pack(work.launch, arguments)) return error;
  return enqueue(stream_at(stream), std::move(work), true);
}

Error facts_of(FunctionFacts *facts, Kernel *kernel) {
  if (!facts) return invalid_value;
  if (!kernel) return invalid_device_function;
  if (Error error = known(kernel)) return error;
  *facts = FunctionFacts{};
  facts->shared = kernel->shared, facts->constant = kernel->constant, facts->local = kernel->local;
  facts->threads = int(kernel->threads), facts->registers = int(kernel->registers);
  facts->ptx = int(kernel->ptx), facts->binary = int(kernel->binary);
  auto &set = kernel->attributes;
  facts->dynamic_shared =
      int(set.count(dynamic_shared_attribute) ? set[dynamic_shared_attribute] : kernel->dynamic_shared);
  facts->carveout = int(set.count(carveout_attribute) ? set[carveout_attribute] : int64_t(kernel->carveout));
  return success;
}

Error free_shared(size_t *bytes, Kernel *kernel, int blocks, int threads) {
  if (!bytes || blocks <= 0) return invalid_value;
  if (!kernel) return invalid_device_function;
  if (Error error = known(kernel)) return error;
  uint64_t share = property(shared_per_processor) / uint64_t(blocks), of_system = property(shared_reserved);
  uint64_t taken = of_system + kernel->shared;
  share = share / 128 * 128;  // shared memory is given in units of 128 bytes
  uint64_t most = property(shared_optin) - kernel->shared;
  *bytes = share < taken ? 0 : share - taken < most ? share - taken : most;
  int fit = 0;
  return active_blocks(&fit, kernel, threads, 0);
}

uint64_t volume(const Size &size) { return uint64_t(size.x) * size.y * size.z; }

}  // namespace

namespace gpusim {

Error clusters(int *count, Kernel *kernel, const LaunchConfiguration *configuration) {
  if (!count || !configuration) return invalid_value;
  Launch launch;
  read_attributes(launch, configuration->attributes, configuration->count);
  uint64_t blocks = volume(launch.cluster) ? volume(launch.cluster) : 1;
  int fit = 0;
  Error error = active_blocks(&fit, kernel, int(volume(size(configuration->block))), configuration->shared, blocks);
  *count = int(uint64_t(fit) * property(processors) / blocks);
  return error;
}

Error largest_cluster(int *blocks, Kernel *kernel, const LaunchConfiguration *configuration) {
  constexpr int portable = 8, most = 16;
  if (!blocks || !configuration) return invalid_value;
  if (!kernel) return invalid_device_function;
  *blocks = kernel->attributes.count(14) ? most : portable;  // cudaFuncAttributeNonPortableClusterSizeAllowed
  int fit = 0;
  return active_blocks(&fit, kernel, int(volume(size(configuration->block))), configuration->shared, uint64_t(*blocks));
}

// Those that are not read here change no result and, in the simulator, no time.
Error read_attributes(Launch &launch, const LaunchAttribute *attributes, unsigned count) {
  if (count && !attributes) return invalid_value;
  for (unsigned i = 0; i < count; i++) {
    auto &value = attributes[i].value;
    if (attributes[i].id == cooperative_attribute) launch.cooperative = value.number;
    if (attributes[i].id == cluster_attribute) launch.cluster = size(value.cluster);
    if (attributes[i].id == priority_attribute) launch.priority = value.priority;
  }
  return success;
}

}  // namespace gpusim

API(int, cudaLaunchKernelExC)(const LaunchConfiguration *configuration, const void *host, void **arguments) {
  return call([&]() -> Error {
    if (!configuration) return invalid_value;
    Work work;
    work.launch.kernel = kernel_at(host);
    work.launch.grid = size(configuration->grid), work.launch.block = size(configuration->block);
    work.launch.shared = configuration->shared;
    if (Error error = read_attributes(work.launch, configuration->attributes, configuration->count)) return error;
    return start(work, arguments, configuration->stream);
  });
}

API(int, cudaLaunchCooperativeKernel)(const void *host, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                                      void *stream) {
  return call([&] {
    Work work;
    work.launch.kernel = kernel_at(host);
    work.launch.grid = size(grid), work.launch.block = size(block);
    work.launch.shared = shared, work.launch.cooperative = true;
    return start(work, arguments, stream);
  });
}

API(int, cudaFuncGetAttributes)(FunctionFacts *facts, const void *host) {
  return call([&] { return facts_of(facts, kernel_at(host)); });
}

API(int, cudaFuncSetAttribute)(const void *host, int attribute, int value) {
  return call([&]() -> Error {
    Kernel *kernel = kernel_at(host);
    if (!kernel) return invalid_device_function;
    if (attribute < dynamic_shared_attribute || attribute > last_attribute) return invalid_value;
    return set_attribute(kernel, attribute, value);
  });
}

API(int, cudaFuncSetCacheConfig)(const void *host, int) {  // a preference
  return call([&] { return kernel_at(host) ? success : invalid_device_function; });
}

API(int, cudaFuncSetSharedMemConfig)(const void *host, int) {  // without effect since banks have 4 bytes
  return call([&] { return kernel_at(host) ? success : invalid_device_function; });
}

API(int, cudaFuncGetName)(const char **name, const void *host) {
  return call([&]() -> Error {
    if (!name) return invalid_value;
    Kernel *kernel = kernel_at(host);
    if (!kernel) return invalid_device_function;
    *name = kernel->name.c_str();
    return success;
  });
}

API(int, cudaFuncGetParamInfo)(const void *host, size_t index, size_t *offset, size_t *bytes) {
  return call([&]() -> Error {
    Kernel *kernel = kernel_at(host);
    if (!kernel) return invalid_device_function;
    if (Error error = known(kernel)) return error;
    if (index >= kernel->parameters.size()) return invalid_value;
    *offset = kernel->parameters[index].offset;
    if (bytes) *bytes = kernel->parameters[index].size;
    return success;
  });
}

API(int, cudaGetFuncBySymbol)(void **function, const void *host) {
  return call([&]() -> Error {
    if (!function) return invalid_value;
    *function = kernel_at(host);
    return *function ? success : invalid_device_function;
  });
}

API(int, cudaGetKernel)(void **kernel, const void *host) { return gpusim_cudaGetFuncBySymbol(kernel, host); }

API(int, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, const void *host, int threads,
                                                                 size_t shared, unsigned) {
  return call([&] { return active_blocks(blocks, kernel_at(host), threads, shared); });
}

API(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *host, int threads, size_t shared) {
  return gpusim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

API(int, cudaOccupancyAvailableDynamicSMemPerBlock)(size_t *bytes, const void *host, int blocks, int threads) {
  return call([&] { return free_shared(bytes, kernel_at(host), blocks, threads); });
}

API(int, cudaOccupancyMaxActiveClusters)(int *count, const void *host, const LaunchConfiguration *configuration) {
  return call([&] { return clusters(count, kernel_at(host), configuration); });
}

API(int, cudaOccupancyMaxPotentialClusterSize)(int *blocks, const void *host,
                                               const LaunchConfiguration *configuration) {
  return call([&] { return largest_cluster(blocks, kernel_at(host), configuration); });
}
