// Memory in the order of a stream, pools (which here hold nothing back), prefetches and advice, registered host memory.
#include <cstring>
#include <map>

#include "../../graphs/graphs.h"
#include "../api.h"

using namespace gpusim;

namespace {

struct Pool {
  uint64_t threshold = 0, used = 0, most_used = 0;
};

Pool default_pool, *current_pool = &default_pool;
std::map<uint64_t, std::pair<uint64_t, Pool *>> of_pools;  // bytes and pool by address
std::map<const void *, size_t> registered;

Error allocated_in_order(void **memory, size_t bytes, Pool *pool, Stream *stream) {
  if (!memory || !pool) return invalid_value;
  if (!stream) return invalid_handle;
  if (!bytes) return *memory = nullptr, success;
  Work work;
  work.kind = Work::allocate, work.bytes = bytes;
  bool captured = bool(stream->capture);
  Error error = captured ? add_memory(stream->capture->graph, bytes, &work.address)
                         : allocate(&work.address, bytes, device_memory);
  if (error) return error;
  *memory = pointer(work.address);
  if (captured) return capture_work(stream, std::move(work));
  of_pools[work.address] = {bytes, pool};
  pool->used += bytes;
  if (pool->most_used < pool->used) pool->most_used = pool->used;
  return success;
}

Error freed_in_order(void *memory, Stream *stream) {
  if (!stream) return invalid_handle;
  if (!memory) return invalid_value;
  if (stream->capture) {
    Work work;
    work.kind = Work::release, work.address = number(memory);
    return capture_work(stream, std::move(work));
  }
  if (is_graph_memory(number(memory))) return success;
  auto found = of_pools.find(number(memory));
  if (found != of_pools.end()) {
    found->second.second->used -= found->second.first;
    of_pools.erase(found);
  }
  return release(number(memory), stream);
}

enum { reuse_by_events = 1, opportunistic, internal, threshold, reserved, reserved_most, used, used_most };

Error get(const Pool *pool, int attribute, void *value) {
  if (!pool || !value) return invalid_value;
  uint64_t found = attribute == threshold                                 ? pool->threshold
                   : attribute == reserved || attribute == used           ? pool->used
                   : attribute == reserved_most || attribute == used_most ? pool->most_used
                                                                          : 1;
  std::memcpy(value, &found, attribute < threshold ? sizeof(int) : sizeof found);
  return attribute < reuse_by_events || attribute > used_most ? invalid_value : success;
}

Error set(Pool *pool, int attribute, const void *value) {
  if (!pool || !value) return invalid_value;
  if (attribute == threshold) std::memcpy(&pool->threshold, value, sizeof pool->threshold);
  if (attribute == reserved_most || attribute == used_most) pool->most_used = pool->used;
  return success;
}

Error whole_or_invalid(const void *memory, size_t bytes) { return memory && bytes ? success : invalid_value; }

Error range_attribute(void *into, size_t bytes, int attribute) {
  constexpr int nowhere = -2;  // cudaInvalidDeviceId
  if (!into || bytes < sizeof(int)) return invalid_value;
  int none = attribute == 1 ? 0 : nowhere;
  for (size_t i = 0; i + sizeof none <= bytes; i += sizeof none) std::memcpy(static_cast<char *>(into) + i, &none, 4);
  return success;
}

}  // namespace

API(int, cudaMallocAsync)(void **memory, size_t bytes, void *stream) {
  return call([&] { return allocated_in_order(memory, bytes, current_pool, stream_at(stream)); });
}
API(int, cudaMallocFromPoolAsync)(void **memory, size_t bytes, Pool *pool, void *stream) {
  return call([&] { return allocated_in_order(memory, bytes, pool, stream_at(stream)); });
}
API(int, cudaFreeAsync)(void *memory, void *stream) {
  return call([&] { return freed_in_order(memory, stream_at(stream)); });
}
API(int, cudaMemPoolCreate)(Pool **pool, const void *properties) {
  return call([&]() -> Error { return pool && properties ? *pool = new Pool, success : invalid_value; });
}
API(int, cudaMemPoolDestroy)(Pool *pool) {
  return call([&]() -> Error {
    if (!pool || pool == &default_pool) return invalid_value;
    if (pool == current_pool) current_pool = &default_pool;
    return success;  // the record stays, as memory of it may be in use
  });
}
API(int, cudaMemPoolSetAttribute)(Pool *pool, int attribute, const void *value) {
  return call([&] { return set(pool, attribute, value); });
}
API(int, cudaMemPoolGetAttribute)(const Pool *pool, int attribute, void *value) {
  return call([&] { return get(pool, attribute, value); });
}
API(int, cudaMemPoolTrimTo)(const Pool *pool, size_t) {
  return call([&] { return pool ? success : invalid_value; });
}
API(int, cudaMemPoolSetAccess)(const Pool *pool, const void *, size_t) {
  return call([&] { return pool ? success : invalid_value; });
}
API(int, cudaMemPoolGetAccess)(int *flags, const Pool *pool, const void *) {
  return call([&]() -> Error { return pool && flags ? *flags = 3, success : invalid_value; });  // read and write
}
API(int, cudaDeviceGetDefaultMemPool)(Pool **pool, int device) {
  return call(
      [&]() -> Error { return device ? invalid_device : pool ? *pool = &default_pool, success : invalid_value; });
}
API(int, cudaDeviceGetMemPool)(Pool **pool, int device) {
  return call(
      [&]() -> Error { return device ? invalid_device : pool ? *pool = current_pool, success : invalid_value; });
}
API(int, cudaDeviceSetMemPool)(int device, Pool *pool) {
  return call([&]() -> Error { return device ? invalid_device : pool ? current_pool = pool, success : invalid_value; });
}
API(int, cudaMemGetDefaultMemPool)(Pool **pool, const void *, int) {
  return gpusim_cudaDeviceGetDefaultMemPool(pool, 0);
}
API(int, cudaMemGetMemPool)(Pool **pool, const void *, int) { return gpusim_cudaDeviceGetMemPool(pool, 0); }
API(int, cudaMemSetMemPool)(const void *, int, Pool *pool) { return gpusim_cudaDeviceSetMemPool(0, pool); }
API(int, cudaDeviceGraphMemTrim)(int) {
  return call([] { return success; });
}
API(int, cudaDeviceGetGraphMemAttribute)(int, int, uint64_t *value) {
  return call([&]() -> Error { return value ? *value = 0, success : invalid_value; });
}
API(int, cudaDeviceSetGraphMemAttribute)(int, int, const void *) {
  return call([] { return success; });
}

// Managed memory is where it is needed at once: prefetches and advice change nothing. What follows the bytes differs
// between 12 (a device) and 13 (a place and flags); none of it is read.
API(int, cudaMemPrefetchAsync)(const void *memory, size_t bytes) {
  return call([&] { return whole_or_invalid(memory, bytes); });
}
API(int, cudaMemPrefetchAsync_v2)(const void *memory, size_t bytes) {
  return gpusim_cudaMemPrefetchAsync(memory, bytes);
}
API(int, cudaMemAdvise)(const void *memory, size_t bytes) {
  return call([&] { return whole_or_invalid(memory, bytes); });
}
API(int, cudaMemAdvise_v2)(const void *memory, size_t bytes) { return gpusim_cudaMemAdvise(memory, bytes); }
API(int, cudaMemRangeGetAttribute)(void *into, size_t bytes, int attribute, const void *, size_t) {
  return call([&] { return range_attribute(into, bytes, attribute); });
}
API(int, cudaMemRangeGetAttributes)(void **into, const size_t *bytes, const int *attributes, size_t count, const void *,
                                    size_t) {
  return call([&]() -> Error {
    for (size_t i = 0; i < count; i++)
      if (Error error = range_attribute(into[i], bytes[i], attributes[i])) return error;
    return success;
  });
}
API(int, cudaMemDiscardBatchAsync)(void **, size_t *, size_t) {
  return call([] { return success; });
}
API(int, cudaMemPrefetchBatchAsync)(void **, size_t *, size_t) {
  return call([] { return success; });
}
API(int, cudaMemDiscardAndPrefetchBatchAsync)(void **, size_t *, size_t) {
  return call([] { return success; });
}

// Memory of the program's own stays out of the device's reach; that it is pinned makes copies faster on a real one.
API(int, cudaHostRegister)(void *memory, size_t bytes, unsigned) {
  return call([&]() -> Error {
    if (!memory || !bytes) return invalid_value;
    return registered.emplace(memory, bytes).second ? success : 712;  // cudaErrorHostMemoryAlreadyRegistered
  });
}
API(int, cudaHostUnregister)(void *memory) {
  return call([&]() -> Error { return registered.erase(memory) ? success : 713; });  // ...NotRegistered
}
API(int, cudaHostGetDevicePointer)(void **device, void *host, unsigned) {
  if (device && in_window(number(host))) return call([&] { return *device = host, success; });
  refuse("cudaHostGetDevicePointer of memory that cudaHostRegister names");
}
API(int, cudaHostGetFlags)(unsigned *flags, const void *host) {
  return call([&]() -> Error {
    if (!flags || !in_window(number(host))) return invalid_value;
    *flags = 2;  // cudaHostAllocMapped: that of all host memory with unified addressing
    return success;
  });
}
