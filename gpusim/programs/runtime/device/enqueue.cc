// Work of a stream: a stream that is being captured records it as a node, any other does it at once.
#include "../graphs/graphs.h"
#include "device.h"

namespace gpusim {

Error enqueue(Stream *stream, Work work, bool later) {
  if (!stream) return invalid_handle;
  if (stream->capture) return capture_work(stream, std::move(work));
  if (is_legacy(stream))
    if (Error error = spoil_blocking(capture_implicit)) return error;
  return run_now(work, stream, later);
}

Error run_now(const Work &work, Stream *stream, bool later) {
  switch (work.kind) {
    case Work::kernel: return launch_now(work.launch, stream);
    case Work::copy: return copy_now(work.copied, stream, later);
    case Work::fill: return fill_now(work.filled, stream, later);
    case Work::host: work.call.function(work.call.data); return success;
    case Work::record_event: return record(work.event, stream);
    case Work::wait_event: return stream_waits(stream, work.event);
    case Work::child: return run_nodes(*work.graph, stream);
    default:  // memory of a graph is there from when it was built until it is destroyed
      return success;
  }
}

}  // namespace gpusim
