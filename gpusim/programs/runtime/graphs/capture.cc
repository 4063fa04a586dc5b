// Capture of streams: what is asked of one becomes a node; an event that another stream waits for takes that one in.
#include <unordered_set>

#include "graphs.h"

namespace gpusim {
namespace {

enum { global, of_thread, relaxed };  // modes: which calls of the program are unsafe meanwhile
constexpr unsigned non_blocking = 1;
uint64_t captures = 0;

void add_all(std::unordered_set<Node *> *found, const std::vector<Node *> &nodes) {
  for (auto node : nodes)
    if (found->insert(node).second) add_all(found, node->after);
}

bool joined(const Capture *capture) {
  std::unordered_set<Node *> followed;
  add_all(&followed, capture->origin->tips);
  for (auto stream : all_streams()) {
    if (stream->capture.get() != capture) continue;
    for (auto tip : stream->tips)
      if (!followed.count(tip)) return false;
  }
  return true;
}

template <typename Concerns>
Error spoil(Error error, Concerns &&concerns) {
  Error found = success;
  for (auto stream : all_streams())
    if (stream->capture && concerns(*stream)) found = spoil_capture(stream, error);
  return found;
}

}  // namespace

Error begin_capture(Stream *stream, int mode, Graph *into, std::vector<Node *> after) {
  if (!stream) return invalid_handle;
  if (is_legacy(stream)) return capture_unsupported;
  if (stream->capture) return illegal_state;
  if (mode < global || mode > relaxed) return invalid_value;
  Graph *graph = into ? into : new Graph;
  stream->capture.reset(new Capture{++captures, graph, !into, stream, mode});
  stream->tips = std::move(after);
  return success;
}

Error end_capture(Stream *stream, Graph **graph) {
  if (!stream) return invalid_handle;
  if (!stream->capture) return illegal_state;
  auto capture = stream->capture;
  if (capture->origin != stream) return capture_unmatched;
  Error error = capture->invalid ? capture_invalidated : joined(capture.get()) ? success : capture_unjoined;
  for (auto one : all_streams())
    if (one->capture == capture) leave_capture(one);
  capture->ended = true;
  if (error && capture->owns_graph) delete capture->graph;
  if (graph) *graph = error ? nullptr : capture->graph;
  return error;
}

Error spoil_capture(Stream *stream, Error error) {
  stream->capture->invalid = true;
  return error;
}

// A call that waits for all: every capture is invalid.
Error spoil_all(Error error) {
  return spoil(error, [](Stream &) { return true; });
}

// A call that may wait, as cudaMalloc: captures are invalid whose mode forbids it.
Error spoil_unsafe(Error error) {
  return spoil(error, [](Stream &stream) { return stream.capture->mode != relaxed; });
}

// Work of the default stream, which waits for all that are not non-blocking.
Error spoil_blocking(Error error) {
  return spoil(error, [](Stream &stream) { return !(stream.flags & non_blocking); });
}

void leave_capture(Stream *stream) {
  stream->capture = nullptr;
  stream->tips.clear();
}

Error record_in_capture(Event *event, Stream *stream) {
  event->capture = stream->capture;
  event->tips = stream->tips;
  return success;
}

Error join_capture(Stream *stream, Event *event) {
  if (stream->capture && stream->capture != event->capture) return spoil_capture(stream, capture_isolation);
  if (is_legacy(stream)) return capture_implicit;
  stream->capture = event->capture;
  stream->tips.insert(stream->tips.end(), event->tips.begin(), event->tips.end());
  return success;
}

Error capture_work(Stream *stream, Work work) {
  if (stream->capture->invalid) return capture_invalidated;
  Node *node = add_node(stream->capture->graph, stream->tips, std::move(work));
  stream->tips = {node};
  return success;
}

Error capture_event(Stream *stream, Event *event, Work::Kind kind) {
  Work work;
  work.kind = kind;
  work.event = event;
  return capture_work(stream, std::move(work));
}

}  // namespace gpusim
