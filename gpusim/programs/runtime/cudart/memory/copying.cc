// Copies and memsets of rows of bytes, and those of variables; blocking ones wait for the default stream.
#include "../api.h"

using namespace gpusim;

namespace gpusim {

Error in_symbol(void **place, const void *symbol, size_t bytes, size_t offset) {
  Variable *variable = variable_at(symbol);
  if (!variable) return invalid_symbol;
  if (Error error = known(variable)) return error;
  if (offset + bytes > variable->bytes) return invalid_value;
  *place = pointer(variable->address + offset);
  return success;
}

}  // namespace gpusim

namespace {

Error copy(const Copy &copied, void *stream, bool later) {
  Work work;
  work.kind = Work::copy;
  work.copied = copied;
  return enqueue(stream_at(stream), std::move(work), later);
}

Copy line(void *into, const void *from, size_t bytes, int way) {
  Copy made;
  made.into = number(into), made.from = number(from), made.width = bytes, made.way = Way(way);
  return made;
}

Error copy_line(void *into, const void *from, size_t bytes, int way, void *stream, bool later) {
  if (bytes && (!into || !from)) return invalid_value;
  return copy(line(into, from, bytes, way), stream, later);
}

Error copy_rows(void *into, size_t into_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int way,
                void *stream, bool later) {
  if (width > into_pitch || width > from_pitch) return 12;  // cudaErrorInvalidPitchValue
  Copy made = line(into, from, width, way);
  made.height = rows, made.into_pitch = into_pitch, made.from_pitch = from_pitch;
  return copy(made, stream, later);
}

Error into_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int way, void *stream,
                  bool later) {
  void *place = nullptr;
  Error error = in_symbol(&place, symbol, bytes, offset);
  return error ? error : copy_line(place, from, bytes, way, stream, later);
}

Error from_symbol(void *into, const void *symbol, size_t bytes, size_t offset, int way, void *stream, bool later) {
  void *place = nullptr;
  Error error = in_symbol(&place, symbol, bytes, offset);
  return error ? error : copy_line(into, place, bytes, way, stream, later);
}

Error fill(void *into, size_t pitch, int value, size_t width, size_t rows, size_t layers, size_t slice, void *stream,
           bool later) {
  if (!into && width && rows && layers) return invalid_value;
  Work work;
  work.kind = Work::fill;
  auto &filled = work.filled;
  filled.into = number(into), filled.width = width, filled.height = rows, filled.depth = layers;
  filled.pitch = pitch, filled.slice = slice, filled.value = unsigned(value) & 255;
  return enqueue(stream_at(stream), std::move(work), later);
}

}  // namespace

API(int, cudaMemcpy)(void *into, const void *from, size_t bytes, int way) {
  return call([&] { return copy_line(into, from, bytes, way, nullptr, false); });
}
API(int, cudaMemcpyAsync)(void *into, const void *from, size_t bytes, int way, void *stream) {
  return call([&] { return copy_line(into, from, bytes, way, stream, true); });
}
API(int, cudaMemcpyPeer)(void *into, int, const void *from, int, size_t bytes) {
  return call([&] { return copy_line(into, from, bytes, 3, nullptr, false); });
}
API(int, cudaMemcpyPeerAsync)(void *into, int, const void *from, int, size_t bytes, void *stream) {
  return call([&] { return copy_line(into, from, bytes, 3, stream, true); });
}
API(int, cudaMemcpy2D)(void *into, size_t into_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                       int way) {
  return call([&] { return copy_rows(into, into_pitch, from, from_pitch, width, rows, way, nullptr, false); });
}
API(int, cudaMemcpy2DAsync)(void *into, size_t into_pitch, const void *from, size_t from_pitch, size_t width,
                            size_t rows, int way, void *stream) {
  return call([&] { return copy_rows(into, into_pitch, from, from_pitch, width, rows, way, stream, true); });
}
API(int, cudaMemcpyToSymbol)(const void *symbol, const void *from, size_t bytes, size_t offset, int way) {
  return call([&] { return into_symbol(symbol, from, bytes, offset, way, nullptr, false); });
}
API(int, cudaMemcpyToSymbolAsync)(const void *symbol, const void *from, size_t bytes, size_t offset, int way,
                                  void *stream) {
  return call([&] { return into_symbol(symbol, from, bytes, offset, way, stream, true); });
}
API(int, cudaMemcpyFromSymbol)(void *into, const void *symbol, size_t bytes, size_t offset, int way) {
  return call([&] { return from_symbol(into, symbol, bytes, offset, way, nullptr, false); });
}
API(int, cudaMemcpyFromSymbolAsync)(void *into, const void *symbol, size_t bytes, size_t offset, int way,
                                    void *stream) {
  return call([&] { return from_symbol(into, symbol, bytes, offset, way, stream, true); });
}

API(int, cudaMemset)(void *into, int value, size_t bytes) {
  return call([&] { return fill(into, bytes, value, bytes, 1, 1, bytes, nullptr, false); });
}
API(int, cudaMemsetAsync)(void *into, int value, size_t bytes, void *stream) {
  return call([&] { return fill(into, bytes, value, bytes, 1, 1, bytes, stream, true); });
}
API(int, cudaMemset2D)(void *into, size_t pitch, int value, size_t width, size_t rows) {
  return call([&] { return fill(into, pitch, value, width, rows, 1, 0, nullptr, false); });
}
API(int, cudaMemset2DAsync)(void *into, size_t pitch, int value, size_t width, size_t rows, void *stream) {
  return call([&] { return fill(into, pitch, value, width, rows, 1, 0, stream, true); });
}
API(int, cudaMemset3D)(Pitched into, int value, Extent extent) {
  return call([&] {
    return fill(into.pointer, into.pitch, value, extent.width, extent.height, extent.depth, into.pitch * into.height,
                nullptr, false);
  });
}
API(int, cudaMemset3DAsync)(Pitched into, int value, Extent extent, void *stream) {
  return call([&] {
    return fill(into.pointer, into.pitch, value, extent.width, extent.height, extent.depth, into.pitch * into.height,
                stream, true);
  });
}

API(int, cudaGetSymbolAddress)(void **place, const void *symbol) {
  return call([&]() -> Error { return place ? in_symbol(place, symbol, 0, 0) : invalid_value; });
}
API(int, cudaGetSymbolSize)(size_t *bytes, const void *symbol) {
  return call([&]() -> Error {
    Variable *variable = variable_at(symbol);
    if (!variable) return invalid_symbol;
    Error error = known(variable);
    *bytes = variable->bytes;
    return error;
  });
}
