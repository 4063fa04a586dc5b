// Barriers in shared memory of sm_80 (mbarrier), which its code counts itself (nvcc 13.0, -arch=sm_80 -cubin).
#include <cstdint>
#define ASM asm volatile
typedef uint32_t u32;
typedef uint64_t u64;
__device__ u32 place(const void *at) { return __cvta_generic_to_shared(at); }
#define KEEP(S, WHAT)                                                                                                   \
  {                                                                                                                     \
    u32 left, over;                                                                                                     \
    WHAT;                                                                                                               \
    ASM("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(S));                                                    \
    ASM("{\n.reg .pred p;\nmbarrier.test_wait.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"                        \
        : "=r"(over) : "r"(place(&bar)), "l"(S) : "memory");                                                            \
    out[at++] = left, out[at++] = over;                                                                                 \
  }
extern "C" __global__ void states(u32 *out, int rounds) {
  __shared__ u64 bar;
  ASM("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(place(&bar)) : "memory");
  int at = 0;
  u64 s;
  for (int i = 0; i < rounds; i++) KEEP(s, ASM("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(place(&bar)) : "memory"))
  KEEP(s, ASM("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(place(&bar)) : "memory"))
  for (int i = 0; i < rounds; i++) KEEP(s, ASM("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(place(&bar)) : "memory"))
  KEEP(s, ASM("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(s) : "r"(place(&bar)) : "memory"))
}
extern "C" __global__ void copies(const u32 *in, u32 *out, int followed) {
  __shared__ u64 bar;
  __shared__ u32 held[64];
  held[threadIdx.x] = 7;
  if (threadIdx.x == 0) ASM("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(place(&bar)) : "memory");
  __syncthreads();
  ASM("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place(&held[threadIdx.x])), "l"(in + threadIdx.x) : "memory");
  if (followed) ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(place(&bar)) : "memory");
  else {
    ASM("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(place(&bar)) : "memory");
    ASM("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" ::"r"(place(&bar)) : "memory");
  }
  u32 over = 0;
  while (!over)
    ASM("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(over) : "r"(place(&bar)) : "memory");
  out[threadIdx.x] = held[63 - threadIdx.x];
}
