// Rounds at a barrier in shared memory, as a list says: each warp arrives, lets bulk copies come, and waits
// (nvcc 13.0, -arch=sm_90a -cubin). tests/strategies/rounds.py draws lists.
#include <cstdint>
#define ASM asm volatile
typedef uint32_t u32;
extern __shared__ __align__(128) u32 held[];  // the barrier in the first 128 bytes, then a slot for each copy
__device__ u32 place(const void *at) { return __cvta_generic_to_shared(at); }

// step: 0..3 arrivals, 4..5 who arrives, 6..7 copies, 8..15 units of 16 bytes in each, 16..23 idle turns, 24 who waits
extern "C" __global__ void rounds(const u32 *steps, const char *in, u32 *out, int count, int turns, int slot) {
  u32 bar = place(held), warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) ASM("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar), "r"(count) : "memory");
  __syncthreads();
  for (int turn = 0; turn < turns; turn++) {
    u32 step = steps[turn * warps + warp];
    u32 arrivals = step & 15, form = step >> 4 & 3, copies = step >> 6 & 3, bytes = (step >> 8 & 255) * 16;
    for (u32 idle = step >> 16 & 255; idle; idle--) ASM("" ::: "memory");
    if (copies && lane == 0) {
      ASM("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(copies * bytes) : "memory");
      for (u32 i = 0; i < copies; i++) {
        u32 to = place(held) + 128 + (warp * 3 + i) * slot;
        const char *from = in + (warp * 3 + i) * slot + turn * 16;
        ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
      }
    }
    __syncwarp();
    if (form == 0 && lane == 0) ASM("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
    if (form == 1 && lane < arrivals) ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    if (form == 2 && lane < arrivals) ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 0;" ::"r"(bar) : "memory");
    if (form == 3 && lane == 31) for (u32 i = 0; i < arrivals; i++) ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    __syncwarp();
    if ((step >> 24 & 1) == 0 || lane == 0)
      ASM("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}" ::"r"(bar), "r"(turn & 1) : "memory");
    __syncwarp();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < (128 + (int)warps * 3 * slot) / 4; i += blockDim.x) out[i] = held[i];
}
