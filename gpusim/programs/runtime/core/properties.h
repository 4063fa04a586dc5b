// Properties of the device: those that the simulator says, in its order.
#pragma once
#include "core.h"

namespace gpusim {

enum Property {
  major,
  minor,
  processors,
  total_memory,
  shared_per_block,
  shared_optin,
  shared_per_processor,
  shared_reserved,
  registers_per_block,
  registers_per_processor,
  warp,
  threads_per_block,
  threads_per_processor,
  blocks_per_processor,
  block_x,
  block_y,
  block_z,
  grid_x,
  grid_y,
  grid_z,
  constant_memory,
  clock_khz,
  memory_clock_khz,
  memory_bus,
  l2_bytes,
  l2_persisting,
  copy_engines,
  single_to_double,
  cooperative_launch,
  cluster_launch,
  pitch,
  texture_alignment,
  texture_pitch_alignment,
  extras,
  properties
};

enum Extra : uint64_t { callers_of_launch = 1, knows_reset = 2 };  // what the simulator takes beyond version 1

void take_properties(const Reply &hello);
uint64_t property(Property which);
bool takes(Extra extra);
const std::string &device_name();
Error device_attribute(int *value, int attribute);

}  // namespace gpusim
