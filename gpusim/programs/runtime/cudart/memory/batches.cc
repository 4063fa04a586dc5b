// Many copies in one call.
#include "../graphs/abi.h"

using namespace gpusim;

namespace gpusim {

Error copy_all(void *const *into, const void *const *from, const size_t *bytes, size_t count, void *stream) {
  if (!into || !from || !bytes || !count) return invalid_value;
  for (size_t i = 0; i < count; i++) {
    Work work;
    work.kind = Work::copy;
    work.copied.into = number(into[i]), work.copied.from = number(from[i]), work.copied.width = bytes[i];
    if (Error error = enqueue(stream_at(stream), std::move(work), true)) return error;
  }
  return success;
}

}  // namespace gpusim
