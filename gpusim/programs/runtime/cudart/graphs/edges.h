// Edges of graphs and what is given of them: functions whose parameters differ between 12 and 13 share these.
#pragma once
#include "abi.h"

namespace gpusim {

struct Edge {
  Node *from, *to;
};

struct CaptureFacts {
  int *status;
  unsigned long long *id;
  Graph **graph;
  Node *const **after;
  size_t *count;
};

// building.cc
Error give_some(const std::vector<Node *> &found, Node **into, size_t *count);
std::vector<Edge> edges_of(const Graph &graph);
std::vector<Node *> followers(const Node *node);
Error add_edges(Graph *graph, Node *const *from, Node *const *to, size_t count);
Error remove_edges(Graph *graph, Node *const *from, Node *const *to, size_t count);
Error give_edges(const Graph *graph, Node **from, Node **to, size_t *count);
Error add_any_node(Node **node, Graph *graph, Node *const *after, size_t count, NodeParameters *parameters);

// capturing.cc
Error capture_facts(Stream *stream, const CaptureFacts &into);
Error set_tips(Stream *stream, Node *const *after, size_t count, unsigned flags);

}  // namespace gpusim
