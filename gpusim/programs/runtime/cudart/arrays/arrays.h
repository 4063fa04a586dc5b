// CUDA arrays: plain rows of elements with a pitch, in memory of the device.
#pragma once
#include "../graphs/abi.h"

namespace gpusim {

struct Array {
  uint64_t address, pitch, slice, element;  // bytes
  Extent extent;                            // elements; 0 where it has no such dimension
  Channels channels;
  unsigned flags;
};

enum ArrayFlags : unsigned { layered = 1, cubemap = 4 };

struct Resource {  // cudaResourceDesc
  int type;
  union {
    void *array;
    struct {
      void *memory;
      Channels channels;
      size_t bytes;
    } linear;
    struct {
      void *memory;
      Channels channels;
      size_t width, height, pitch;
    } pitched;
    int size[14];
  };
};

struct Reading {  // cudaTextureDesc
  int address[3], filter, read, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mip_filter;
  float mip_bias, mip_least, mip_most;
  int no_trilinear, seamless;
};

enum { of_array, of_mipmaps, of_linear, of_pitched };  // cudaResourceType

// arrays.cc
Array *array_at(const void *handle);
Error add_array(Array **array, const Channels *channels, Extent extent, unsigned flags);
Error remove_array(const void *array);

// textures.cc
Error create_texture(uint64_t *object, const Resource *resource, const Reading *reading);
Error destroy_texture(uint64_t object);
bool is_plain(const Resource *resource);

}  // namespace gpusim
