// What the timed programs of one block share: clocks of its warps, and shared memory.
typedef unsigned int u32;
typedef long long i64;
struct Rec { i64 t[2]; };
extern __shared__ u32 shared_words[];

__device__ __forceinline__ i64 clk() {
  i64 c;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory");
  return c;
}
