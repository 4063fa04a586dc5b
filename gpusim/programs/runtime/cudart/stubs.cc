// Every function that has no definition elsewhere: weak, so that a definition takes its place; a call is refused by
// name.
#include "api.h"

#define FUNCTION(name) \
  API(__attribute__((weak)) int, name)() { gpusim::refuse(#name); }
#define SAME(name, other)
#include "../exports/names.def"
