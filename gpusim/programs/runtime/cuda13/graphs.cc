// Functions of graphs as 13 has them: with data of edges, of which nothing is read or given but zeros.
#include <cstring>

#include "../cudart/graphs/edges.h"

using namespace gpusim;

namespace {

constexpr size_t edge_bytes = 8;  // of cudaGraphEdgeData

void clear(void *edges, const size_t *count) {
  if (edges && count) std::memset(edges, 0, *count * edge_bytes);
}

}  // namespace

EXPORT(int, cudaStreamGetCaptureInfo)(void *stream, int *status, unsigned long long *id, Graph **graph,
                                      Node *const **after, const void **edges, size_t *count) {
  if (edges) *edges = nullptr;  // all of the usual kind
  return call([&] { return capture_facts(stream_at(stream), {status, id, graph, after, count}); });
}
EXPORT(int, cudaStreamUpdateCaptureDependencies)(void *stream, Node *const *after, const void *, size_t count,
                                                 unsigned flags) {
  return call([&] { return set_tips(stream_at(stream), after, count, flags); });
}
EXPORT(int, cudaGraphAddNode)(Node **node, Graph *graph, Node *const *after, const void *, size_t count,
                              NodeParameters *parameters) {
  return call([&] { return add_any_node(node, graph, after, count, parameters); });
}
EXPORT(int, cudaGraphAddDependencies)(Graph *graph, Node *const *from, Node *const *to, const void *, size_t count) {
  return call([&] { return add_edges(graph, from, to, count); });
}
EXPORT(int, cudaGraphRemoveDependencies)(Graph *graph, Node *const *from, Node *const *to, const void *, size_t count) {
  return call([&] { return remove_edges(graph, from, to, count); });
}
EXPORT(int, cudaGraphGetEdges)(const Graph *graph, Node **from, Node **to, void *edges, size_t *count) {
  return call([&] {
    Error error = give_edges(graph, from, to, count);
    clear(edges, count);
    return error;
  });
}
EXPORT(int, cudaGraphNodeGetDependencies)(const Node *node, Node **into, void *edges, size_t *count) {
  return call([&]() -> Error {
    if (!node) return invalid_value;
    Error error = give_some(node->after, into, count);
    clear(edges, count);
    return error;
  });
}
EXPORT(int, cudaGraphNodeGetDependentNodes)(const Node *node, Node **into, void *edges, size_t *count) {
  return call([&]() -> Error {
    if (!node) return invalid_value;
    Error error = give_some(followers(node), into, count);
    clear(edges, count);
    return error;
  });
}
