// Capture of streams.
#include "edges.h"

using namespace gpusim;

namespace {

enum { none, active, invalidated };  // cudaStreamCaptureStatus
int mode_of_thread = 0;

int status_of(const Stream &stream) { return !stream.capture ? none : stream.capture->invalid ? invalidated : active; }

}  // namespace

namespace gpusim {

Error capture_facts(Stream *stream, const CaptureFacts &into) {
  if (!stream) return invalid_handle;
  if (!into.status) return invalid_value;
  *into.status = status_of(*stream);
  if (into.count) *into.count = 0;
  if (*into.status != active) return success;
  if (into.id) *into.id = stream->capture->id;
  if (into.graph) *into.graph = stream->capture->graph;
  if (into.after) *into.after = stream->tips.data();
  if (into.count) *into.count = stream->tips.size();
  return success;
}

Error set_tips(Stream *stream, Node *const *after, size_t count, unsigned flags) {
  if (!stream || !stream->capture) return illegal_state;
  if (flags & 1) stream->tips.clear();  // instead of besides
  stream->tips.insert(stream->tips.end(), after, after + count);
  return success;
}

}  // namespace gpusim

API(int, cudaStreamBeginCapture)(void *stream, int mode) {
  return call([&] { return begin_capture(stream_at(stream), mode, nullptr, {}); });
}
API(int, cudaStreamBeginCaptureToGraph)(void *stream, Graph *graph, Node *const *after, const void *, size_t count,
                                        int mode) {
  return call([&]() -> Error {
    if (!graph) return invalid_value;
    return begin_capture(stream_at(stream), mode, graph, std::vector<Node *>(after, after + count));
  });
}
API(int, cudaStreamEndCapture)(void *stream, Graph **graph) {
  return call([&] { return end_capture(stream_at(stream), graph); });
}
API(int, cudaStreamIsCapturing)(void *stream, int *status) {
  return call([&] { return capture_facts(stream_at(stream), {status, nullptr, nullptr, nullptr, nullptr}); });
}
API(int, cudaThreadExchangeStreamCaptureMode)(int *mode) {
  return call([&]() -> Error { return mode ? std::swap(*mode, mode_of_thread), success : invalid_value; });
}
