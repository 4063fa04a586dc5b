// What a stream does: launches, copies, memsets, functions of the host, events; at once, or recorded as a graph's node.
#pragma once
#include <array>

#include "modules.h"

namespace gpusim {

struct Size {
  unsigned x = 1, y = 1, z = 1;
};

struct Graph;
struct Node;

struct Capture {  // of what a stream is asked for, until it ends
  uint64_t id;
  Graph *graph;
  bool owns_graph;
  struct Stream *origin;
  int mode;
  bool invalid = false, ended = false;
};

struct Stream {
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<Capture> capture;
  std::vector<Node *> tips;  // nodes that the next one follows
};

struct Event {
  uint64_t id = 0;
  unsigned flags = 0;
  bool recorded = false;
  std::shared_ptr<Capture> capture;  // in which it was recorded
  std::vector<Node *> tips;
  bool captured() const { return capture && !capture->ended; }
};

struct Launch {
  Kernel *kernel = nullptr;
  Size grid, block, cluster{0, 0, 0};
  uint64_t shared = 0;
  bool cooperative = false;
  int priority = 0;
  uint64_t flags = 0;  // 1: a node of a graph, which costs the host no call
  Numbers places;
  std::vector<unsigned char> block_of_parameters;
};

enum class Way : uint64_t { host_to_host, host_to_device, device_to_host, device_to_device, any };

struct Copy {
  uint64_t into = 0, from = 0, width = 0, height = 1, depth = 1;
  uint64_t into_pitch = 0, from_pitch = 0, into_slice = 0, from_slice = 0;
  Way way = Way::any;
};

struct Fill {
  uint64_t into = 0, width = 0, height = 1, depth = 1, pitch = 0, slice = 0;  // width in elements
  unsigned value = 0, element = 1;                                            // bytes of an element
};

struct Host {
  void (*function)(void *) = nullptr;
  void *data = nullptr;
};

struct Work {
  enum Kind { kernel, copy, fill, host, child, empty, wait_event, record_event, allocate, release } kind = empty;
  Launch launch;
  Copy copied;
  Fill filled;
  Host call;
  Event *event = nullptr;
  std::shared_ptr<Graph> graph;     // of a child
  uint64_t address = 0, bytes = 0;  // of an allocation
};

// streams.cc
Stream *stream_at(const void *handle);
bool is_legacy(const Stream *stream);
Error add_stream(Stream **stream, unsigned flags, int priority);
Error remove_stream(Stream *stream);
Error wait_for_stream(Stream *stream);
Error wait_for_device();
Error add_event(Event **event, unsigned flags);
Error remove_event(Event *event);
bool is_event(const void *event);
Error record(Event *event, Stream *stream, bool external = false);
Error wait_for_event(Event *event);
Error stream_waits(Stream *stream, Event *event, bool external = false);
Error elapsed(float *milliseconds, Event *begin, Event *end);
Error reset_device();
std::vector<Stream *> all_streams();

// launches.cc
Error pack(Launch &launch, void **arguments);
Error pack_extra(Launch &launch, void *const *extra);
Error launch_now(const Launch &launch, Stream *stream);
Error active_blocks(int *blocks, Kernel *kernel, int threads, uint64_t shared, uint64_t cluster = 1);

// memory.cc
enum Memory : uint64_t { device_memory, managed_memory, host_memory, array_memory };
Error allocate(uint64_t *address, uint64_t bytes, Memory kind);
Error release(uint64_t address, Stream *after = nullptr);
Error copy_now(const Copy &copy, Stream *stream, bool later);
Error fill_now(const Fill &fill, Stream *stream, bool later);

// enqueue.cc
Error enqueue(Stream *stream, Work work, bool later);
Error run_now(const Work &work, Stream *stream, bool later);

}  // namespace gpusim
