// Functions of graphs as 12 has them: without data of edges, and under other names with them.
#include "../cudart/graphs/edges.h"

using namespace gpusim;

EXPORT(int, cudaStreamGetCaptureInfo)(void *stream, int *status, unsigned long long *id) {
  return call([&] { return capture_facts(stream_at(stream), {status, id, nullptr, nullptr, nullptr}); });
}
EXPORT(int, cudaStreamGetCaptureInfo_v2)(void *stream, int *status, unsigned long long *id, Graph **graph,
                                         Node *const **after, size_t *count) {
  return call([&] { return capture_facts(stream_at(stream), {status, id, graph, after, count}); });
}
EXPORT(int, cudaStreamGetCaptureInfo_v3)(void *stream, int *status, unsigned long long *id, Graph **graph,
                                         Node *const **after, const void **edges, size_t *count) {
  if (edges) *edges = nullptr;  // all of the usual kind
  return call([&] { return capture_facts(stream_at(stream), {status, id, graph, after, count}); });
}
EXPORT(int, cudaStreamUpdateCaptureDependencies)(void *stream, Node *const *after, size_t count, unsigned flags) {
  return call([&] { return set_tips(stream_at(stream), after, count, flags); });
}
EXPORT(int, cudaStreamUpdateCaptureDependencies_v2)(void *stream, Node *const *after, const void *, size_t count,
                                                    unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, after, count, flags);
}
EXPORT(int, cudaGraphAddNode)(Node **node, Graph *graph, Node *const *after, size_t count, NodeParameters *parameters) {
  return call([&] { return add_any_node(node, graph, after, count, parameters); });
}
EXPORT(int, cudaGraphAddNode_v2)(Node **node, Graph *graph, Node *const *after, const void *, size_t count,
                                 NodeParameters *parameters) {
  return call([&] { return add_any_node(node, graph, after, count, parameters); });
}
EXPORT(int, cudaGraphAddDependencies)(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  return call([&] { return add_edges(graph, from, to, count); });
}
EXPORT(int, cudaGraphAddDependencies_v2)(Graph *graph, Node *const *from, Node *const *to, const void *, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}
EXPORT(int, cudaGraphRemoveDependencies)(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  return call([&] { return remove_edges(graph, from, to, count); });
}
EXPORT(int, cudaGraphGetEdges)(const Graph *graph, Node **from, Node **to, size_t *count) {
  return call([&] { return give_edges(graph, from, to, count); });
}
EXPORT(int, cudaGraphNodeGetDependencies)(const Node *node, Node **into, size_t *count) {
  return call([&]() -> Error { return node ? give_some(node->after, into, count) : invalid_value; });
}
EXPORT(int, cudaGraphNodeGetDependentNodes)(const Node *node, Node **into, size_t *count) {
  return call([&]() -> Error { return node ? give_some(followers(node), into, count) : invalid_value; });
}
