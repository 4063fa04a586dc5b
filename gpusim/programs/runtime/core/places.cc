// Places of calls: return addresses relative to where the program was loaded, as its line table has them.
#include <link.h>
#include <unwind.h>

#include "core.h"

namespace gpusim {
namespace {

constexpr size_t most_callers = 12;

struct Program {
  uint64_t base = 0, first = ~uint64_t(0), behind = 0;
};

int first_object(dl_phdr_info *object, size_t, void *into) {
  auto program = static_cast<Program *>(into);
  program->base = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    auto &segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    uint64_t at = program->base + segment.p_vaddr;
    program->first = at < program->first ? at : program->first;
    program->behind = at + segment.p_memsz > program->behind ? at + segment.p_memsz : program->behind;
  }
  return 1;  // the first object is the program itself
}

const Program &program() {
  static const Program found = [] {
    Program made;
    dl_iterate_phdr(first_object, &made);
    return made;
  }();
  return found;
}

uint64_t place_in_program(uint64_t at) {
  return at >= program().first && at < program().behind ? at - program().base : 0;
}

_Unwind_Reason_Code add_caller(_Unwind_Context *context, void *into) {
  auto places = static_cast<Numbers *>(into);
  uint64_t place = place_in_program(_Unwind_GetIP(context));
  if (place) places->push_back(place);
  return places->size() < most_callers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

// Return addresses of the calls that led here and stand in the program, the innermost first: a call may stand in a
// header of CUDA. One number at least, 0 where there is none.
Numbers places_of_callers() {
  Numbers places;
  _Unwind_Backtrace(add_caller, &places);
  if (places.empty()) places.push_back(0);
  return places;
}

}  // namespace gpusim
