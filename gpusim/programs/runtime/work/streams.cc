// Streams and events: their time is the simulator's; work of the host is done when it is asked for, so order is kept.
#include <cstring>
#include <unordered_map>

#include "../graphs/graphs.h"
#include "work.h"

namespace gpusim {
namespace {

std::unordered_map<const void *, Stream *> streams;
std::unordered_map<const void *, Event *> events;
Stream default_stream;

Error wait(uint64_t what, uint64_t id) {
  Reply reply = ask("sync", {what, id});
  Error error = settle();
  return error ? error : reply.error;
}

}  // namespace

// Handles 0, 1 and 2 are the default stream: that of legacy programs, or each thread's, which here is the same.
Stream *stream_at(const void *handle) {
  if (reinterpret_cast<uint64_t>(handle) <= 2) return &default_stream;
  auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

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
  if (!stream || stream == &default_stream) return invalid_handle;
  if (stream->graph) leave_capture(stream);
  Reply reply = ask("unstream", {stream->id});
  streams.erase(stream);
  delete stream;
  return reply.error;
}

Error wait_for_stream(Stream *stream) {
  if (!stream) return invalid_handle;
  if (stream->graph) return spoil_capture(stream, capture_unsupported);
  return wait(1, stream->id);
}

Error wait_for_device() { return wait(0, 0); }

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

Error record(Event *event, Stream *stream) {
  if (!is_event(event) || !stream) return invalid_handle;
  if (stream->graph) return record_in_capture(event, stream);
  event->graph = nullptr;
  event->recorded = true;
  return ask("record", {event->id, stream->id}).error;
}

Error wait_for_event(Event *event) {
  if (!is_event(event)) return invalid_handle;
  if (event->graph) return 907;  // an event that was recorded in a capture
  return wait(2, event->id);
}

Error stream_waits(Stream *stream, Event *event) {
  if (!is_event(event) || !stream) return invalid_handle;
  if (event->graph) return join_capture(stream, event);
  if (stream->graph) return event->recorded ? spoil_capture(stream, capture_isolation) : success;
  if (!event->recorded) return success;
  return ask("wait", {stream->id, event->id}).error;
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
  ask("reset", {});
  mend();
  forget_loaded();
  for (auto &one : streams) delete one.second;
  for (auto &one : events) delete one.second;
  streams.clear();
  events.clear();
  return success;
}

std::vector<Stream *> all_streams() {
  std::vector<Stream *> found{&default_stream};
  for (auto &one : streams) found.push_back(one.second);
  return found;
}

}  // namespace gpusim
