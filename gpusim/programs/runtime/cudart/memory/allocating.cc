// Memory of the device, of the host, and managed; rows of a pitch; what a pointer points to.
#include <cstdlib>

#include "../../graphs/graphs.h"
#include "../api.h"

using namespace gpusim;

namespace gpusim {

Error allocated(void **pointer_to, size_t bytes, Memory kind) {
  if (!pointer_to) return invalid_value;
  if (Error error = spoil_unsafe(capture_unsupported)) return error;
  if (!bytes) {
    *pointer_to = nullptr;
    return success;
  }
  uint64_t address = 0;
  Error error = allocate(&address, bytes, kind);
  if (!error) *pointer_to = pointer(address);
  return error;
}

}  // namespace gpusim

namespace {

constexpr uint64_t row_alignment = 512;  // bytes; the pitch of an H200

Error pitched(void **pointer_to, size_t *pitch, size_t width, size_t rows) {
  if (!pointer_to || !pitch) return invalid_value;
  *pitch = (width + row_alignment - 1) / row_alignment * row_alignment;
  return allocated(pointer_to, *pitch * rows, device_memory);
}

Error freed(void *memory) {
  if (!memory) return success;
  Error error = settle();
  if (error || is_graph_memory(number(memory))) return error;
  return release(number(memory));
}

Error facts_of(PointerFacts *facts, const void *memory) {
  enum { unregistered, host, device, managed };
  if (!facts) return invalid_value;
  Reply reply = ask("pointer", {number(memory)});
  if (reply.error) return reply.error;
  uint64_t kind = reply.number(2);
  void *there = const_cast<void *>(memory);
  facts->type = int(kind);
  facts->device = kind == unregistered ? -2 : 0;
  facts->device_pointer = kind == unregistered ? nullptr : there;
  facts->host_pointer = kind == device ? nullptr : kind == unregistered ? there : there;
  return success;
}

}  // namespace

API(int, cudaMalloc)(void **memory, size_t bytes) {
  return call([&] { return allocated(memory, bytes, device_memory); });
}
API(int, cudaMallocManaged)(void **memory, size_t bytes, unsigned) {
  return call([&]() -> Error { return bytes ? allocated(memory, bytes, managed_memory) : invalid_value; });
}
API(int, cudaMallocHost)(void **memory, size_t bytes) {
  return call([&] { return allocated(memory, bytes, host_memory); });
}
API(int, cudaHostAlloc)(void **memory, size_t bytes, unsigned) {
  return call([&] { return allocated(memory, bytes, host_memory); });
}
API(int, cudaMallocPitch)(void **memory, size_t *pitch, size_t width, size_t rows) {
  return call([&] { return pitched(memory, pitch, width, rows); });
}
API(int, cudaMalloc3D)(Pitched *memory, Extent extent) {
  return call([&]() -> Error {
    if (!memory) return invalid_value;
    memory->width = extent.width, memory->height = extent.height;
    return pitched(&memory->pointer, &memory->pitch, extent.width, extent.height * extent.depth);
  });
}
API(int, cudaFree)(void *memory) {
  return call([&] { return freed(memory); });
}
API(int, cudaFreeHost)(void *memory) {
  return call([&] { return freed(memory); });
}

API(int, cudaMemGetInfo)(size_t *free_bytes, size_t *total) {
  return call([&] {
    Reply reply = ask("memory", {});
    *free_bytes = reply.number(0), *total = reply.number(1);
    return reply.error;
  });
}
API(int, cudaPointerGetAttributes)(PointerFacts *facts, const void *memory) {
  return call([&] { return facts_of(facts, memory); });
}
