// Graphs: nodes in the order in which they were added, each with those that it follows; captured or built by calls.
#pragma once
#include "../work/work.h"

namespace gpusim {

// capture.cc
Error spoil_capture(Stream *stream, Error error);
void leave_capture(Stream *stream);
Error record_in_capture(Event *event, Stream *stream);
Error join_capture(Stream *stream, Event *event);
Error capture_work(Stream *stream, Work &work);

}  // namespace gpusim
