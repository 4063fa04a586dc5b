// Capture of a stream: what is asked of it becomes a node; an event that another stream waits for takes it in.
#include "graphs.h"

namespace gpusim {

Error spoil_capture(Stream *stream, Error error) {
  stream->invalid = true;
  return error;
}

void leave_capture(Stream *stream) {
  stream->graph = nullptr;
  stream->origin = nullptr;
  stream->tips.clear();
}

Error record_in_capture(Event *event, Stream *stream) {
  event->graph = stream->graph;
  event->origin = stream->origin;
  event->tips = stream->tips;
  return success;
}

Error join_capture(Stream *stream, Event *event) {
  if (stream->graph && stream->graph != event->graph) return spoil_capture(stream, 905);
  stream->graph = event->graph;
  stream->origin = event->origin;
  stream->tips.insert(stream->tips.end(), event->tips.begin(), event->tips.end());
  return success;
}

Error capture_work(Stream *, Work &) { return not_supported; }

}  // namespace gpusim
