// Two blocks of a cluster update words of each other and of their own (nvcc 13.0, -arch=sm_90a -cubin).
#include <cstdint>
#define ASM asm volatile
typedef uint32_t u32;
typedef uint64_t u64;
extern __shared__ __align__(1024) u32 held[];
__device__ u32 place(const void *at) { return __cvta_generic_to_shared(at); }
__device__ u32 of_block(u32 at, u32 rank) {
  u32 there;
  ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  return there;
}
__device__ void together() { ASM("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
__device__ void begin(const u32 *in, int bytes) {
  for (int i = threadIdx.x; i < 256; i += 64) held[256 + i] = in[blockIdx.x * 256 + i];
  if (threadIdx.x == 0) {
    ASM("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(place(held)) : "memory");
    ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(held)), "r"(bytes) : "memory");
  }
  ASM("fence.proxy.async;" ::: "memory");
  together();
}
__device__ void end(u32 *out) {
  ASM("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n@!over bra again;\n}"
      ::"r"(place(held)) : "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) out[blockIdx.x * 256 + i] = held[256 + i];
  together();
}
#define WORDS(NAME, OP, BYTES, VALUE)                                                                                   \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) words_##NAME(const u32 *in, u32 *out) {                          \
    begin(in, 64 * BYTES);                                                                                              \
    const u32 k = threadIdx.x, to = blockIdx.x ^ (k & 1);                                                               \
    const u64 v = in[512 + blockIdx.x * 64 + k] | (u64)in[640 + blockIdx.x * 64 + k] << 32;                             \
    ASM("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." OP " [%0], %1, [%2];"                 \
        ::"r"(of_block(place(held + 256 + 2 * ((k * 5 + blockIdx.x) % 64)), to)), VALUE, "r"(of_block(place(held), to)) \
        : "memory");                                                                                                    \
    end(out);                                                                                                           \
  }
WORDS(add_u32, "add.u32", 4, "r"((u32)v)) WORDS(add_s32, "add.s32", 4, "r"((u32)v)) WORDS(add_u64, "add.u64", 8, "l"(v))
WORDS(min_u32, "min.u32", 4, "r"((u32)v)) WORDS(max_u32, "max.u32", 4, "r"((u32)v))
WORDS(min_s32, "min.s32", 4, "r"((u32)v)) WORDS(max_s32, "max.s32", 4, "r"((u32)v))
WORDS(inc_u32, "inc.u32", 4, "r"((u32)v)) WORDS(dec_u32, "dec.u32", 4, "r"((u32)v))
WORDS(and_b32, "and.b32", 4, "r"((u32)v)) WORDS(or_b32, "or.b32", 4, "r"((u32)v)) WORDS(xor_b32, "xor.b32", 4, "r"((u32)v))
#define LINE(NAME, OP)                                                                                                  \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) line_##NAME(const u32 *in, u32 *out) {                           \
    begin(in, 512);                                                                                                     \
    const u32 other = blockIdx.x ^ 1;                                                                                   \
    if (threadIdx.x == 0)                                                                                               \
      ASM("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." OP " [%0], [%1], 512, [%2];" \
          ::"r"(of_block(place(held + 256), other)), "r"(place(held + 384)), "r"(of_block(place(held), other)) : "memory"); \
    end(out);                                                                                                           \
  }
LINE(add_u32, "add.u32") LINE(add_s32, "add.s32") LINE(add_u64, "add.u64") LINE(min_u32, "min.u32") LINE(max_s32, "max.s32")
LINE(inc_u32, "inc.u32") LINE(dec_u32, "dec.u32") LINE(and_b32, "and.b32") LINE(or_b32, "or.b32") LINE(xor_b32, "xor.b32")
extern "C" __global__ void __cluster_dims__(2, 1, 1) leave(u32 *out) {
  if (threadIdx.x == 0) ASM("mbarrier.init.shared::cta.b64 [%0], 3;\nfence.mbarrier_init.release.cluster;" ::"r"(place(held)) : "memory");
  together();
  if (threadIdx.x == 0)
    ASM("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(of_block(place(held), blockIdx.x ^ 1)) : "memory");
  together();
  for (int k = 0; k < 6 && threadIdx.x == 0; k++) {
    u64 state;
    ASM("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(place(held)) : "memory");
    out[blockIdx.x * 8 + k] = state >> 32;
  }
}
