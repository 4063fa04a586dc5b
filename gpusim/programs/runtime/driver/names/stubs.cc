// Every function of the driver that has no definition elsewhere: refused by name; and those that are the runtime's.
#include "../../cudart/api.h"
#include "../../exports/jump.h"

#define FUNCTION(name) \
  EXPORT(__attribute__((weak)) int, name)() { gpusim::refuse(#name); }
#define SAME(name, other)
#include "names.def"
#undef FUNCTION
#undef SAME

#define FUNCTION(name)
#define SAME(name, other) NAMED(".globl", name, other)
#include "names.def"
