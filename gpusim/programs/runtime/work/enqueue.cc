// Work of a stream: a stream that is being captured records it as a node, any other does it at once.
#include "../graphs/graphs.h"
#include "work.h"

namespace gpusim {

Error enqueue(Stream *stream, Work work, bool later) {
  if (!stream) return invalid_handle;
  return stream->graph ? capture_work(stream, work) : run_now(work, stream, later);
}

Error run_now(const Work &work, Stream *stream, bool later) {
  switch (work.kind) {
    case Work::kernel:
      return launch_now(work.launch, stream);
    case Work::copy:
      return copy_now(work.copied, stream, later);
    case Work::fill:
      return fill_now(work.filled, stream, later);
    case Work::host:
      work.call.function(work.call.data);
      return success;
    case Work::record_event:
      return record(work.event, stream);
    case Work::wait_event:
      return stream_waits(stream, work.event);
    case Work::release:
      return release(work.address, stream);
    default:
      return success;
  }
}

}  // namespace gpusim
