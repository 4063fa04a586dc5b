// The functions of libcudart.so under their own names; weak, as those that differ between versions are defined there.
#include "jump.h"

#define FUNCTION(name) NAMED(".weak", name, gpusim_##name)
#define SAME(name, other) NAMED(".globl", name, other)
#include "names.def"
