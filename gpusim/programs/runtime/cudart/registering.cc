// What nvcc's code calls by itself: registers modules, kernels and variables, and launches with <<<>>>.
#include "api.h"

using namespace gpusim;

namespace {

struct Configuration {
  Dim3 grid, block;
  size_t shared;
  void *stream;
  Numbers places;  // of the <<<>>>, which the launch's own place, in nvcc's code, does not show
};

std::vector<Configuration> &configurations() {
  static thread_local std::vector<Configuration> pushed;
  return pushed;
}

thread_local Numbers places_of_next;

Error start(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
  Work work;
  work.kind = Work::kernel;
  Launch &launch = work.launch;
  launch.kernel = kernel_at(function);
  launch.grid = size(grid), launch.block = size(block), launch.shared = shared;
  launch.places = places_of_next.empty() ? places_of_callers() : std::move(places_of_next);
  places_of_next.clear();
  if (Error error = pack(launch, arguments)) return error;
  return enqueue(stream_at(stream), std::move(work), true);
}

}  // namespace

API(void **, __cudaRegisterFatBinary)(void *image) { return reinterpret_cast<void **>(add_module(image, false)); }

API(void, __cudaRegisterFatBinaryEnd)(void **) {}

API(void, __cudaUnregisterFatBinary)(void **) {}  // at exit: the simulator hears of it by itself

API(void, __cudaRegisterFunction)(void **module, const char *host, char *, const char *name, int, void *, void *,
                                  void *, void *, int *) {
  register_kernel(host, kernel_of(reinterpret_cast<Module *>(module), name));
}

API(void, __cudaRegisterVar)(void **module, char *host, char *, const char *name, int, size_t, int, int) {
  register_variable(host, variable_of(reinterpret_cast<Module *>(module), name));
}

API(void, __cudaRegisterManagedVar)(void **module, void **host, char *, const char *name, int, size_t, int, int) {
  Variable *variable = variable_of(reinterpret_cast<Module *>(module), name);
  variable->host = host;
  register_variable(host, variable);
}

API(void, __cudaRegisterHostVar)(void **, const char *, char *, size_t) {}

API(char, __cudaInitModule)(void **) {
  question(ready_managed);
  return 1;
}

API(unsigned, __cudaPushCallConfiguration)(Dim3 grid, Dim3 block, size_t shared, void *stream) {
  configurations().push_back({grid, block, shared, stream, places_of_callers()});
  return 0;
}

API(int, __cudaPopCallConfiguration)(Dim3 *grid, Dim3 *block, size_t *shared, void **stream) {
  if (configurations().empty()) return 52;  // cudaErrorMissingConfiguration
  auto &last = configurations().back();
  *grid = last.grid, *block = last.block, *shared = last.shared, *stream = last.stream;
  places_of_next = std::move(last.places);
  configurations().pop_back();
  return success;
}

API(int, __cudaGetKernel)(void **kernel, const void *host) {
  return question([&] {
    *kernel = kernel_at(host);
    return *kernel ? success : invalid_device_function;
  });
}

API(int, __cudaLaunchKernel)(void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
  return call([&] { return start(kernel, grid, block, arguments, shared, stream); });
}

API(int, cudaLaunchKernel)(const void *host, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
  return call([&] { return start(host, grid, block, arguments, shared, stream); });
}
