// The one device: its attributes, limits and flags, errors, and versions.
#include <cstdio>
#include <cstring>

#include "../core/properties.h"
#include "api.h"

using namespace gpusim;

namespace {

constexpr const char *pci_bus = "0000:01:00.0", *unknown = "unrecognized error code";
unsigned flags_of_device = 0;

Error only(int device) { return device == 0 ? success : invalid_device; }

Error limit(int which, bool set, uint64_t value, size_t *result) {
  Reply reply = ask("limit", {uint64_t(which), set, value});
  if (result) *result = reply.number(0);
  return reply.error;
}

}  // namespace

API(int, cudaGetDeviceCount)(int *count) {
  return call([&]() -> Error {
    if (!count) return invalid_value;
    *count = 1;
    return success;
  });
}
API(int, cudaSetDevice)(int device) {
  return call([&] { return only(device); });
}
API(int, cudaInitDevice)(int device, unsigned, unsigned) {
  return call([&] { return only(device); });
}
API(int, cudaGetDevice)(int *device) {
  return call([&]() -> Error {
    if (!device) return invalid_value;
    *device = 0;
    return success;
  });
}
API(int, cudaSetValidDevices)(int *, int) {
  return call([&] { return success; });
}
API(int, cudaChooseDevice)(int *device, const void *) { return gpusim_cudaGetDevice(device); }
API(int, cudaDeviceGetAttribute)(int *value, int attribute, int device) {
  return call([&] { return only(device) ? only(device) : device_attribute(value, attribute); });
}
API(int, cudaDeviceReset)() { return question(reset_device); }
API(int, cudaDeviceSynchronize)() {
  return call([&] { return wait_for_device(); });
}
API(int, cudaThreadSynchronize)() { return gpusim_cudaDeviceSynchronize(); }
API(int, cudaThreadExit)() { return gpusim_cudaDeviceReset(); }

API(int, cudaDeviceGetLimit)(size_t *value, int which) {
  return call([&] { return limit(which, false, 0, value); });
}
API(int, cudaDeviceSetLimit)(int which, size_t value) {
  return call([&] { return limit(which, true, value, nullptr); });
}
API(int, cudaDeviceGetCacheConfig)(int *configuration) {
  return call([&] { return *configuration = 0, success; });
}
API(int, cudaDeviceSetCacheConfig)(int) {
  return call([&] { return success; });
}
API(int, cudaDeviceGetSharedMemConfig)(int *configuration) {  // banks of 4 bytes
  return call([&] { return *configuration = 1, success; });
}
API(int, cudaDeviceSetSharedMemConfig)(int) {
  return call([&] { return success; });
}
API(int, cudaDeviceGetStreamPriorityRange)(int *least, int *greatest) {
  return call([&] {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return success;
  });
}
API(int, cudaDeviceGetPCIBusId)(char *into, int length, int device) {
  return call([&]() -> Error {
    if (!into || length <= int(std::strlen(pci_bus))) return invalid_value;
    std::strcpy(into, pci_bus);
    return only(device);
  });
}
API(int, cudaDeviceGetByPCIBusId)(int *device, const char *bus) {
  return call([&]() -> Error {
    if (!device || !bus) return invalid_value;
    *device = 0;
    return std::strstr(bus, "01:00.0") ? success : invalid_device;
  });
}
API(int, cudaDeviceCanAccessPeer)(int *can, int, int) {
  return call([&] { return *can = 0, success; });
}
API(int, cudaDeviceEnablePeerAccess)(int, unsigned) {
  return call([&] { return invalid_device; });
}
API(int, cudaDeviceDisablePeerAccess)(int) {
  return call([&] { return not_enabled; });
}
API(int, cudaDeviceGetP2PAttribute)(int *, int, int, int) {
  return call([&] { return invalid_device; });
}
API(int, cudaSetDeviceFlags)(unsigned flags) {
  return call([&] { return flags_of_device = flags, success; });
}
API(int, cudaGetDeviceFlags)(unsigned *flags) {
  return call([&] { return *flags = flags_of_device, success; });
}
API(int, cudaCtxResetPersistingL2Cache)() {
  return call([&] { return success; });
}

API(int, cudaDriverGetVersion)(int *version) {
  return call([&]() -> Error { return version ? *version = 13000, success : invalid_value; });
}
API(int, cudaRuntimeGetVersion)(int *version) {
  return call([&]() -> Error { return version ? *version = runtime_version(), success : invalid_value; });
}

API(int, cudaGetLastError)() {
  return question([&] {
    Error last = last_error();
    last_error() = success;
    return last ? last : broken();
  });
}
API(int, cudaPeekAtLastError)() {
  return question([&] { return last_error() ? last_error() : broken(); });
}
API(const char *, cudaGetErrorName)(int error) { return error_name(error) ? error_name(error) : unknown; }
API(const char *, cudaGetErrorString)(int error) { return error_text(error) ? error_text(error) : unknown; }

API(int, cudaProfilerStart)() {
  return call([&] { return success; });
}
API(int, cudaProfilerStop)() {
  return call([&] { return success; });
}
