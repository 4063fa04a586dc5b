// Nodes of graphs: added with their parameters, which can be read and set.
#include <cstring>

#include "abi.h"

using namespace gpusim;

namespace gpusim {

Error read(Work *work, const KernelParameters *parameters) {
  if (!parameters) return invalid_value;
  work->kind = Work::kernel;
  Launch &launch = work->launch;
  launch.kernel = kernel_at(parameters->function);
  launch.grid = size(parameters->grid), launch.block = size(parameters->block);
  launch.shared = parameters->shared;
  launch.places = places_of_callers();
  return parameters->arguments ? pack(launch, parameters->arguments) : pack_extra(launch, parameters->extra);
}

Error read(Work *work, const CopyParameters *parameters) {
  if (!parameters) return invalid_value;
  work->kind = Work::copy;
  return copy_of(&work->copied, parameters);
}

Error read(Work *work, const FillParameters *parameters) {
  if (!parameters) return invalid_value;
  unsigned element = parameters->element;
  if (element != 1 && element != 2 && element != 4) return invalid_value;
  work->kind = Work::fill;
  work->filled = {number(parameters->into), parameters->width,
                  parameters->height,       1,
                  parameters->pitch,        0,
                  parameters->value,        element};
  return success;
}

Error read(Work *work, const HostParameters *parameters) {
  if (!parameters || !parameters->function) return invalid_value;
  work->kind = Work::host;
  work->call = {parameters->function, parameters->data};
  return success;
}

}  // namespace gpusim

namespace {

Error added(Node **node, Graph *graph, Node *const *after, size_t count, Work work, Error error) {
  if (!node || !graph || (count && !after)) return invalid_value;
  if (error) return error;
  *node = add_node(graph, std::vector<Node *>(after, after + count), std::move(work));
  return success;
}

// Adds a node whose work is what `make` makes of its parameters.
template <typename Make>
Error add(Node **node, Graph *graph, Node *const *after, size_t count, Make &&make) {
  return call([&] {
    Work work;
    Error error = make(&work);
    return added(node, graph, after, count, std::move(work), error);
  });
}

Error set(Node *node, Work::Kind kind, Error error, Work work) {
  if (error) return error;
  if (!node || node->work.kind != kind) return invalid_value;
  node->work = std::move(work);
  return success;
}

template <typename Parameters>
Error set(Node *node, Work::Kind kind, const Parameters *parameters) {
  Work work;
  Error error = read(&work, parameters);
  return set(node, kind, error, std::move(work));
}

Error set_kernel(Node *node, const KernelParameters *parameters) {
  Work work;
  Error error = read(&work, parameters);
  return set(node, Work::kernel, error, std::move(work));
}

Node *copy_in(Executable *executable, const Node *node) {
  if (!executable) return nullptr;
  auto found = executable->copies.find(node);
  return found == executable->copies.end() ? nullptr : found->second;
}

Error give(Node *node, KernelParameters *into) {
  if (!into || !node || node->work.kind != Work::kernel) return invalid_value;
  Launch &launch = node->work.launch;
  node->arguments.clear();
  for (auto &part : launch.kernel->parameters) node->arguments.push_back(&launch.block_of_parameters[part.offset]);
  const void *host = host_of(launch.kernel);
  into->function = const_cast<void *>(host ? host : launch.kernel);
  into->grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  into->block = {launch.block.x, launch.block.y, launch.block.z};
  into->shared = unsigned(launch.shared);
  into->arguments = node->arguments.data(), into->extra = nullptr;
  return success;
}

Error give(Node *node, CopyParameters *into) {
  if (!into || !node || node->work.kind != Work::copy) return invalid_value;
  auto &copy = node->work.copied;
  std::memset(static_cast<void *>(into), 0, sizeof *into);
  auto rows = [](uint64_t slice, uint64_t pitch) { return pitch ? slice / pitch : 0; };
  into->from = {pointer(copy.from), copy.from_pitch, copy.width, rows(copy.from_slice, copy.from_pitch)};
  into->into = {pointer(copy.into), copy.into_pitch, copy.width, rows(copy.into_slice, copy.into_pitch)};
  into->extent = {copy.width, copy.height, copy.depth};
  into->way = int(copy.way);
  return success;
}

Error give(Node *node, FillParameters *into) {
  if (!into || !node || node->work.kind != Work::fill) return invalid_value;
  auto &fill = node->work.filled;
  *into = {pointer(fill.into), fill.pitch, fill.value, fill.element, fill.width, fill.height};
  return success;
}

Error give(Node *node, HostParameters *into) {
  if (!into || !node || node->work.kind != Work::host) return invalid_value;
  *into = {node->work.call.function, node->work.call.data};
  return success;
}

Error line(Work *work, void *into, const void *from, size_t bytes, int way) {
  work->kind = Work::copy;
  Copy &copy = work->copied;
  copy.into = number(into), copy.from = number(from), copy.width = bytes, copy.way = Way(way);
  return success;
}

Error allocation(Work *work, Graph *graph, AllocationParameters *parameters) {
  if (!graph || !parameters) return invalid_value;
  work->kind = Work::allocate;
  work->bytes = parameters->bytes;
  Error error = add_memory(graph, parameters->bytes, &work->address);
  parameters->address = pointer(work->address);
  return error;
}

Error read_event(Work *work, Work::Kind kind, Event *event) {
  work->kind = kind;
  work->event = event;
  return is_event(event) ? success : invalid_handle;
}

Error read_child(Work *work, const Graph *child) {
  if (!child) return invalid_value;
  work->kind = Work::child;
  work->graph = as_child(*child);
  return success;
}

Error read_release(Work *work, void *address) {
  work->kind = Work::release;
  work->address = number(address);
  return success;
}

}  // namespace

namespace gpusim {

// Kinds of nodes have the numbers of cudaGraphNodeType.
Error read(Work *work, NodeParameters *parameters, Graph *graph) {
  if (!parameters) return invalid_value;
  switch (parameters->type) {
    case 0: return read(work, &parameters->kernel);
    case 1: return read(work, &parameters->copy.copy);
    case 2: return read(work, &parameters->fill);
    case 3: return read(work, &parameters->host);
    case 4: return read_child(work, parameters->graph);
    case 5: return success;
    case 6: return read_event(work, Work::wait_event, parameters->event);
    case 7: return read_event(work, Work::record_event, parameters->event);
    case 10: return allocation(work, graph, &parameters->allocation);
    case 11: return read_release(work, parameters->released);
  }
  refuse("a graph's node of this kind (semaphore or condition)");
}

}  // namespace gpusim

API(int, cudaGraphAddKernelNode)(Node **node, Graph *graph, Node *const *after, size_t count,
                                 const KernelParameters *parameters) {
  return add(node, graph, after, count, [&](Work *work) { return read(work, parameters); });
}
API(int, cudaGraphAddMemcpyNode)(Node **node, Graph *graph, Node *const *after, size_t count,
                                 const CopyParameters *parameters) {
  return add(node, graph, after, count, [&](Work *work) { return read(work, parameters); });
}
API(int, cudaGraphAddMemcpyNode1D)(Node **node, Graph *graph, Node *const *after, size_t count, void *into,
                                   const void *from, size_t bytes, int way) {
  return add(node, graph, after, count, [&](Work *work) { return line(work, into, from, bytes, way); });
}
API(int, cudaGraphAddMemcpyNodeToSymbol)(Node **node, Graph *graph, Node *const *after, size_t count,
                                         const void *symbol, const void *from, size_t bytes, size_t offset, int way) {
  return add(node, graph, after, count, [&](Work *work) {
    void *place = nullptr;
    Error error = in_symbol(&place, symbol, bytes, offset);
    return error ? error : line(work, place, from, bytes, way);
  });
}
API(int, cudaGraphAddMemcpyNodeFromSymbol)(Node **node, Graph *graph, Node *const *after, size_t count, void *into,
                                           const void *symbol, size_t bytes, size_t offset, int way) {
  return add(node, graph, after, count, [&](Work *work) {
    void *place = nullptr;
    Error error = in_symbol(&place, symbol, bytes, offset);
    return error ? error : line(work, into, place, bytes, way);
  });
}
API(int, cudaGraphAddMemsetNode)(Node **node, Graph *graph, Node *const *after, size_t count,
                                 const FillParameters *parameters) {
  return add(node, graph, after, count, [&](Work *work) { return read(work, parameters); });
}
API(int, cudaGraphAddHostNode)(Node **node, Graph *graph, Node *const *after, size_t count,
                               const HostParameters *parameters) {
  return add(node, graph, after, count, [&](Work *work) { return read(work, parameters); });
}
API(int, cudaGraphAddChildGraphNode)(Node **node, Graph *graph, Node *const *after, size_t count, const Graph *child) {
  return add(node, graph, after, count, [&](Work *work) { return read_child(work, child); });
}
API(int, cudaGraphAddEmptyNode)(Node **node, Graph *graph, Node *const *after, size_t count) {
  return add(node, graph, after, count, [](Work *) { return success; });
}
API(int, cudaGraphAddEventRecordNode)(Node **node, Graph *graph, Node *const *after, size_t count, Event *event) {
  return add(node, graph, after, count, [&](Work *work) { return read_event(work, Work::record_event, event); });
}
API(int, cudaGraphAddEventWaitNode)(Node **node, Graph *graph, Node *const *after, size_t count, Event *event) {
  return add(node, graph, after, count, [&](Work *work) { return read_event(work, Work::wait_event, event); });
}
API(int, cudaGraphAddMemAllocNode)(Node **node, Graph *graph, Node *const *after, size_t count,
                                   AllocationParameters *parameters) {
  return add(node, graph, after, count, [&](Work *work) { return allocation(work, graph, parameters); });
}
API(int, cudaGraphAddMemFreeNode)(Node **node, Graph *graph, Node *const *after, size_t count, void *address) {
  return add(node, graph, after, count, [&](Work *work) { return read_release(work, address); });
}

API(int, cudaGraphKernelNodeGetParams)(Node *node, KernelParameters *into) {
  return call([&] { return give(node, into); });
}
API(int, cudaGraphMemcpyNodeGetParams)(Node *node, CopyParameters *into) {
  return call([&] { return give(node, into); });
}
API(int, cudaGraphMemsetNodeGetParams)(Node *node, FillParameters *into) {
  return call([&] { return give(node, into); });
}
API(int, cudaGraphHostNodeGetParams)(Node *node, HostParameters *into) {
  return call([&] { return give(node, into); });
}
API(int, cudaGraphKernelNodeSetParams)(Node *node, const KernelParameters *parameters) {
  return call([&] { return set_kernel(node, parameters); });
}
API(int, cudaGraphMemcpyNodeSetParams)(Node *node, const CopyParameters *parameters) {
  return call([&] { return set(node, Work::copy, parameters); });
}
API(int, cudaGraphMemsetNodeSetParams)(Node *node, const FillParameters *parameters) {
  return call([&] { return set(node, Work::fill, parameters); });
}
API(int, cudaGraphHostNodeSetParams)(Node *node, const HostParameters *parameters) {
  return call([&] { return set(node, Work::host, parameters); });
}
API(int, cudaGraphMemcpyNodeSetParams1D)(Node *node, void *into, const void *from, size_t bytes, int way) {
  return call([&] {
    Work work;
    Error error = line(&work, into, from, bytes, way);
    return set(node, Work::copy, error, std::move(work));
  });
}

API(int, cudaGraphExecKernelNodeSetParams)(Executable *executable, const Node *node,
                                           const KernelParameters *parameters) {
  return call([&] { return set_kernel(copy_in(executable, node), parameters); });
}
API(int, cudaGraphExecMemcpyNodeSetParams)(Executable *executable, const Node *node, const CopyParameters *parameters) {
  return call([&] { return set(copy_in(executable, node), Work::copy, parameters); });
}
API(int, cudaGraphExecMemsetNodeSetParams)(Executable *executable, const Node *node, const FillParameters *parameters) {
  return call([&] { return set(copy_in(executable, node), Work::fill, parameters); });
}
API(int, cudaGraphExecHostNodeSetParams)(Executable *executable, const Node *node, const HostParameters *parameters) {
  return call([&] { return set(copy_in(executable, node), Work::host, parameters); });
}
API(int, cudaGraphExecMemcpyNodeSetParams1D)(Executable *executable, const Node *node, void *into, const void *from,
                                             size_t bytes, int way) {
  return gpusim_cudaGraphMemcpyNodeSetParams1D(copy_in(executable, node), into, from, bytes, way);
}
API(int, cudaGraphExecChildGraphNodeSetParams)(Executable *executable, const Node *node, const Graph *child) {
  return call([&] {
    Work work;
    Error error = read_child(&work, child);
    return set(copy_in(executable, node), Work::child, error, std::move(work));
  });
}
API(int, cudaGraphNodeSetParams)(Node *node, NodeParameters *parameters) {
  return call([&]() -> Error {
    Work work;
    Error error = node ? read(&work, parameters, node->graph) : invalid_value;
    auto kind = work.kind;
    return set(node, kind, error, std::move(work));
  });
}
API(int, cudaGraphExecNodeSetParams)(Executable *executable, const Node *node, NodeParameters *parameters) {
  return gpusim_cudaGraphNodeSetParams(copy_in(executable, node), parameters);
}
API(int, cudaGraphNodeSetEnabled)(Executable *executable, const Node *node, unsigned enabled) {
  return call([&]() -> Error {
    Node *copy = copy_in(executable, node);
    return copy ? copy->enabled = enabled, success : invalid_value;
  });
}
API(int, cudaGraphNodeGetEnabled)(Executable *executable, const Node *node, unsigned *enabled) {
  return call([&]() -> Error {
    Node *copy = copy_in(executable, node);
    return copy && enabled ? *enabled = copy->enabled, success : invalid_value;
  });
}
