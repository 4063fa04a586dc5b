// Graphs as they are executed: a copy whose nodes do their work in order, on the stream of the launch.
#include <algorithm>

#include "graphs.h"

namespace gpusim {
namespace {

enum { updated, failed, topology_changed, kind_changed, function_changed };

int difference_of(const Node &before, const Node &now, const std::unordered_map<const Node *, Node *> &copies) {
  if (before.work.kind != now.work.kind) return kind_changed;
  if (before.after.size() != now.after.size()) return topology_changed;
  for (size_t i = 0; i < now.after.size(); i++)
    if (copies.at(now.after[i]) != before.after[i]) return topology_changed;
  return updated;
}

}  // namespace

Error instantiate(Executable **executable, const Graph *graph, uint64_t flags) {
  if (!executable || !graph) return invalid_value;
  std::vector<Node *> order;
  if (!in_order(*graph, &order)) return invalid_value;
  *executable = new Executable;
  (*executable)->graph = copied(*graph, &(*executable)->copies);
  (*executable)->flags = flags;
  return success;
}

Error run_nodes(const Graph &graph, Stream *stream) {
  std::vector<Node *> order;
  if (!in_order(graph, &order)) return invalid_value;
  for (auto node : order) {
    if (!node->enabled) continue;
    node->work.launch.flags = 1;
    if (Error error = run_now(node->work, stream, true)) return error;
  }
  return success;
}

Error launch_graph(Executable *executable, Stream *stream) {
  if (!executable) return invalid_value;
  if (!stream) return invalid_handle;
  if (!stream->capture) return run_nodes(*executable->graph, stream);
  Work work;
  work.kind = Work::child;
  work.graph = as_child(*executable->graph);
  return capture_work(stream, std::move(work));
}

// Nodes are matched by the order in which they were added.
Difference update(Executable *executable, const Graph &graph) {
  auto &nodes = executable->graph->nodes;
  if (nodes.size() != graph.nodes.size()) return {topology_changed, nullptr};
  std::unordered_map<const Node *, Node *> copies;
  for (size_t i = 0; i < nodes.size(); i++) copies[graph.nodes[i].get()] = nodes[i].get();
  for (size_t i = 0; i < nodes.size(); i++)
    if (int result = difference_of(*nodes[i], *graph.nodes[i], copies)) return {result, graph.nodes[i].get()};
  for (size_t i = 0; i < nodes.size(); i++) nodes[i]->work = graph.nodes[i]->work;
  executable->copies = std::move(copies);
  return {};
}

}  // namespace gpusim
