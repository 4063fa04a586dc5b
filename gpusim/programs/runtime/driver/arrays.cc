// Arrays and textures of the driver: descriptors of another form for what the runtime has.
#include "../cudart/arrays/arrays.h"
#include "driver.h"

using namespace gpusim;

namespace {

struct Description {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  unsigned channels;
};

struct Description3D {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct DriverResource {  // CUDA_RESOURCE_DESC
  int type;
  union {
    void *array;
    struct {
      uint64_t memory;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      uint64_t memory;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int size[32];
  };
  unsigned flags;
};

struct DriverReading {  // CUDA_TEXTURE_DESC
  int address[3], filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float mip_bias, mip_least, mip_most, border[4];
  int reserved[12];
};

struct Format {
  int number, bits, kind;  // CUarray_format, and bits and cudaChannelFormatKind of a channel
};

constexpr Format formats[] = {{1, 8, 1},  {2, 16, 1},  {3, 32, 1},  {8, 8, 0},
                              {9, 16, 0}, {10, 32, 0}, {16, 16, 2}, {32, 32, 2}};

Channels channels_of(int format, unsigned count) {
  for (auto &one : formats)
    if (one.number == format) {
      auto bits = [&](unsigned channel) { return channel < count ? one.bits : 0; };
      return {bits(0), bits(1), bits(2), bits(3), one.kind};
    }
  refuse("an array of this format");
}

unsigned count_of(const Channels &channels) { return !!channels.x + !!channels.y + !!channels.z + !!channels.w; }

int format_of(const Channels &channels) {
  for (auto &one : formats)
    if (one.bits == channels.x && one.kind == channels.format) return one.number;
  return 0;
}

Error create(Array **array, const Description3D &wanted) {
  Channels channels = channels_of(wanted.format, wanted.channels);
  return add_array(array, &channels, {wanted.width, wanted.height, wanted.depth}, wanted.flags);
}

Resource of_runtime(const DriverResource &resource) {
  Resource made{};
  made.type = resource.type;
  auto &linear = resource.linear;
  auto &pitched = resource.pitched;
  if (resource.type == of_linear)
    made.linear = {pointer(linear.memory), channels_of(linear.format, linear.channels), linear.bytes};
  else if (resource.type == of_pitched)
    made.pitched = {pointer(pitched.memory), channels_of(pitched.format, pitched.channels), pitched.width,
                    pitched.height, pitched.pitch};
  else
    made.array = resource.array;
  return made;
}

Reading of_runtime(const DriverReading &reading, const Resource &resource) {
  enum : unsigned { as_integer = 1, normalized = 2 };
  Reading made{};
  for (int i = 0; i < 3; i++) made.address[i] = reading.address[i];
  for (int i = 0; i < 4; i++) made.border[i] = reading.border[i];
  made.filter = reading.filter;
  made.normalized = (reading.flags & normalized) != 0;
  Array *array = resource.type == of_array ? array_at(resource.array) : nullptr;
  Channels channels = array ? array->channels : resource.linear.channels;
  bool small_integer = channels.format < 2 && channels.x < 32;
  made.read = small_integer && !(reading.flags & as_integer);
  return made;
}

// A copy of bytes between an array, at an offset in bytes of its first row, and memory.
Error copy_row(void *array, size_t offset, uint64_t memory, size_t bytes, bool into, Way way, void *stream,
               bool later) {
  Array *found = array_at(array);
  if (!found) return invalid_handle;
  Work work;
  work.kind = Work::copy;
  Copy &copy = work.copied;
  uint64_t there = found->address + offset;
  copy.into = into ? there : memory, copy.from = into ? memory : there, copy.width = bytes, copy.way = way;
  return enqueue(stream_at(stream), std::move(work), later);
}

}  // namespace

EXPORT(int, cuArrayCreate_v2)(Array **array, const Description *wanted) {
  return driver_call([&]() -> Error {
    if (!array || !wanted) return invalid_value;
    return create(array, {wanted->width, wanted->height, 0, wanted->format, wanted->channels, 0});
  });
}
EXPORT(int, cuArray3DCreate_v2)(Array **array, const Description3D *wanted) {
  return driver_call([&]() -> Error { return array && wanted ? create(array, *wanted) : invalid_value; });
}
EXPORT(int, cuArrayDestroy)(void *array) {
  return driver_call([&] { return remove_array(array); });
}
EXPORT(int, cuArray3DGetDescriptor_v2)(Description3D *into, void *array) {
  return driver_call([&]() -> Error {
    Array *found = array_at(array);
    if (!found || !into) return invalid_handle;
    auto &channels = found->channels;
    auto &extent = found->extent;
    *into = {extent.width, extent.height, extent.depth, format_of(channels), count_of(channels), found->flags};
    return success;
  });
}
EXPORT(int, cuArrayGetDescriptor_v2)(Description *into, void *array) {
  Description3D found;
  Error error = cuArray3DGetDescriptor_v2(&found, array);
  if (!error && into) *into = {found.width, found.height, found.format, found.channels};
  return error;
}

EXPORT(int, cuMemcpyHtoA_v2)(void *array, size_t offset, uint64_t memory, size_t bytes) {
  return driver_call([&] { return copy_row(array, offset, memory, bytes, true, Way::host_to_device, nullptr, false); });
}
EXPORT(int, cuMemcpyDtoA_v2)(void *array, size_t offset, uint64_t memory, size_t bytes) {
  return driver_call(
      [&] { return copy_row(array, offset, memory, bytes, true, Way::device_to_device, nullptr, false); });
}
EXPORT(int, cuMemcpyAtoH_v2)(uint64_t memory, void *array, size_t offset, size_t bytes) {
  return driver_call(
      [&] { return copy_row(array, offset, memory, bytes, false, Way::device_to_host, nullptr, false); });
}
EXPORT(int, cuMemcpyAtoD_v2)(uint64_t memory, void *array, size_t offset, size_t bytes) {
  return driver_call(
      [&] { return copy_row(array, offset, memory, bytes, false, Way::device_to_device, nullptr, false); });
}
EXPORT(int, cuMemcpyHtoAAsync_v2)(void *array, size_t offset, uint64_t memory, size_t bytes, void *stream) {
  return driver_call([&] { return copy_row(array, offset, memory, bytes, true, Way::host_to_device, stream, true); });
}
EXPORT(int, cuMemcpyAtoHAsync_v2)(uint64_t memory, void *array, size_t offset, size_t bytes, void *stream) {
  return driver_call([&] { return copy_row(array, offset, memory, bytes, false, Way::device_to_host, stream, true); });
}

EXPORT(int, cuTexObjectCreate)(uint64_t *object, const DriverResource *resource, const DriverReading *reading,
                               const void *view) {
  return driver_call([&]() -> Error {
    if (!object || !resource || !reading) return invalid_value;
    Resource same = of_runtime(*resource);
    if (view || !is_plain(&same)) refuse("cuTexObjectCreate with a view, mipmaps or a cube");
    Reading as = of_runtime(*reading, same);
    return create_texture(object, &same, &as);
  });
}
EXPORT(int, cuTexObjectDestroy)(uint64_t object) {
  return driver_call([&] { return destroy_texture(object); });
}
