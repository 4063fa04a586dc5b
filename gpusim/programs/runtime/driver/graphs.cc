// Graphs of the driver where their parameters are not the runtime's: edges, capture, writes of words in streams.
#include "../cudart/graphs/edges.h"
#include "driver.h"

using namespace gpusim;

namespace {

Error write_words(void *stream, uint64_t address, std::initializer_list<unsigned> words) {
  for (unsigned word : words) {
    Work work;
    work.kind = Work::fill;
    work.filled = {address, 1, 1, 1, 0, 0, word, 4};
    if (Error error = enqueue(stream_at(stream), std::move(work), true)) return error;
    address += 4;
  }
  return success;
}

}  // namespace

EXPORT(int, cuStreamGetCaptureInfo_v2)(void *stream, int *status, unsigned long long *id, Graph **graph,
                                       Node *const **after, size_t *count) {
  return driver_call([&] { return capture_facts(stream_at(stream), {status, id, graph, after, count}); });
}
EXPORT(int, cuStreamGetCaptureInfo)(void *stream, int *status, unsigned long long *id) {
  return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
EXPORT(int, cuStreamGetCaptureInfo_v3)(void *stream, int *status, unsigned long long *id, Graph **graph,
                                       Node *const **after, const void **edges, size_t *count) {
  if (edges) *edges = nullptr;  // all of the usual kind
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, after, count);
}
EXPORT(int, cuStreamUpdateCaptureDependencies)(void *stream, Node *const *after, size_t count, unsigned flags) {
  return driver_call([&] { return set_tips(stream_at(stream), after, count, flags); });
}
EXPORT(int, cuStreamUpdateCaptureDependencies_v2)(void *stream, Node *const *after, const void *, size_t count,
                                                  unsigned flags) {
  return cuStreamUpdateCaptureDependencies(stream, after, count, flags);
}
EXPORT(int, cuGraphAddDependencies)(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  return driver_call([&] { return add_edges(graph, from, to, count); });
}
EXPORT(int, cuGraphAddDependencies_v2)(Graph *graph, Node *const *from, Node *const *to, const void *, size_t count) {
  return cuGraphAddDependencies(graph, from, to, count);
}
EXPORT(int, cuGraphRemoveDependencies)(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  return driver_call([&] { return remove_edges(graph, from, to, count); });
}
EXPORT(int, cuGraphGetEdges)(const Graph *graph, Node **from, Node **to, size_t *count) {
  return driver_call([&] { return give_edges(graph, from, to, count); });
}
EXPORT(int, cuGraphNodeGetDependencies)(const Node *node, Node **into, size_t *count) {
  return driver_call([&]() -> Error { return node ? give_some(node->after, into, count) : invalid_value; });
}

EXPORT(int, cuStreamWriteValue32_v2)(void *stream, uint64_t address, uint32_t value, unsigned) {
  return driver_call([&] { return write_words(stream, address, {value}); });
}
EXPORT(int, cuStreamWriteValue64_v2)(void *stream, uint64_t address, uint64_t value, unsigned) {
  return driver_call([&] { return write_words(stream, address, {unsigned(value), unsigned(value >> 32)}); });
}
