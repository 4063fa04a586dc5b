// Memory: the simulator gives addresses and times; bytes are moved here.
#include <cstring>
#include <unordered_map>

#include "device.h"

namespace gpusim {
namespace {

constexpr uint64_t page = 4096, alignment_of_cuda = 512;
std::unordered_map<uint64_t, uint64_t> open_bytes;  // of managed and host memory by address

void move_rows(const Copy &copy) {
  for (uint64_t z = 0; z < copy.depth; z++)
    for (uint64_t y = 0; y < copy.height; y++)
      std::memmove(reached(copy.into + z * copy.into_slice + y * copy.into_pitch),
                   reached(copy.from + z * copy.from_slice + y * copy.from_pitch), copy.width);
}

void fill_row(unsigned char *row, const Fill &fill) {
  if (fill.element == 1) {
    std::memset(row, int(fill.value), fill.width);
    return;
  }
  for (uint64_t i = 0; i < fill.width; i++) std::memcpy(row + i * fill.element, &fill.value, fill.element);
}

}  // namespace

Error allocate(uint64_t *address, uint64_t bytes, Memory kind) {
  bool open = kind == managed_memory || kind == host_memory;
  Reply reply = ask("malloc", {bytes, kind, open ? page : alignment_of_cuda});
  if (reply.error) return reply.error;
  *address = reply.number(0);
  if (open) {
    open_bytes[*address] = bytes;
    open_to_host(*address, bytes, true);
  }
  return success;
}

Error release(uint64_t address, Stream *after) {
  Reply reply = ask("free", {address, after ? after->id + 1 : 0});
  auto found = open_bytes.find(address);
  if (!reply.error && found != open_bytes.end()) {
    open_to_host(address, found->second, false);
    open_bytes.erase(found);
  }
  return reply.error;
}

Error copy_now(const Copy &copy, Stream *stream, bool later) {
  if (!copy.width || !copy.height || !copy.depth) return success;
  if (uint64_t(copy.way) > 4) return invalid_copy_direction;
  Reply reply = ask("copy", {copy.into, copy.from, copy.width, copy.height, copy.depth, copy.into_pitch,
                             copy.from_pitch, copy.into_slice, copy.from_slice, uint64_t(copy.way), stream->id, later});
  if (!later)
    if (Error error = settle()) return error;
  if (!reply.error) move_rows(copy);
  return reply.error;
}

Error fill_now(const Fill &fill, Stream *stream, bool later) {
  if (!fill.width || !fill.height || !fill.depth) return success;
  Reply reply = ask("set", {fill.into, fill.width * fill.element, fill.height, fill.depth, fill.pitch, fill.slice,
                            stream->id, later});
  if (reply.error) return reply.error;
  for (uint64_t z = 0; z < fill.depth; z++)
    for (uint64_t y = 0; y < fill.height; y++) fill_row(reached(fill.into + z * fill.slice + y * fill.pitch), fill);
  return success;
}

}  // namespace gpusim
