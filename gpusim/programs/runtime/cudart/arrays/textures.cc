// Textures and surfaces: what they read and how is told to the simulator, whose number for it is the object.
#include <cstring>
#include <map>

#include "arrays.h"

using namespace gpusim;

namespace {

struct Image {
  uint64_t address, pitch, width, height, depth, layers;
  Channels channels;
};

struct Texture {
  Resource resource;
  Reading reading;
};

std::map<uint64_t, Texture> textures;

bool image_of(const Array &array, Image *image) {
  bool in_layers = array.flags & layered;
  uint64_t depth = array.extent.depth;
  *image = {array.address,         array.pitch,           array.extent.width, array.extent.height,
            in_layers ? 0 : depth, in_layers ? depth : 0, array.channels};
  return !(array.flags & cubemap);
}

uint64_t count(const Channels &channels) { return !!channels.x + !!channels.y + !!channels.z + !!channels.w; }

bool image_of(const Resource &resource, Image *image) {
  auto &linear = resource.linear;
  auto &pitched = resource.pitched;
  uint64_t bytes = count(linear.channels) * uint64_t(linear.channels.x) / 8;
  if (resource.type == of_array) return array_at(resource.array) && image_of(*array_at(resource.array), image);
  if (resource.type == of_linear && bytes)
    *image = {number(linear.memory), linear.bytes, linear.bytes / bytes, 0, 0, 0, linear.channels};
  else if (resource.type == of_pitched)
    *image = {number(pitched.memory), pitched.pitch, pitched.width, pitched.height, 0, 0, pitched.channels};
  else
    return false;
  return true;
}

uint64_t bits(float value) {
  uint32_t found;
  std::memcpy(&found, &value, sizeof found);
  return found;
}

Numbers numbers_of(const Image &image, const Reading &reading) {
  Numbers made{image.address,
               image.pitch,
               image.width,
               image.height,
               image.depth,
               image.layers,
               uint64_t(image.channels.x) / 8,
               count(image.channels),
               uint64_t(image.channels.format)};
  for (int mode : reading.address) made.push_back(uint64_t(mode));
  for (int one : {reading.filter, reading.read, reading.normalized}) made.push_back(uint64_t(one));
  for (float one : reading.border) made.push_back(bits(one));
  return made;
}

}  // namespace

namespace gpusim {

Error create_texture(uint64_t *object, const Resource *resource, const Reading *reading) {
  Image image;
  if (!object || !resource || !reading || !image_of(*resource, &image)) return invalid_value;
  Reply reply = ask("texture", numbers_of(image, *reading));
  if (reply.error) return reply.error;
  *object = reply.number(0);
  textures[*object] = {*resource, *reading};
  return success;
}

bool is_plain(const Resource *resource) {
  return !resource || (resource->type != of_mipmaps && (resource->type != of_array || !array_at(resource->array) ||
                                                        !(array_at(resource->array)->flags & cubemap)));
}

Error destroy_texture(uint64_t object) {
  if (!object) return success;
  if (!textures.erase(object)) return invalid_value;
  return ask("untexture", {object}).error;
}

}  // namespace gpusim

API(int, cudaCreateTextureObject)(uint64_t *object, const Resource *resource, const Reading *reading,
                                  const void *view) {
  if (view || !is_plain(resource)) refuse("cudaCreateTextureObject with a view, mipmaps or a cube");
  return call([&] { return create_texture(object, resource, reading); });
}
API(int, cudaDestroyTextureObject)(uint64_t object) {
  return call([&] { return destroy_texture(object); });
}
API(int, cudaGetTextureObjectResourceDesc)(Resource *resource, uint64_t object) {
  return call([&]() -> Error {
    return textures.count(object) && resource ? *resource = textures[object].resource, success : invalid_value;
  });
}
API(int, cudaGetTextureObjectTextureDesc)(Reading *reading, uint64_t object) {
  return call([&]() -> Error {
    return textures.count(object) && reading ? *reading = textures[object].reading, success : invalid_value;
  });
}
