// Arrays are allocated and copied; copies count in elements of the array where one takes part, else in bytes.
#include "arrays.h"

#include <unordered_map>

using namespace gpusim;

namespace {

constexpr uint64_t row_alignment = 512;  // bytes
std::unordered_map<const void *, std::unique_ptr<Array>> arrays;

uint64_t element_bytes(const Channels &channels) {
  return uint64_t(channels.x + channels.y + channels.z + channels.w) / 8;
}

size_t at_least_one(size_t count) { return count ? count : 1; }

struct Side {
  uint64_t address, pitch, slice;
};

Side side(const Array *array, const Position &at, const Pitched &memory) {
  if (array) {
    uint64_t first = array->address + at.z * array->slice + at.y * array->pitch + at.x * array->element;
    return {first, array->pitch, array->slice};
  }
  uint64_t slice = memory.pitch * memory.height;
  return {number(memory.pointer) + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
}

Error copy(const CopyParameters &parameters, void *stream, bool later) {
  Work work;
  if (Error error = read(&work, &parameters)) return error;
  return enqueue(stream_at(stream), std::move(work), later);
}

// A copy of rows of bytes between an array, at an offset in bytes, and memory or another array.
struct Rows {
  const void *into_array;
  size_t into_x, into_y;
  void *into;
  size_t into_pitch;
  const void *from_array;
  size_t from_x, from_y;
  const void *from;
  size_t from_pitch, width, height;
};

Error copy_rows(const Rows &rows, int way, void *stream, bool later) {
  Array *into = array_at(rows.into_array), *from = array_at(rows.from_array);
  if ((rows.into_array && !into) || (rows.from_array && !from)) return invalid_handle;
  Side to = side(into, {0, rows.into_y, 0}, {rows.into, rows.into_pitch, 0, 0});
  Side of = side(from, {0, rows.from_y, 0}, {const_cast<void *>(rows.from), rows.from_pitch, 0, 0});
  Work work;
  work.kind = Work::copy;
  work.copied = {to.address + rows.into_x,
                 of.address + rows.from_x,
                 rows.width,
                 rows.height,
                 1,
                 to.pitch,
                 of.pitch,
                 to.slice,
                 of.slice,
                 Way(way)};
  return enqueue(stream_at(stream), std::move(work), later);
}

// Bytes in the order of an array's rows, which may go on in the next row.
Error copy_line(void *array, size_t x, size_t y, void *memory, size_t bytes, bool into, int way, void *stream,
                bool later) {
  Array *found = array_at(array);
  if (!found) return invalid_handle;
  size_t row = found->extent.width * found->element;
  while (bytes) {
    size_t part = bytes < row - x ? bytes : row - x;
    Rows rows = into ? Rows{array, x, y, nullptr, 0, nullptr, 0, 0, memory, part, part, 1}
                     : Rows{nullptr, 0, 0, memory, part, array, x, y, nullptr, 0, part, 1};
    if (Error error = copy_rows(rows, way, stream, later)) return error;
    memory = static_cast<char *>(memory) + part, bytes -= part, x = 0, y += 1;
  }
  return success;
}

struct PeerCopyParameters {  // cudaMemcpy3DPeerParms
  void *from_array;
  Position from_position;
  Pitched from;
  int from_device;
  void *into_array;
  Position into_position;
  Pitched into;
  int into_device;
  Extent extent;
};

CopyParameters plain(const PeerCopyParameters &peer) {
  return {peer.from_array,    peer.from_position, peer.from,   peer.into_array,
          peer.into_position, peer.into,          peer.extent, int(Way::any)};
}

}  // namespace

namespace gpusim {

Array *array_at(const void *handle) {
  auto found = arrays.find(handle);
  return found == arrays.end() ? nullptr : found->second.get();
}

Error add_array(Array **array, const Channels *channels, Extent extent, unsigned flags) {
  if (!array || !channels || !extent.width) return invalid_value;
  std::unique_ptr<Array> made(new Array{0, 0, 0, element_bytes(*channels), extent, *channels, flags});
  uint64_t row = extent.width * made->element, rows = at_least_one(extent.height);
  made->pitch = (row + row_alignment - 1) / row_alignment * row_alignment;
  made->slice = made->pitch * rows;
  Error error = allocate(&made->address, made->slice * at_least_one(extent.depth), array_memory);
  if (error) return error;
  *array = made.get();
  arrays[made.get()] = std::move(made);
  return success;
}

Error remove_array(const void *array) {
  Array *found = array_at(array);
  if (!found) return invalid_handle;
  Error error = release(found->address);
  arrays.erase(array);
  return error;
}

Error copy_of(Copy *copy, const CopyParameters *parameters) {
  Array *from = array_at(parameters->from_array), *into = array_at(parameters->into_array);
  if ((parameters->from_array && !from) || (parameters->into_array && !into)) return invalid_handle;
  if (from && into && from->element != into->element) return invalid_value;
  uint64_t unit = from ? from->element : into ? into->element : 1;
  Side of = side(from, parameters->from_position, parameters->from);
  Side to = side(into, parameters->into_position, parameters->into);
  auto &extent = parameters->extent;
  *copy = {to.address, of.address, extent.width * unit, extent.height, extent.depth, to.pitch, of.pitch,
           to.slice,   of.slice,   Way(parameters->way)};
  return success;
}

}  // namespace gpusim

API(int, cudaMalloc3DArray)(Array **array, const Channels *channels, Extent extent, unsigned flags) {
  return call([&] { return add_array(array, channels, extent, flags); });
}
API(int, cudaMallocArray)(Array **array, const Channels *channels, size_t width, size_t height, unsigned flags) {
  return call([&] { return add_array(array, channels, {width, height, 0}, flags); });
}
API(int, cudaFreeArray)(void *array) {
  return call([&]() -> Error { return array ? remove_array(array) : success; });
}
API(int, cudaArrayGetInfo)(Channels *channels, Extent *extent, unsigned *flags, void *array) {
  return call([&]() -> Error {
    Array *found = array_at(array);
    if (!found) return invalid_handle;
    if (channels) *channels = found->channels;
    if (extent) *extent = found->extent;
    if (flags) *flags = found->flags;
    return success;
  });
}
API(int, cudaGetChannelDesc)(Channels *channels, void *array) {
  return gpusim_cudaArrayGetInfo(channels, nullptr, nullptr, array);
}
API(Channels, cudaCreateChannelDesc)(int x, int y, int z, int w, int format) { return {x, y, z, w, format}; }

API(int, cudaMemcpy3D)(const CopyParameters *parameters) {
  return call([&]() -> Error { return parameters ? copy(*parameters, nullptr, false) : invalid_value; });
}
API(int, cudaMemcpy3DAsync)(const CopyParameters *parameters, void *stream) {
  return call([&]() -> Error { return parameters ? copy(*parameters, stream, true) : invalid_value; });
}
API(int, cudaMemcpy3DPeer)(const PeerCopyParameters *parameters) {
  return call([&]() -> Error { return parameters ? copy(plain(*parameters), nullptr, false) : invalid_value; });
}
API(int, cudaMemcpy3DPeerAsync)(const PeerCopyParameters *parameters, void *stream) {
  return call([&]() -> Error { return parameters ? copy(plain(*parameters), stream, true) : invalid_value; });
}

API(int, cudaMemcpy2DToArray)(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                              size_t height, int way) {
  return call([&] {
    return copy_rows({array, x, y, nullptr, 0, nullptr, 0, 0, from, pitch, width, height}, way, nullptr, false);
  });
}
API(int, cudaMemcpy2DToArrayAsync)(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, int way, void *stream) {
  return call([&] {
    return copy_rows({array, x, y, nullptr, 0, nullptr, 0, 0, from, pitch, width, height}, way, stream, true);
  });
}
API(int, cudaMemcpy2DFromArray)(void *into, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                                size_t height, int way) {
  return call([&] {
    return copy_rows({nullptr, 0, 0, into, pitch, array, x, y, nullptr, 0, width, height}, way, nullptr, false);
  });
}
API(int, cudaMemcpy2DFromArrayAsync)(void *into, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                                     size_t height, int way, void *stream) {
  return call([&] {
    return copy_rows({nullptr, 0, 0, into, pitch, array, x, y, nullptr, 0, width, height}, way, stream, true);
  });
}
API(int, cudaMemcpy2DArrayToArray)(void *into, size_t into_x, size_t into_y, const void *from, size_t from_x,
                                   size_t from_y, size_t width, size_t height, int way) {
  return call([&] {
    Rows rows{into, into_x, into_y, nullptr, 0, from, from_x, from_y, nullptr, 0, width, height};
    return copy_rows(rows, way, nullptr, false);
  });
}
API(int, cudaMemcpyToArray)(void *array, size_t x, size_t y, const void *from, size_t bytes, int way) {
  return call([&] { return copy_line(array, x, y, const_cast<void *>(from), bytes, true, way, nullptr, false); });
}
API(int, cudaMemcpyToArrayAsync)(void *array, size_t x, size_t y, const void *from, size_t bytes, int way,
                                 void *stream) {
  return call([&] { return copy_line(array, x, y, const_cast<void *>(from), bytes, true, way, stream, true); });
}
API(int, cudaMemcpyFromArray)(void *into, void *array, size_t x, size_t y, size_t bytes, int way) {
  return call([&] { return copy_line(array, x, y, into, bytes, false, way, nullptr, false); });
}
API(int, cudaMemcpyFromArrayAsync)(void *into, void *array, size_t x, size_t y, size_t bytes, int way, void *stream) {
  return call([&] { return copy_line(array, x, y, into, bytes, false, way, stream, true); });
}
