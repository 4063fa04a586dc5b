// Graphs as a whole: created, copied, looked at, instantiated, launched.
#include <algorithm>
#include <cstdio>

#include "abi.h"
#include "edges.h"

using namespace gpusim;

namespace gpusim {

// Gives at most `*count` of those found, or only their number, as CUDA's functions for nodes and edges do.
Error give_some(const std::vector<Node *> &found, Node **into, size_t *count) {
  if (!count) return invalid_value;
  if (into)
    for (size_t i = 0; i < *count; i++) into[i] = i < found.size() ? found[i] : nullptr;
  *count = into ? std::min(*count, found.size()) : found.size();
  return success;
}

std::vector<Edge> edges_of(const Graph &graph) {
  std::vector<Edge> found;
  for (auto &node : graph.nodes)
    for (auto before : node->after) found.push_back({before, node.get()});
  return found;
}

std::vector<Node *> followers(const Node *node) {
  std::vector<Node *> found;
  for (auto &edge : edges_of(*node->graph))
    if (edge.from == node) found.push_back(edge.to);
  return found;
}

Error add_edges(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  if (!graph || (count && (!from || !to))) return invalid_value;
  for (size_t i = 0; i < count; i++) to[i]->after.push_back(from[i]);
  return success;
}

Error remove_edges(Graph *graph, Node *const *from, Node *const *to, size_t count) {
  if (!graph || (count && (!from || !to))) return invalid_value;
  for (size_t i = 0; i < count; i++) {
    auto &after = to[i]->after;
    auto found = std::find(after.begin(), after.end(), from[i]);
    if (found == after.end()) return invalid_value;
    after.erase(found);
  }
  return success;
}

Error give_edges(const Graph *graph, Node **from, Node **to, size_t *count) {
  if (!graph || !count) return invalid_value;
  auto edges = edges_of(*graph);
  for (size_t i = 0; from && to && i < std::min(*count, edges.size()); i++)
    from[i] = edges[i].from, to[i] = edges[i].to;
  *count = from && to ? std::min(*count, edges.size()) : edges.size();
  return success;
}

Error add_any_node(Node **node, Graph *graph, Node *const *after, size_t count, NodeParameters *parameters) {
  if (!node || !graph || (count && !after)) return invalid_value;
  Work work;
  if (Error error = read(&work, parameters, graph)) return error;
  *node = add_node(graph, std::vector<Node *>(after, after + count), std::move(work));
  return success;
}

}  // namespace gpusim

namespace {

int type_of(Work::Kind kind) {  // cudaGraphNodeType
  switch (kind) {
    case Work::kernel: return 0;
    case Work::copy: return 1;
    case Work::fill: return 2;
    case Work::host: return 3;
    case Work::child: return 4;
    case Work::empty: return 5;
    case Work::wait_event: return 6;
    case Work::record_event: return 7;
    case Work::allocate: return 10;
    case Work::release: return 11;
  }
  return 5;
}

std::vector<Node *> all(const Graph &graph, bool roots) {
  std::vector<Node *> found;
  for (auto &node : graph.nodes)
    if (!roots || node->after.empty()) found.push_back(node.get());
  return found;
}

Error write_dot(const Graph &graph, const char *path) {
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return invalid_value;
  std::fprintf(file, "digraph graph {\n");
  for (auto &node : graph.nodes) {
    bool kernel = node->work.kind == Work::kernel;
    const char *name = kernel ? node->work.launch.kernel->name.c_str() : "";
    std::fprintf(file, "  \"%p\" [label=\"%d %s\"];\n", static_cast<void *>(node.get()), type_of(node->work.kind),
                 name);
  }
  for (auto &edge : edges_of(graph))
    std::fprintf(file, "  \"%p\" -> \"%p\";\n", static_cast<void *>(edge.from), static_cast<void *>(edge.to));
  std::fprintf(file, "}\n");
  return std::fclose(file) ? invalid_value : success;
}

Node *find_copy(const Graph &copy, const Node *original) {
  for (auto &node : copy.nodes)
    if (node->original == original) return node.get();
  return nullptr;
}

}  // namespace

API(int, cudaGraphCreate)(Graph **graph, unsigned) {
  return call([&]() -> Error { return graph ? *graph = new Graph, success : invalid_value; });
}
API(int, cudaGraphDestroy)(Graph *graph) {
  return call([&]() -> Error {
    if (!graph) return invalid_value;
    delete graph;
    return success;
  });
}
API(int, cudaGraphClone)(Graph **copy, const Graph *graph) {
  return call([&]() -> Error { return copy && graph ? *copy = copied(*graph).release(), success : invalid_value; });
}
API(int, cudaGraphNodeFindInClone)(Node **node, const Node *original, const Graph *copy) {
  return call([&]() -> Error {
    if (!node || !copy) return invalid_value;
    *node = find_copy(*copy, original);
    return *node ? success : invalid_value;
  });
}
API(int, cudaGraphDestroyNode)(Node *node) {
  return call([&]() -> Error { return node ? remove_node(node), success : invalid_value; });
}
API(int, cudaGraphNodeGetType)(const Node *node, int *type) {
  return call([&]() -> Error { return node && type ? *type = type_of(node->work.kind), success : invalid_value; });
}
API(int, cudaGraphGetNodes)(const Graph *graph, Node **nodes, size_t *count) {
  return call([&]() -> Error { return graph ? give_some(all(*graph, false), nodes, count) : invalid_value; });
}
API(int, cudaGraphGetRootNodes)(const Graph *graph, Node **nodes, size_t *count) {
  return call([&]() -> Error { return graph ? give_some(all(*graph, true), nodes, count) : invalid_value; });
}
API(int, cudaGraphChildGraphNodeGetGraph)(const Node *node, Graph **graph) {
  return call([&]() -> Error {
    if (!node || !graph || node->work.kind != Work::child) return invalid_value;
    *graph = node->work.graph.get();
    return success;
  });
}
API(int, cudaGraphDebugDotPrint)(const Graph *graph, const char *path, unsigned) {
  return call([&]() -> Error { return graph ? write_dot(*graph, path) : invalid_value; });
}

API(int, cudaGraphInstantiate)(Executable **executable, const Graph *graph, unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}
API(int, cudaGraphInstantiateWithFlags)(Executable **executable, const Graph *graph, unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}
API(int, cudaGraphInstantiateWithParams)(Executable **executable, const Graph *graph,
                                         InstantiateParameters *parameters) {
  return call([&]() -> Error {
    if (!parameters) return invalid_value;
    Error error = instantiate(executable, graph, parameters->flags);
    parameters->node = nullptr;
    parameters->result = error ? 1 : 0;
    return error;
  });
}
API(int, cudaGraphExecGetFlags)(const Executable *executable, unsigned long long *flags) {
  return call([&]() -> Error { return executable && flags ? *flags = executable->flags, success : invalid_value; });
}
API(int, cudaGraphUpload)(Executable *executable, void *) {
  return call([&]() -> Error { return executable ? success : invalid_value; });
}
API(int, cudaGraphLaunch)(Executable *executable, void *stream) {
  return call([&] { return launch_graph(executable, stream_at(stream)); });
}
API(int, cudaGraphExecDestroy)(Executable *executable) {
  return call([&]() -> Error {
    if (!executable) return invalid_value;
    delete executable;
    return success;
  });
}
API(int, cudaGraphExecUpdate)(Executable *executable, const Graph *graph, UpdateResult *result) {
  return call([&]() -> Error {
    if (!executable || !graph) return invalid_value;
    Difference found = update(executable, *graph);
    if (result) *result = {found.result, found.node, nullptr};
    return found.result ? update_failure : success;
  });
}

API(int, cudaUserObjectCreate)(UserObject **object, void *of, void (*destroy)(void *), unsigned count, unsigned) {
  return call([&]() -> Error {
    if (!object || !destroy || !count) return invalid_value;
    *object = new UserObject{of, destroy, count};
    return success;
  });
}
API(int, cudaUserObjectRetain)(UserObject *object, unsigned count) {
  return call([&]() -> Error { return object ? object->count += count, success : invalid_value; });
}
API(int, cudaUserObjectRelease)(UserObject *object, unsigned count) {
  return call([&]() -> Error { return object ? release_object(object, count), success : invalid_value; });
}
API(int, cudaGraphRetainUserObject)(Graph *graph, UserObject *object, unsigned count, unsigned flags) {
  return call([&]() -> Error {
    constexpr unsigned moved = 1;  // the caller's references become the graph's
    if (!graph || !object) return invalid_value;
    if (!(flags & moved)) object->count += count;
    graph->objects.insert(graph->objects.end(), count, object);
    return success;
  });
}
