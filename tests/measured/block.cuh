// What the timed programs of one block share: clocks of its warps, and shared memory.
#include "clocks.cuh"
struct Rec { i64 t[2]; };
extern __shared__ u32 shared_words[];
