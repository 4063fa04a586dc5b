// Errors: the last one of each thread, and that of a kernel's fault, which comes with the next synchronising call
// and stays; and what kernels printed, which comes with the same call.
#include <cstdio>

#include "core.h"

namespace gpusim {
namespace {

struct Code {
  Error code;
  const char *name, *driver_name, *text;
};

const Code codes[] = {
#define ERROR(code, name, driver_name, text) {code, name, driver_name, text},
#include "errors.def"
#undef ERROR
};

Error of_kernel = 0;      // a fault, not yet said
Error of_everything = 0;  // a fault that was said: all calls have it from then on
std::string printed;

const Code *found(Error code) {
  for (auto &one : codes)
    if (one.code == code) return &one;
  return nullptr;
}

}  // namespace

const char *error_name(Error code) { return found(code) ? found(code)->name : nullptr; }
const char *error_text(Error code) { return found(code) ? found(code)->text : nullptr; }
const char *driver_error_name(Error code) { return found(code) ? found(code)->driver_name : nullptr; }

Error &last_error() {
  static thread_local Error last = 0;
  return last;
}

Error broken() { return of_everything; }

Error kept(Error error) {
  if (error && error != not_ready) last_error() = error;
  return error;
}

void fail_later(Error error) {
  if (!of_kernel) of_kernel = error;
}

void mend() { of_kernel = of_everything = 0; }

void keep_print(const std::string &text) { printed += text; }

void show_prints() {
  if (printed.empty()) return;
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  printed.clear();
}

Error settle() {
  show_prints();
  if (of_kernel) of_everything = of_kernel;
  return of_everything;
}

std::recursive_mutex &whole() {
  static auto &mutex = *new std::recursive_mutex;  // never destroyed: calls come from destructors of the program too
  return mutex;
}

}  // namespace gpusim
