// Properties of the device, asked for once, and the attributes that come of them.
#include "properties.h"

namespace gpusim {
namespace {

Numbers values;
std::string name;

}  // namespace

void take_properties(const Reply &hello) {
  values = hello.numbers;
  values.resize(properties);
  name = hello.bytes;
}

uint64_t property(Property which) {
  if (values.empty()) ask("memory", {});  // the first request is preceded by the greeting, which brings them
  return values[which];
}

bool takes(Extra extra) { return property(extras) & extra; }

const std::string &device_name() {
  property(major);
  return name;
}

Error device_attribute(int *value, int attribute) {
  if (!value) return invalid_value;
  switch (attribute) {
#define ATTRIBUTE(number, its) \
  case number: *value = int(its); return success;
#include "attributes.def"
#undef ATTRIBUTE
  }
  return invalid_value;
}

}  // namespace gpusim
