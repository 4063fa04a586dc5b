// Functions of the driver by name, each in the newest form that the asked version of CUDA has.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "../driver.h"

using namespace gpusim;

namespace {

constexpr int newest_form = 5;
enum { found, not_found };  // CUdriverProcAddressQueryResult

int since(const std::string &form) {
#define SINCE(name, version) \
  if (form == #name) return version;
#include "versions.def"
#undef SINCE
  return 0;
}

void *own() {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library;
}

void *function_of(const std::string &name, int version) {
  for (int form = newest_form; form > 1; form--) {
    std::string full = name + "_v" + std::to_string(form);
    void *address = dlsym(own(), full.c_str());
    if (address && version >= since(full)) return address;
  }
  return dlsym(own(), name.c_str());
}

}  // namespace

EXPORT(int, cuGetProcAddress_v2)(const char *name, void **function, int version, uint64_t, int *status) {
  if (!name || !function) return invalid_value;
  bool of_driver = !std::strncmp(name, "cu", 2) && std::strncmp(name, "cuda", 4);
  *function = of_driver && own() ? function_of(name, version) : nullptr;
  if (status) *status = *function ? found : not_found;
  return *function ? success : symbol_not_found;
}
EXPORT(int, cuGetProcAddress)(const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
EXPORT(int, cuGetExportTable)(const void **table, const void *) {
  if (table) *table = nullptr;
  return symbol_not_found;
}
