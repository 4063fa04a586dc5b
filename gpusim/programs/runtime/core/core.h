// What the stand-ins for the CUDA runtime and driver share: one library, since the state of a program is one,
// whichever of the two (or both) it is linked to. Errors are CUDA's codes (cudaError_t); 0 is success.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace gpusim {

using Error = int;
using Numbers = std::vector<uint64_t>;

enum : Error {  // those that the stand-ins themselves give
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_symbol = 13,
  invalid_copy_direction = 21,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  no_kernel_image = 209,
  already_enabled = 704,
  not_enabled = 705,
  invalid_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  not_permitted = 800,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  captured_event = 907,
  update_failure = 910,
};

struct Reply {
  Error error;
  Numbers numbers;
  std::string bytes;
  uint64_t number(size_t index) const { return index < numbers.size() ? numbers[index] : 0; }
};

// link.cc: requests to the simulator
Reply ask(const char *op, const Numbers &numbers, const void *bytes = nullptr, size_t size = 0);
Reply ask(const char *op, const Numbers &numbers, const std::string &text);
[[noreturn]] void refuse(const char *name);
[[noreturn]] void end(const std::string &why);
void set_runtime_version(int version);
int runtime_version();

// window.cc: device memory, as the program sees it
constexpr uint64_t window_base = 0x7F0000000000, window_bytes = uint64_t(1) << 32;
inline bool in_window(uint64_t address) { return address - window_base < window_bytes; }
void map_window(int memory);
void explain_faults();
void open_to_host(uint64_t address, uint64_t bytes, bool open);
unsigned char *reached(uint64_t address);

// places.cc: where in the program a call stands
Numbers places_of_callers();

// errors.cc
const char *error_name(Error code);
const char *error_text(Error code);
const char *driver_error_name(Error code);
Error &last_error();
Error broken();
Error kept(Error error);
void fail_later(Error error);
void mend();
void keep_print(const std::string &text);
void show_prints();
Error settle();
std::recursive_mutex &whole();

// One call of the program: it fails at once after a fault of a kernel, and its error is the thread's last.
template <typename Do>
Error call(Do &&body) {
  std::lock_guard<std::recursive_mutex> alone(whole());
  Error error = broken();
  return kept(error ? error : body());
}

// The same for a call that says not_ready or asks without an error of its own being kept.
template <typename Do>
Error question(Do &&body) {
  std::lock_guard<std::recursive_mutex> alone(whole());
  return body();
}

}  // namespace gpusim
