// Streams and events: their time is the simulator's; work of the host is done when it is asked for, so order is kept.
#include <cstring>
#include <unordered_map>

#include "../core/properties.h"
#include "../graphs/graphs.h"
#include "device.h"

namespace gpusim {
namespace {

std::unordered_map<const void *, Stream *> streams;
std::unordered_map<const void *, Event *> events;
Stream legacy, of_thread;  // the default stream, and that of each thread, which here are one in time

Error wait(uint64_t what, uint64_t id) {
  Reply reply = ask("sync", {what, id});
  Error error = settle();
  return error ? error : reply.error;
}

}  // namespace

// Handles 0 and 1 are the default stream, 2 is that of each thread.
Stream *stream_at(const void *handle) {
  auto number = reinterpret_cast<uint64_t>(handle);
  if (number <= 2) return number == 2 ? &of_thread : &legacy;
  auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

bool is_legacy(const Stream *stream) { return stream == &legacy; }

Error add_stream(Stream **stream, unsigned flags, int priority) {
  if (!stream || flags > 1) return invalid_value;
  Reply reply = ask("stream", {flags, uint64_t(int64_t(priority))});
  if (reply.error) return reply.error;
  *stream = new Stream;
  (*stream)->id = reply.number(0);
  (*stream)->flags = flags;
  (*stream)->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  streams[*stream] = *stream;
  return success;
}

Error remove_stream(Stream *stream) {
  if (!stream || !streams.count(stream)) return invalid_handle;
  leave_capture(stream);
  Reply reply = ask("unstream", {stream->id});
  streams.erase(stream);
  delete stream;
  return reply.error;
}

Error wait_for_stream(Stream *stream) {
  if (!stream) return invalid_handle;
  if (stream->capture) return spoil_capture(stream, capture_unsupported);
  if (is_legacy(stream))
    if (Error error = spoil_blocking(capture_implicit)) return error;
  return wait(1, stream->id);
}

Error wait_for_device() {
  Error error = spoil_all(capture_unsupported);
  return error ? error : wait(0, 0);
}

Error add_event(Event **event, unsigned flags) {
  if (!event) return invalid_value;
  Reply reply = ask("event", {flags});
  if (reply.error) return reply.error;
  *event = new Event;
  (*event)->id = reply.number(0);
  (*event)->flags = flags;
  events[*event] = *event;
  return success;
}

bool is_event(const void *event) { return events.count(event); }

Error remove_event(Event *event) {
  if (!is_event(event)) return invalid_handle;
  Reply reply = ask("unevent", {event->id});
  events.erase(event);
  delete event;
  return reply.error;
}

// An external event is recorded, or waited for, by a node of the graph; any other tells what follows what.
Error record(Event *event, Stream *stream, bool external) {
  if (!is_event(event) || !stream) return invalid_handle;
  if (stream->capture && external) return capture_event(stream, event, Work::record_event);
  if (stream->capture) return record_in_capture(event, stream);
  event->capture = nullptr;
  event->recorded = true;
  return ask("record", {event->id, stream->id}).error;
}

Error wait_for_event(Event *event) {
  if (!is_event(event)) return invalid_handle;
  if (event->captured()) return captured_event;
  return event->recorded ? wait(2, event->id) : settle();
}

Error stream_waits(Stream *stream, Event *event, bool external) {
  if (!is_event(event) || !stream) return invalid_handle;
  if (stream->capture && external) return capture_event(stream, event, Work::wait_event);
  if (event->captured()) return join_capture(stream, event);
  if (stream->capture) return event->recorded ? spoil_capture(stream, capture_isolation) : success;
  return event->recorded ? ask("wait", {stream->id, event->id}).error : success;
}

Error elapsed(float *milliseconds, Event *begin, Event *end) {
  constexpr unsigned no_timing = 2;
  if (!milliseconds) return invalid_value;
  if (!is_event(begin) || !is_event(end)) return invalid_handle;
  if (!begin->recorded || !end->recorded || (begin->flags | end->flags) & no_timing) return invalid_handle;
  Reply reply = ask("elapsed", {begin->id, end->id});
  uint64_t bits = reply.number(0);
  if (!reply.error) std::memcpy(milliseconds, &bits, sizeof *milliseconds);
  return reply.error;
}

// Memory, modules, streams and events of the device are gone, and with them a kernel's fault.
Error reset_device() {
  settle();
  if (takes(knows_reset)) ask("reset", {});
  mend();
  if (!takes(knows_reset)) return success;
  forget_loaded();
  for (auto &one : streams) delete one.second;
  for (auto &one : events) delete one.second;
  streams.clear();
  events.clear();
  return success;
}

std::vector<Stream *> all_streams() {
  std::vector<Stream *> found{&legacy, &of_thread};
  for (auto &one : streams) found.push_back(one.second);
  return found;
}

}  // namespace gpusim
