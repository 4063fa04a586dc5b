// Every other function of the library: weak, so that a definition elsewhere takes its place; a call of it is refused
// by name.
#include "api.h"

#define FUNCTION(name) \
  API __attribute__((weak)) int name() { gpusim::refuse(#name, PLACE); }
#define SAME(name, other)
#include "names.def"
#undef FUNCTION
#undef SAME

#if defined(__x86_64__)
#define JUMP(name) "jmp " name "@PLT"
#else
#define JUMP(name) "b " name
#endif

// A jump keeps the return address, so that the place of the call is known.
#define FUNCTION(name)
#define SAME(name, other) \
  __asm__(".globl " #name "\n.type " #name ", %function\n" #name ": " JUMP(#other) "\n.size " #name ", .-" #name "\n");
#include "names.def"
