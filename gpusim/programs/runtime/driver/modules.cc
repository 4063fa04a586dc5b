// Modules and kernels: from a file or from memory, as fat binary, cubin, or text of PTX.
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver.h"

using namespace gpusim;

namespace {

Error load(Module **module, const void *image) {
  if (!module || !image) return invalid_value;
  Module *made = add_module(image, true);
  Error error = loaded(made);
  if (error) return remove_module(made), error;
  *module = made;
  return success;
}

Error load_file(Module **module, const char *path) {
  std::ifstream file(path ? path : "", std::ios::binary);
  if (!file) return 301;  // CUDA_ERROR_FILE_NOT_FOUND
  std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  image += '\0';
  return load(module, image.data());
}

Error function_of(Kernel **kernel, Module *module, const char *name) {
  if (!kernel || !name) return invalid_value;
  if (!is_module(module)) return invalid_handle;
  *kernel = kernel_of(module, name);
  return known(*kernel);
}

Error global_of(uint64_t *address, size_t *bytes, Module *module, const char *name) {
  if (!name) return invalid_value;
  if (!is_module(module)) return invalid_handle;
  Variable *variable = variable_of(module, name);
  if (Error error = known(variable)) return error;
  if (address) *address = variable->address;
  if (bytes) *bytes = variable->bytes;
  return success;
}

// CUfunction_attribute: 0 to 7 are of the kernel's code, 8 and more can be set.
Error attribute_of(int *value, int attribute, Kernel *kernel) {
  if (!value) return invalid_value;
  if (!kernel_at(kernel)) return invalid_handle;
  if (Error error = known(kernel)) return error;
  const uint64_t of_code[] = {kernel->threads,        kernel->shared,  kernel->constant, kernel->local,
                              kernel->registers,      kernel->ptx,     kernel->binary,   0,
                              kernel->dynamic_shared, kernel->carveout};
  if (attribute < 0 || attribute > 15) return invalid_value;
  auto set = kernel->attributes.find(attribute);
  *value = int(set != kernel->attributes.end() ? set->second : attribute < 10 ? int64_t(of_code[attribute]) : 0);
  return success;
}

struct Linking {  // of one image, which is then the result
  std::string image;
};

Error add_to(Linking *linking, const void *data, size_t bytes) {
  if (!linking || !data) return invalid_value;
  linking->image.assign(static_cast<const char *>(data), bytes);
  linking->image += '\0';
  return success;
}

}  // namespace

EXPORT(int, cuModuleLoadData)(Module **module, const void *image) {
  return driver_call([&] { return load(module, image); });
}
EXPORT(int, cuModuleLoadDataEx)(Module **module, const void *image, unsigned, void *, void **) {
  return driver_call([&] { return load(module, image); });
}
EXPORT(int, cuModuleLoadFatBinary)(Module **module, const void *image) {
  return driver_call([&] { return load(module, image); });
}
EXPORT(int, cuModuleLoad)(Module **module, const char *path) {
  return driver_call([&] { return load_file(module, path); });
}
EXPORT(int, cuModuleUnload)(Module *module) {
  return driver_call([&]() -> Error { return is_module(module) ? remove_module(module), success : invalid_handle; });
}
EXPORT(int, cuModuleGetLoadingMode)(int *mode) {
  return driver_call([&]() -> Error { return mode ? *mode = 2, success : invalid_value; });  // lazy
}
EXPORT(int, cuModuleGetFunction)(Kernel **kernel, Module *module, const char *name) {
  return driver_call([&] { return function_of(kernel, module, name); });
}
EXPORT(int, cuModuleGetGlobal_v2)(uint64_t *address, size_t *bytes, Module *module, const char *name) {
  return driver_call([&] { return global_of(address, bytes, module, name); });
}
EXPORT(int, cuModuleGetGlobal)(uint64_t *address, size_t *bytes, Module *module, const char *name) {
  return driver_call([&] { return global_of(address, bytes, module, name); });
}
EXPORT(int, cuLibraryGetModule)(Module **module, Module *library) {
  return driver_call([&]() -> Error { return is_module(library) ? *module = library, success : invalid_handle; });
}
EXPORT(int, cuKernelGetFunction)(Kernel **function, Kernel *kernel) {
  return driver_call([&]() -> Error { return kernel_at(kernel) ? *function = kernel, known(kernel) : invalid_handle; });
}
EXPORT(int, cuKernelGetLibrary)(Module **library, Kernel *kernel) {
  return driver_call(
      [&]() -> Error { return kernel_at(kernel) ? *library = kernel->module, success : invalid_handle; });
}
EXPORT(int, cuFuncGetModule)(Module **module, Kernel *kernel) { return cuKernelGetLibrary(module, kernel); }
EXPORT(int, cuFuncGetAttribute)(int *value, int attribute, Kernel *kernel) {
  return driver_call([&] { return attribute_of(value, attribute, kernel); });
}
EXPORT(int, cuKernelGetAttribute)(int *value, int attribute, Kernel *kernel, int) {
  return driver_call([&] { return attribute_of(value, attribute, kernel); });
}
EXPORT(int, cuKernelSetAttribute)(int attribute, int value, Kernel *kernel, int) {
  return driver_call([&] { return kernel_at(kernel) ? set_attribute(kernel, attribute, value) : invalid_handle; });
}
EXPORT(int, cuKernelSetCacheConfig)(Kernel *kernel, int, int) {
  return driver_call([&] { return kernel_at(kernel) ? success : invalid_handle; });
}
EXPORT(int, cuFuncLoad)(Kernel *kernel) {
  return driver_call([&] { return kernel_at(kernel) ? known(kernel) : invalid_handle; });
}
EXPORT(int, cuFuncIsLoaded)(int *state, Kernel *kernel) {
  return driver_call([&]() -> Error { return kernel_at(kernel) ? *state = kernel->asked, success : invalid_handle; });
}

EXPORT(int, cuLinkCreate_v2)(unsigned, void *, void **, Linking **linking) {
  return driver_call([&]() -> Error { return linking ? *linking = new Linking, success : invalid_value; });
}
EXPORT(int, cuLinkCreate)(unsigned, void *, void **, Linking **linking) {
  return driver_call([&]() -> Error { return linking ? *linking = new Linking, success : invalid_value; });
}
EXPORT(int, cuLinkAddData_v2)(Linking *linking, int, void *data, size_t bytes, const char *, unsigned, void *,
                              void **) {
  if (linking && !linking->image.empty()) refuse("cuLinkAddData of a second input");
  return driver_call([&] { return add_to(linking, data, bytes); });
}
EXPORT(int, cuLinkAddData)(Linking *linking, int, void *data, size_t bytes, const char *, unsigned, void *, void **) {
  if (linking && !linking->image.empty()) refuse("cuLinkAddData of a second input");
  return driver_call([&] { return add_to(linking, data, bytes); });
}
EXPORT(int, cuLinkComplete)(Linking *linking, void **image, size_t *bytes) {
  return driver_call([&]() -> Error {
    if (!linking || linking->image.empty() || !image) return invalid_value;
    *image = &linking->image[0];
    if (bytes) *bytes = linking->image.size() - 1;
    return success;
  });
}
EXPORT(int, cuLinkDestroy)(Linking *linking) {
  return driver_call([&]() -> Error {
    delete linking;
    return success;
  });
}
