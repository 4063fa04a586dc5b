// Layouts of CUDA's runtime API, written down here since no header of NVIDIA's suits both versions: structures of
// 12 and 13 that differ are in cuda12/ and cuda13/. Enumerations are int.
#pragma once
#include <cstddef>
#include <cstdint>

struct Dim3 {
  unsigned x, y, z;
};

struct PointerFacts {  // cudaPointerAttributes; 13 has 64 reserved bytes more, which nothing reads
  int type, device;
  void *device_pointer, *host_pointer;
};

struct FunctionFacts {  // cudaFuncAttributes
  size_t shared, constant, local;
  int threads, registers, ptx, binary, cache_mode, dynamic_shared, carveout, cluster_must_be_set;
  int cluster_x, cluster_y, cluster_z, cluster_policy, cluster_not_portable, reserved[16];
};

struct LaunchAttribute {  // cudaLaunchAttribute
  int id;
  char pad[4];
  union {
    char size[64];
    int number;
    Dim3 cluster;
    struct {
      void *event;
      int flags, at_start;
    } programmatic;
    struct {
      void *event;
      int flags;
    } completion;
    int priority;
    unsigned carveout;
  } value;
};

struct LaunchConfiguration {  // cudaLaunchConfig_t
  Dim3 grid, block;
  size_t shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned count;
};

struct Extent {  // cudaExtent: width in elements of an array, else in bytes
  size_t width, height, depth;
};

struct Position {  // cudaPos
  size_t x, y, z;
};

struct Pitched {  // cudaPitchedPtr
  void *pointer;
  size_t pitch, width, height;
};

struct Channels {  // cudaChannelFormatDesc: bits of each channel
  int x, y, z, w, format;
};
