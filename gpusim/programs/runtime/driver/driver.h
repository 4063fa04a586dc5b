// How functions of the driver are defined: what they do is the runtime's, their errors have the driver's codes.
#pragma once
#include "../cudart/api.h"

namespace gpusim {

// Codes of the runtime that the driver doesn't have, as its header lists them.
inline Error of_driver(Error error) {
  switch (error) {
    case invalid_configuration:
    case invalid_copy_direction:
    case 12:  // of a pitch
      return invalid_value;
    case invalid_symbol:
    case invalid_device_function: return symbol_not_found;
    default: return error;
  }
}

// One call of the driver: no last error is kept.
template <typename Do>
Error driver_call(Do &&body) {
  std::lock_guard<std::recursive_mutex> alone(whole());
  Error error = broken();
  return of_driver(error ? error : body());
}

}  // namespace gpusim
