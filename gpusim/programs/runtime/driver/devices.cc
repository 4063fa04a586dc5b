// The device and contexts: there is one device, and contexts differ in nothing but their handles.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../core/properties.h"
#include "driver.h"

using namespace gpusim;

namespace {

struct Context {
  unsigned flags = 0;
};

Context primary;
unsigned primary_holders = 0;

std::vector<Context *> &current() {
  static thread_local std::vector<Context *> contexts;
  return contexts;
}

Error device_only(int device) { return device == 0 ? success : invalid_device; }

Error create(Context **context, unsigned flags, int device) {
  if (!context) return invalid_value;
  if (device) return invalid_device;
  *context = new Context{flags};
  current().push_back(*context);
  return success;
}

Error pop(Context **context) {
  if (current().empty()) return invalid_context;
  if (context) *context = current().back();
  current().pop_back();
  return success;
}

Error destroy(Context *context) {
  auto &all = current();
  all.erase(std::remove(all.begin(), all.end(), context), all.end());
  if (context != &primary) delete context;
  return success;
}

Error set_current(Context *context) {
  if (!current().empty()) current().pop_back();
  if (context) current().push_back(context);
  return success;
}

}  // namespace

EXPORT(int, cuInit)(unsigned flags) { return flags ? invalid_value : success; }
EXPORT(int, cuGetErrorName)(int error, const char **name) {
  if (!name) return invalid_value;
  *name = driver_error_name(error);
  return *name ? success : invalid_value;
}
EXPORT(int, cuGetErrorString)(int error, const char **text) {
  if (!text) return invalid_value;
  *text = driver_error_name(error) ? error_text(error) : nullptr;
  return *text ? success : invalid_value;
}

EXPORT(int, cuDeviceGet)(int *device, int ordinal) {
  return driver_call(
      [&]() -> Error { return ordinal ? invalid_device : device ? *device = 0, success : invalid_value; });
}
EXPORT(int, cuDeviceGetName)(char *name, int length, int device) {
  return driver_call([&]() -> Error {
    if (!name || length <= 0) return invalid_value;
    std::strncpy(name, device_name().c_str(), size_t(length));
    name[length - 1] = 0;
    return device_only(device);
  });
}
EXPORT(int, cuDeviceGetUuid)(char *uuid, int device) {
  return driver_call([&]() -> Error {
    if (!uuid) return invalid_value;
    std::memcpy(uuid, "gpusim, device 0", 16);
    return device_only(device);
  });
}
EXPORT(int, cuDeviceGetUuid_v2)(char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }
EXPORT(int, cuDeviceTotalMem_v2)(size_t *bytes, int device) {
  return driver_call(
      [&]() -> Error { return bytes ? *bytes = property(total_memory), device_only(device) : invalid_value; });
}
EXPORT(int, cuDeviceTotalMem)(size_t *bytes, int device) { return cuDeviceTotalMem_v2(bytes, device); }
EXPORT(int, cuDeviceComputeCapability)(int *of_major, int *of_minor, int device) {
  return driver_call([&]() -> Error {
    if (!of_major || !of_minor) return invalid_value;
    *of_major = int(property(major)), *of_minor = int(property(minor));
    return device_only(device);
  });
}
EXPORT(int, cuDeviceGetProperties)(int *made, int device) {  // CUdevprop: words in this order
  return driver_call([&]() -> Error {
    if (!made) return invalid_value;
    for (int attribute : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) device_attribute(made++, attribute);
    return device_only(device);
  });
}

EXPORT(int, cuDevicePrimaryCtxRetain)(Context **context, int device) {
  return driver_call([&]() -> Error {
    if (!context) return invalid_value;
    *context = &primary;
    primary_holders++;
    return device_only(device);
  });
}
EXPORT(int, cuDevicePrimaryCtxRelease_v2)(int device) {
  return driver_call([&]() -> Error {
    if (!primary_holders) return invalid_context;
    primary_holders--;
    return device_only(device);
  });
}
EXPORT(int, cuDevicePrimaryCtxRelease)(int device) { return cuDevicePrimaryCtxRelease_v2(device); }
EXPORT(int, cuDevicePrimaryCtxGetState)(int device, unsigned *flags, int *active) {
  return driver_call([&] {
    if (flags) *flags = primary.flags;
    if (active) *active = primary_holders > 0;
    return device_only(device);
  });
}
EXPORT(int, cuDevicePrimaryCtxSetFlags_v2)(int device, unsigned flags) {
  return driver_call([&] { return primary.flags = flags, device_only(device); });
}
EXPORT(int, cuDevicePrimaryCtxSetFlags)(int device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
EXPORT(int, cuDevicePrimaryCtxReset_v2)(int device) { return device ? Error(invalid_device) : question(reset_device); }
EXPORT(int, cuDevicePrimaryCtxReset)(int device) { return cuDevicePrimaryCtxReset_v2(device); }

EXPORT(int, cuCtxCreate_v2)(Context **context, unsigned flags, int device) {
  return driver_call([&] { return create(context, flags, device); });
}
EXPORT(int, cuCtxCreate)(Context **context, unsigned flags, int device) {
  return driver_call([&] { return create(context, flags, device); });
}
EXPORT(int, cuCtxCreate_v3)(Context **context, const void *, int, unsigned flags, int device) {
  return driver_call([&] { return create(context, flags, device); });
}
EXPORT(int, cuCtxCreate_v4)(Context **context, const void *, unsigned flags, int device) {
  return driver_call([&] { return create(context, flags, device); });
}
EXPORT(int, cuCtxDestroy_v2)(Context *context) {
  return driver_call([&] { return context ? destroy(context) : invalid_context; });
}
EXPORT(int, cuCtxDestroy)(Context *context) { return cuCtxDestroy_v2(context); }
EXPORT(int, cuCtxPushCurrent_v2)(Context *context) {
  return driver_call([&]() -> Error { return context ? current().push_back(context), success : invalid_context; });
}
EXPORT(int, cuCtxPushCurrent)(Context *context) { return cuCtxPushCurrent_v2(context); }
EXPORT(int, cuCtxPopCurrent_v2)(Context **context) {
  return driver_call([&] { return pop(context); });
}
EXPORT(int, cuCtxPopCurrent)(Context **context) { return cuCtxPopCurrent_v2(context); }
EXPORT(int, cuCtxSetCurrent)(Context *context) {
  return driver_call([&] { return set_current(context); });
}
EXPORT(int, cuCtxGetCurrent)(Context **context) {
  return driver_call([&]() -> Error {
    return context ? *context = current().empty() ? nullptr : current().back(), success : invalid_value;
  });
}
EXPORT(int, cuCtxGetDevice)(int *device) {
  return driver_call([&]() -> Error { return device ? *device = 0, success : invalid_value; });
}
EXPORT(int, cuCtxGetDevice_v2)(int *device, Context *) { return cuCtxGetDevice(device); }
EXPORT(int, cuCtxGetFlags)(unsigned *flags) {
  return driver_call([&]() -> Error {
    return flags ? *flags = current().empty() ? 0 : current().back()->flags, success : invalid_value;
  });
}
EXPORT(int, cuCtxSetFlags)(unsigned flags) {
  return driver_call(
      [&]() -> Error { return current().empty() ? invalid_context : (current().back()->flags = flags, success); });
}
EXPORT(int, cuCtxGetId)(Context *context, unsigned long long *id) {
  return driver_call([&]() -> Error { return id ? *id = number(context), success : invalid_value; });
}
EXPORT(int, cuCtxGetApiVersion)(Context *, unsigned *version) {
  return driver_call([&]() -> Error { return version ? *version = 3020, success : invalid_value; });
}
EXPORT(int, cuCtxEnablePeerAccess)(Context *, unsigned) { return invalid_context; }
EXPORT(int, cuCtxDisablePeerAccess)(Context *) { return not_enabled; }
EXPORT(int, cuStreamGetCtx)(void *stream, Context **context) {
  return driver_call([&]() -> Error {
    if (!context || !stream_at(stream)) return invalid_handle;
    *context = current().empty() ? &primary : current().back();
    return success;
  });
}
