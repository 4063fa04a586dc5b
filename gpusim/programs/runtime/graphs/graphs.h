// Graphs: nodes in the order in which they were added, each with those that it follows; captured or built by calls.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "../device/device.h"

namespace gpusim {

struct Node {
  Graph *graph;
  Work work;
  std::vector<Node *> after;
  const Node *original = nullptr;  // of which it is a copy
  bool enabled = true;
  std::vector<void *> arguments;  // of a kernel, as the program may ask for them
};

struct UserObject {
  void *object;
  void (*destroy)(void *);
  unsigned count;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<uint64_t> memory;  // of its allocations
  std::vector<UserObject *> objects;
  ~Graph();
};

struct Executable {
  std::unique_ptr<Graph> graph;
  std::unordered_map<const Node *, Node *> copies;  // by original
  uint64_t flags = 0;
};

struct Difference {  // why an executable can't become another graph: cudaGraphExecUpdateResult, and the node
  int result = 0;
  Node *node = nullptr;
};

// graphs.cc
Node *add_node(Graph *graph, std::vector<Node *> after, Work work);
std::unique_ptr<Graph> copied(const Graph &graph, std::unordered_map<const Node *, Node *> *copies = nullptr);
std::shared_ptr<Graph> as_child(const Graph &graph);
bool in_order(const Graph &graph, std::vector<Node *> *order);
void remove_node(Node *node);
bool is_graph_memory(uint64_t address);
Error add_memory(Graph *graph, uint64_t bytes, uint64_t *address);
void release_object(UserObject *object, unsigned count);

// executables.cc
Error instantiate(Executable **executable, const Graph *graph, uint64_t flags);
Error run_nodes(const Graph &graph, Stream *stream);
Error launch_graph(Executable *executable, Stream *stream);
Difference update(Executable *executable, const Graph &graph);

// capture.cc
Error begin_capture(Stream *stream, int mode, Graph *into, std::vector<Node *> after);
Error end_capture(Stream *stream, Graph **graph);
Error spoil_capture(Stream *stream, Error error);
Error spoil_all(Error error);
Error spoil_unsafe(Error error);
Error spoil_blocking(Error error);
void leave_capture(Stream *stream);
Error record_in_capture(Event *event, Stream *stream);
Error join_capture(Stream *stream, Event *event);
Error capture_work(Stream *stream, Work work);
Error capture_event(Stream *stream, Event *event, Work::Kind kind);

}  // namespace gpusim
