// Names for functions that are elsewhere: a jump keeps the return address, so that the place of the call is known.
#pragma once

#if defined(__x86_64__)
#define JUMP(name) "jmp " name "@PLT"
#elif defined(__aarch64__)
#define JUMP(name) "b " name
#else
#error "gpusim exec runs programs on x86-64 and AArch64"
#endif

#define NAMED(binding, name, other)                                                     \
  __asm__(".text\n" binding " " #name "\n.type " #name ", %function\n" #name ": " JUMP( \
      #other) "\n"                                                                      \
              ".size " #name ", .-" #name "\n");
