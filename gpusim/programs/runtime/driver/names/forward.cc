// Functions of the driver that are the runtime's.
#include "../../exports/jump.h"

#define SAME(name, other) NAMED(".globl", name, other)
#include "forward.def"
