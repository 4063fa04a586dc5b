// Graphs as they are built: nodes, edges, copies, and the memory that is theirs.
#include "graphs.h"

#include <algorithm>
#include <unordered_set>

namespace gpusim {
namespace {

std::unordered_set<uint64_t> memory_of_graphs;

}  // namespace

Graph::~Graph() {
  for (uint64_t address : memory) {
    memory_of_graphs.erase(address);
    release(address);
  }
  for (auto object : objects) release_object(object, 1);
}

Node *add_node(Graph *graph, std::vector<Node *> after, Work work) {
  graph->nodes.emplace_back(new Node{graph, std::move(work), std::move(after), nullptr, true, {}});
  return graph->nodes.back().get();
}

std::unique_ptr<Graph> copied(const Graph &graph, std::unordered_map<const Node *, Node *> *copies) {
  std::unordered_map<const Node *, Node *> found;
  std::unique_ptr<Graph> made(new Graph);
  for (auto &node : graph.nodes) {
    Node *copy = add_node(made.get(), {}, node->work);
    copy->original = node.get();
    copy->enabled = node->enabled;
    found[node.get()] = copy;
  }
  for (auto &node : graph.nodes)
    for (auto before : node->after) found[node.get()]->after.push_back(found[before]);
  if (copies) *copies = std::move(found);
  return made;
}

std::shared_ptr<Graph> as_child(const Graph &graph) { return copied(graph); }

// Gives nodes in an order in which each comes after those that it follows; false where they follow each other.
bool in_order(const Graph &graph, std::vector<Node *> *order) {
  std::unordered_set<const Node *> done;
  while (order->size() < graph.nodes.size()) {
    size_t before = order->size();
    for (auto &node : graph.nodes) {
      bool ready = std::all_of(node->after.begin(), node->after.end(), [&](Node *one) { return done.count(one); });
      if (!ready || !done.insert(node.get()).second) continue;
      order->push_back(node.get());
    }
    if (order->size() == before) return false;
  }
  return true;
}

void remove_node(Node *node) {
  Graph *graph = node->graph;
  for (auto &other : graph->nodes) {
    auto &after = other->after;
    after.erase(std::remove(after.begin(), after.end(), node), after.end());
  }
  auto &nodes = graph->nodes;
  nodes.erase(std::find_if(nodes.begin(), nodes.end(), [&](auto &one) { return one.get() == node; }));
}

bool is_graph_memory(uint64_t address) { return memory_of_graphs.count(address); }

Error add_memory(Graph *graph, uint64_t bytes, uint64_t *address) {
  Error error = allocate(address, bytes, device_memory);
  if (error) return error;
  graph->memory.push_back(*address);
  memory_of_graphs.insert(*address);
  return success;
}

void release_object(UserObject *object, unsigned count) {
  object->count = count < object->count ? object->count - count : 0;
  if (object->count) return;
  object->destroy(object->object);
  delete object;
}

}  // namespace gpusim
