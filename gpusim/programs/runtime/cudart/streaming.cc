// Streams and events.
#include <cstring>

#include "api.h"

using namespace gpusim;

static constexpr unsigned external = 1;  // an event recorded or waited for by a graph's node

API(int, cudaStreamCreateWithPriority)(Stream **stream, unsigned flags, int priority) {
  return call([&] { return add_stream(stream, flags, priority); });
}
API(int, cudaStreamCreateWithFlags)(Stream **stream, unsigned flags) {
  return call([&] { return add_stream(stream, flags, 0); });
}
API(int, cudaStreamCreate)(Stream **stream) {
  return call([&] { return add_stream(stream, 0, 0); });
}
API(int, cudaStreamDestroy)(void *stream) {
  return call([&] { return remove_stream(stream_at(stream)); });
}
API(int, cudaStreamSynchronize)(void *stream) {
  return call([&] { return wait_for_stream(stream_at(stream)); });
}
API(int, cudaStreamQuery)(void *stream) {  // work is done when it is asked for
  return call([&] { return wait_for_stream(stream_at(stream)); });
}
API(int, cudaStreamWaitEvent)(void *stream, Event *event, unsigned flags) {
  return call([&] { return stream_waits(stream_at(stream), event, flags & external); });
}

API(int, cudaStreamGetPriority)(void *stream, int *priority) {
  return call([&]() -> Error {
    if (!stream_at(stream)) return invalid_handle;
    *priority = stream_at(stream)->priority;
    return success;
  });
}
API(int, cudaStreamGetFlags)(void *stream, unsigned *flags) {
  return call([&]() -> Error {
    if (!stream_at(stream)) return invalid_handle;
    *flags = stream_at(stream)->flags;
    return success;
  });
}
API(int, cudaStreamGetId)(void *stream, unsigned long long *id) {
  return call([&]() -> Error {
    if (!stream_at(stream)) return invalid_handle;
    *id = stream_at(stream)->id;
    return success;
  });
}
API(int, cudaStreamGetDevice)(void *stream, int *device) {
  return call([&]() -> Error {
    *device = 0;
    return stream_at(stream) ? success : invalid_handle;
  });
}
API(int, cudaStreamAttachMemAsync)(void *stream, void *, size_t, unsigned) {  // a hint
  return call([&] { return stream_at(stream) ? success : invalid_handle; });
}
API(int, cudaStreamCopyAttributes)(void *into, void *from) {
  return call([&] { return stream_at(into) && stream_at(from) ? success : invalid_handle; });
}
API(int, cudaStreamSetAttribute)(void *stream, int, const void *) {  // windows of persisting lines: not simulated
  return call([&] { return stream_at(stream) ? success : invalid_handle; });
}

API(int, cudaStreamGetAttribute)(void *stream, int, void *value) {
  return call([&]() -> Error {
    if (!value || !stream_at(stream)) return invalid_handle;
    std::memset(value, 0, 64);  // of cudaLaunchAttributeValue
    return success;
  });
}

API(int, cudaEventCreateWithFlags)(Event **event, unsigned flags) {
  return call([&] { return add_event(event, flags); });
}
API(int, cudaEventCreate)(Event **event) {
  return call([&] { return add_event(event, 0); });
}
API(int, cudaEventDestroy)(Event *event) {
  return call([&] { return remove_event(event); });
}
API(int, cudaEventRecordWithFlags)(Event *event, void *stream, unsigned flags) {
  return call([&] { return record(event, stream_at(stream), flags & external); });
}
API(int, cudaEventRecord)(Event *event, void *stream) { return gpusim_cudaEventRecordWithFlags(event, stream, 0); }
API(int, cudaEventSynchronize)(Event *event) {
  return call([&] { return wait_for_event(event); });
}
API(int, cudaEventQuery)(Event *event) {
  return call([&] { return wait_for_event(event); });
}
API(int, cudaEventElapsedTime)(float *milliseconds, Event *begin, Event *end) {
  return call([&] { return elapsed(milliseconds, begin, end); });
}
API(int, cudaEventElapsedTime_v2)(float *milliseconds, Event *begin, Event *end) {
  return gpusim_cudaEventElapsedTime(milliseconds, begin, end);
}

namespace {

Error call_host(void *stream, void (*function)(void *), void *data) {
  if (!function) return invalid_value;
  Work work;
  work.kind = Work::host;
  work.call = {function, data};
  return enqueue(stream_at(stream), std::move(work), true);
}

}  // namespace

API(int, cudaLaunchHostFunc)(void *stream, void (*function)(void *), void *data) {
  return call([&] { return call_host(stream, function, data); });
}

API(int, cudaStreamAddCallback)(void *stream, void (*function)(void *, int, void *), void *data, unsigned) {
  return call([&]() -> Error {
    Stream *found = stream_at(stream);
    if (!found) return invalid_handle;
    if (found->capture) return capture_unsupported;
    function(stream, success, data);
    return success;
  });
}
