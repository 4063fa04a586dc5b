// Memory of the driver: allocations, copies of bytes, rows and boxes, memsets of 1, 2 and 4 bytes, facts of pointers.
#include <cstring>

#include "../cudart/arrays/arrays.h"
#include "driver.h"

using namespace gpusim;

namespace {

struct RowsCopy {  // CUDA_MEMCPY2D
  size_t from_x, from_y;
  int from_type;
  const void *from_host;
  uint64_t from_device;
  void *from_array;
  size_t from_pitch, into_x, into_y;
  int into_type;
  void *into_host;
  uint64_t into_device;
  void *into_array;
  size_t into_pitch, width, height;
};

struct BoxCopy {  // CUDA_MEMCPY3D
  size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void *from_host;
  uint64_t from_device;
  void *from_array, *reserved0;
  size_t from_pitch, from_height, into_x, into_y, into_z, into_level;
  int into_type;
  void *into_host;
  uint64_t into_device;
  void *into_array, *reserved1;
  size_t into_pitch, into_height, width, height, depth;
};

enum { host = 1, device, array, unified };  // CUmemorytype

struct Side {
  int type;
  const void *host_memory;
  uint64_t device_memory;
  void *array;
  size_t x, y, z, pitch, height;
};

struct Place {
  uint64_t address, pitch, slice;
};

bool place_of(const Side &side, Place *place) {
  if (side.type == array) {
    Array *found = array_at(side.array);
    if (!found) return false;
    *place = {found->address, found->pitch, found->slice};
  } else {
    *place = {side.type == host ? number(side.host_memory) : side.device_memory, side.pitch, side.pitch * side.height};
  }
  place->address += side.x + side.y * place->pitch + side.z * place->slice;
  return true;
}

Way way(int from, int into) {
  if (from == unified || into == unified) return Way::any;
  bool of = from != host, to = into != host;
  return of && to ? Way::device_to_device : of ? Way::device_to_host : to ? Way::host_to_device : Way::host_to_host;
}

Error copy(const Side &from, const Side &into, Extent extent, void *stream, bool later) {
  Place of, to;
  if (!place_of(from, &of) || !place_of(into, &to)) return invalid_handle;
  Work work;
  work.kind = Work::copy;
  work.copied = {to.address, of.address, extent.width, extent.height, extent.depth,
                 to.pitch,   of.pitch,   to.slice,     of.slice,      way(from.type, into.type)};
  return enqueue(stream_at(stream), std::move(work), later);
}

Error copy(const RowsCopy *rows, void *stream, bool later) {
  if (!rows) return invalid_value;
  Side from{rows->from_type,
            rows->from_host,
            rows->from_device,
            rows->from_array,
            rows->from_x,
            rows->from_y,
            0,
            rows->from_pitch,
            0};
  Side into{rows->into_type,
            rows->into_host,
            rows->into_device,
            rows->into_array,
            rows->into_x,
            rows->into_y,
            0,
            rows->into_pitch,
            0};
  return copy(from, into, {rows->width, rows->height, 1}, stream, later);
}

Error copy(const BoxCopy *box, void *stream, bool later) {
  if (!box) return invalid_value;
  Side from{box->from_type, box->from_host, box->from_device, box->from_array, box->from_x,
            box->from_y,    box->from_z,    box->from_pitch,  box->from_height};
  Side into{box->into_type, box->into_host, box->into_device, box->into_array, box->into_x,
            box->into_y,    box->into_z,    box->into_pitch,  box->into_height};
  return copy(from, into, {box->width, box->height, box->depth}, stream, later);
}

Error copy_bytes(uint64_t into, uint64_t from, size_t bytes, Way way, void *stream, bool later) {
  Work work;
  work.kind = Work::copy;
  work.copied.into = into, work.copied.from = from, work.copied.width = bytes, work.copied.way = way;
  return enqueue(stream_at(stream), std::move(work), later);
}

Error fill(uint64_t into, size_t pitch, unsigned value, unsigned element, size_t width, size_t height, void *stream,
           bool later) {
  Work work;
  work.kind = Work::fill;
  work.filled = {into, width, height, 1, pitch, 0, value, element};
  return enqueue(stream_at(stream), std::move(work), later);
}

enum {
  context_of = 1,
  memory_type,
  device_pointer,
  host_pointer,
  synchronous = 6,
  buffer_id,
  is_managed,
  ordinal,
  ipc_capable,
  range_start,
  range_bytes,
  mapped
};

template <typename Value>
Error give(void *into, Value value) {
  std::memcpy(into, &value, sizeof value);
  return success;
}

Error pointer_attribute(void *into, int attribute, uint64_t address) {
  enum : uint64_t { unregistered, of_host, of_device, managed };
  if (!into) return invalid_value;
  Reply reply = ask("pointer", {address});
  uint64_t base = reply.number(0), bytes = reply.number(1), kind = reply.number(2);
  if (kind == unregistered) return attribute == mapped ? give(into, 0) : invalid_value;
  switch (attribute) {
    case memory_type: return give(into, kind == of_host ? 1u : 2u);
    case device_pointer: return give(into, address);
    case host_pointer: return kind == of_device ? invalid_value : give(into, address);
    case is_managed: return give(into, kind == managed ? 1u : 0u);
    case buffer_id:
    case range_start: return give(into, base);
    case range_bytes: return give(into, bytes);
    case context_of: return give(into, uint64_t(0));
    default: return give(into, attribute == mapped ? 1u : 0u);
  }
}

}  // namespace

EXPORT(int, cuMemAlloc_v2)(uint64_t *address, size_t bytes) {
  return driver_call([&]() -> Error {
    void *found = nullptr;
    if (!address || !bytes) return invalid_value;
    Error error = allocated(&found, bytes, device_memory);
    *address = number(found);
    return error;
  });
}
EXPORT(int, cuMemAlloc)(uint64_t *address, size_t bytes) { return cuMemAlloc_v2(address, bytes); }
EXPORT(int, cuMemGetAddressRange_v2)(uint64_t *base, size_t *bytes, uint64_t address) {
  return driver_call([&]() -> Error {
    Reply reply = ask("pointer", {address});
    if (base) *base = reply.number(0);
    if (bytes) *bytes = reply.number(1);
    return reply.number(2) ? success : invalid_value;
  });
}
EXPORT(int, cuPointerGetAttribute)(void *into, int attribute, uint64_t address) {
  return driver_call([&] { return pointer_attribute(into, attribute, address); });
}
EXPORT(int, cuPointerGetAttributes)(unsigned count, const int *attributes, void **into, uint64_t address) {
  return driver_call([&]() -> Error {
    if (!count || !attributes || !into) return invalid_value;
    for (unsigned i = 0; i < count; i++)
      if (pointer_attribute(into[i], attributes[i], address) && into[i]) give(into[i], 0);
    return success;
  });
}
EXPORT(int, cuPointerSetAttribute)(const void *, int, uint64_t) { return success; }

EXPORT(int, cuMemcpy)(uint64_t into, uint64_t from, size_t bytes) {
  return driver_call([&] { return copy_bytes(into, from, bytes, Way::any, nullptr, false); });
}
EXPORT(int, cuMemcpyAsync)(uint64_t into, uint64_t from, size_t bytes, void *stream) {
  return driver_call([&] { return copy_bytes(into, from, bytes, Way::any, stream, true); });
}

// Copies of bytes by where they begin and end, under the names of both versions.
#define COPY(name, way)                                                                             \
  EXPORT(int, cuMemcpy##name##_v2)(uint64_t into, uint64_t from, size_t bytes) {                    \
    return driver_call([&] { return copy_bytes(into, from, bytes, way, nullptr, false); });         \
  }                                                                                                 \
  EXPORT(int, cuMemcpy##name)(uint64_t into, uint64_t from, size_t bytes) {                         \
    return cuMemcpy##name##_v2(into, from, bytes);                                                  \
  }                                                                                                 \
  EXPORT(int, cuMemcpy##name##Async_v2)(uint64_t into, uint64_t from, size_t bytes, void *stream) { \
    return driver_call([&] { return copy_bytes(into, from, bytes, way, stream, true); });           \
  }                                                                                                 \
  EXPORT(int, cuMemcpy##name##Async)(uint64_t into, uint64_t from, size_t bytes, void *stream) {    \
    return cuMemcpy##name##Async_v2(into, from, bytes, stream);                                     \
  }
COPY(HtoD, Way::host_to_device)
COPY(DtoH, Way::device_to_host)
COPY(DtoD, Way::device_to_device)

EXPORT(int, cuMemcpy2D_v2)(const RowsCopy *rows) {
  return driver_call([&] { return copy(rows, nullptr, false); });
}
EXPORT(int, cuMemcpy2DUnaligned_v2)(const RowsCopy *rows) { return cuMemcpy2D_v2(rows); }
EXPORT(int, cuMemcpy2DAsync_v2)(const RowsCopy *rows, void *stream) {
  return driver_call([&] { return copy(rows, stream, true); });
}
EXPORT(int, cuMemcpy3D_v2)(const BoxCopy *box) {
  return driver_call([&] { return copy(box, nullptr, false); });
}
EXPORT(int, cuMemcpy3DAsync_v2)(const BoxCopy *box, void *stream) {
  return driver_call([&] { return copy(box, stream, true); });
}

// Memsets of elements of so many bits.
#define FILL(bits, type)                                                                                      \
  EXPORT(int, cuMemsetD##bits##_v2)(uint64_t into, type value, size_t count) {                                \
    return driver_call([&] { return fill(into, 0, value, bits / 8, count, 1, nullptr, false); });             \
  }                                                                                                           \
  EXPORT(int, cuMemsetD##bits)(uint64_t into, type value, size_t count) {                                     \
    return cuMemsetD##bits##_v2(into, value, count);                                                          \
  }                                                                                                           \
  EXPORT(int, cuMemsetD##bits##Async)(uint64_t into, type value, size_t count, void *stream) {                \
    return driver_call([&] { return fill(into, 0, value, bits / 8, count, 1, stream, true); });               \
  }                                                                                                           \
  EXPORT(int, cuMemsetD2D##bits##_v2)(uint64_t into, size_t pitch, type value, size_t width, size_t height) { \
    return driver_call([&] { return fill(into, pitch, value, bits / 8, width, height, nullptr, false); });    \
  }                                                                                                           \
  EXPORT(int, cuMemsetD2D##bits)(uint64_t into, size_t pitch, type value, size_t width, size_t height) {      \
    return cuMemsetD2D##bits##_v2(into, pitch, value, width, height);                                         \
  }                                                                                                           \
  EXPORT(int, cuMemsetD2D##bits##Async)(uint64_t into, size_t pitch, type value, size_t width, size_t height, \
                                        void *stream) {                                                       \
    return driver_call([&] { return fill(into, pitch, value, bits / 8, width, height, stream, true); });      \
  }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
