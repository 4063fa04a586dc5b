// Libraries of device code that are loaded by calls, and functions of the driver by name.
#include <dlfcn.h>

#include <fstream>
#include <iterator>

#include "api.h"

using namespace gpusim;

namespace {

Error load(Module **library, const void *code) {
  if (!library || !code) return invalid_value;
  Module *made = add_module(code, true);
  Error error = loaded(made);
  if (error) return error;
  *library = made;
  return success;
}

Error load_file(Module **library, const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return 301;  // cudaErrorFileNotFound
  std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  image += '\0';
  return load(library, image.data());
}

Error global_of(void **place, size_t *bytes, Module *library, const char *name) {
  if (!is_module(library) || !name) return invalid_handle;
  Variable *variable = variable_of(library, name);
  if (Error error = known(variable)) return error;
  if (place) *place = pointer(variable->address);
  if (bytes) *bytes = variable->bytes;
  return success;
}

using Find = int (*)(const char *, void **, int, uint64_t, int *);

Find finder() {
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  return driver ? reinterpret_cast<Find>(dlsym(driver, "cuGetProcAddress_v2")) : nullptr;
}

enum { found, not_found, version_not_sufficient };  // cudaDriverEntryPointQueryResult

Error entry(const char *name, void **function, unsigned version, uint64_t flags, int *status) {
  if (!name || !function) return invalid_value;
  *function = nullptr;
  Find find = finder();
  bool there = find && !find(name, function, int(version), flags, nullptr) && *function;
  if (status) *status = there ? found : not_found;
  return there || status ? success : symbol_not_found;
}

}  // namespace

API(int, cudaLibraryLoadData)(Module **library, const void *code, void *, void **, unsigned, void *, void **,
                              unsigned) {
  return call([&] { return load(library, code); });
}
API(int, cudaLibraryLoadFromFile)(Module **library, const char *path, void *, void **, unsigned, void *, void **,
                                  unsigned) {
  return call([&]() -> Error { return library && path ? load_file(library, path) : invalid_value; });
}
API(int, cudaLibraryUnload)(Module *library) {
  return call([&]() -> Error { return is_module(library) ? remove_module(library), success : invalid_handle; });
}
API(int, cudaLibraryGetKernel)(Kernel **kernel, Module *library, const char *name) {
  return call([&]() -> Error {
    if (!kernel || !name) return invalid_value;
    if (!is_module(library)) return invalid_handle;
    *kernel = kernel_of(library, name);
    Error error = known(*kernel);
    return error == invalid_device_function ? symbol_not_found : error;
  });
}
API(int, cudaLibraryGetGlobal)(void **place, size_t *bytes, Module *library, const char *name) {
  return call([&] { return global_of(place, bytes, library, name); });
}
API(int, cudaLibraryGetManaged)(void **place, size_t *bytes, Module *library, const char *name) {
  return call([&] {
    Error error = global_of(place, bytes, library, name);
    if (!error && place && bytes) open_to_host(number(*place), *bytes, true);
    return error;
  });
}
API(int, cudaKernelSetAttributeForDevice)(Kernel *kernel, int attribute, int value, int) {
  return call(
      [&]() -> Error { return kernel_at(kernel) ? set_attribute(kernel, attribute, value) : invalid_device_function; });
}

API(int, cudaGetDriverEntryPointByVersion)(const char *name, void **function, unsigned version,
                                           unsigned long long flags, int *status) {
  return call([&] { return entry(name, function, version, flags, status); });
}
API(int, cudaGetDriverEntryPoint)(const char *name, void **function, unsigned long long flags, int *status) {
  return call([&] { return entry(name, function, unsigned(runtime_version()), flags, status); });
}
