// What a node's launch or event is beyond its parameters.
#include <cstring>

#include "abi.h"

using namespace gpusim;

namespace {

enum { cooperative_attribute = 2, cluster_attribute = 4, priority_attribute = 8 };

bool is_kernel(const Node *node) { return node && node->work.kind == Work::kernel; }

void give(const Launch &launch, int attribute, void *into) {
  LaunchAttribute made{};
  if (attribute == cooperative_attribute) made.value.number = launch.cooperative;
  if (attribute == cluster_attribute) made.value.cluster = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  if (attribute == priority_attribute) made.value.priority = launch.priority;
  std::memcpy(into, &made.value, sizeof made.value);
}

Error set(Launch &launch, int attribute, const void *value) {
  LaunchAttribute made{};
  made.id = attribute;
  std::memcpy(&made.value, value, sizeof made.value);
  return read_attributes(launch, &made, 1);
}

Error give_event(const Node *node, Work::Kind kind, Event **event) {
  if (!node || !event || node->work.kind != kind) return invalid_value;
  *event = node->work.event;
  return success;
}

Error set_event(Node *node, Work::Kind kind, Event *event) {
  if (!node || node->work.kind != kind) return invalid_value;
  if (!is_event(event)) return invalid_handle;
  node->work.event = event;
  return success;
}

Error set_copy_of(Executable *executable, const Node *node, Work::Kind kind, Event *event) {
  if (!executable || !executable->copies.count(node)) return invalid_value;
  return set_event(executable->copies[node], kind, event);
}

}  // namespace

API(int, cudaGraphKernelNodeGetAttribute)(const Node *node, int attribute, void *into) {
  return call([&]() -> Error {
    if (!is_kernel(node) || !into) return invalid_value;
    give(node->work.launch, attribute, into);
    return success;
  });
}
API(int, cudaGraphKernelNodeSetAttribute)(Node *node, int attribute, const void *value) {
  return call([&] { return is_kernel(node) && value ? set(node->work.launch, attribute, value) : invalid_value; });
}
API(int, cudaGraphKernelNodeCopyAttributes)(Node *into, const Node *from) {
  return call([&]() -> Error {
    if (!is_kernel(into) || !is_kernel(from)) return invalid_value;
    auto &launch = from->work.launch;
    into->work.launch.cooperative = launch.cooperative, into->work.launch.cluster = launch.cluster;
    into->work.launch.priority = launch.priority;
    return success;
  });
}
API(int, cudaGraphEventRecordNodeGetEvent)(const Node *node, Event **event) {
  return call([&] { return give_event(node, Work::record_event, event); });
}
API(int, cudaGraphEventWaitNodeGetEvent)(const Node *node, Event **event) {
  return call([&] { return give_event(node, Work::wait_event, event); });
}
API(int, cudaGraphEventRecordNodeSetEvent)(Node *node, Event *event) {
  return call([&] { return set_event(node, Work::record_event, event); });
}
API(int, cudaGraphEventWaitNodeSetEvent)(Node *node, Event *event) {
  return call([&] { return set_event(node, Work::wait_event, event); });
}
API(int, cudaGraphExecEventRecordNodeSetEvent)(Executable *executable, const Node *node, Event *event) {
  return call([&] { return set_copy_of(executable, node, Work::record_event, event); });
}
API(int, cudaGraphExecEventWaitNodeSetEvent)(Executable *executable, const Node *node, Event *event) {
  return call([&] { return set_copy_of(executable, node, Work::wait_event, event); });
}
API(int, cudaGraphMemAllocNodeGetParams)(const Node *node, AllocationParameters *into) {
  return call([&]() -> Error {
    if (!node || !into || node->work.kind != Work::allocate) return invalid_value;
    *into = AllocationParameters{};
    into->bytes = node->work.bytes, into->address = pointer(node->work.address);
    return success;
  });
}
API(int, cudaGraphMemFreeNodeGetParams)(const Node *node, void **address) {
  return call([&]() -> Error {
    if (!node || !address || node->work.kind != Work::release) return invalid_value;
    *address = pointer(node->work.address);
    return success;
  });
}
