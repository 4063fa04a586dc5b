// Pixels of images (im2col) and tiles, loaded, stored and reduced by one thread (nvcc 13.0, -arch=sm_90a -cubin).
#include <cuda.h>
#include <cstdint>
#define ASM asm volatile
typedef uint32_t u32;
extern __shared__ __align__(1024) u32 held[];
__device__ u32 place(const void *at) { return __cvta_generic_to_shared(at); }
__device__ void copied(u32 *to, const u32 *from, int bytes) {
  for (int i = threadIdx.x; i < bytes / 4; i += 32) to[i] = from ? from[i] : 0xcdcdcdcd;
  ASM("fence.proxy.async;" ::: "memory");
  __syncwarp();
}
#define LOAD(NAME, RANK, C, O, OFFSETS, ...)                                                                            \
  extern "C" __global__ void pixels##NAME(const __grid_constant__ CUtensorMap map, u32 *out, int bytes, int off, int seen, \
                                          int x, int y, int z, int u, int v, int a, int b, int c) {                      \
    copied(held + 256, 0, seen);                                                                                        \
    if (threadIdx.x == 0) {                                                                                             \
      ASM("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(place(held)) : "memory"); \
      ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(held)), "r"(bytes) : "memory");          \
      ASM("cp.async.bulk.tensor." RANK ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " C "], [%2], " O \
          ";" ::"r"(place(held + 256) + off), "l"(&map), "r"(place(held)), __VA_ARGS__, OFFSETS : "memory");            \
    }                                                                                                                   \
    __syncwarp();                                                                                                       \
    ASM("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n@!over bra again;\n}"    \
        ::"r"(place(held)) : "memory");                                                                                 \
    copied(out, held + 256, seen);                                                                                      \
  }
#define H(X) "h"((short)X)
#define ONE H(a)
#define TWO H(a), H(b)
#define THREE H(a), H(b), H(c)
LOAD(3, "3d", "{%3, %4, %5}", "{%6}", ONE, "r"(x), "r"(y), "r"(z))
LOAD(4, "4d", "{%3, %4, %5, %6}", "{%7, %8}", TWO, "r"(x), "r"(y), "r"(z), "r"(u))
LOAD(5, "5d", "{%3, %4, %5, %6, %7}", "{%8, %9, %10}", THREE, "r"(x), "r"(y), "r"(z), "r"(u), "r"(v))
#define STORE(NAME, RANK, C, MODE, KIND, OP, COPY, ...)                                                                 \
  extern "C" __global__ void KIND##NAME##OP(const __grid_constant__ CUtensorMap map, const u32 *in, int off, int seen,  \
                                            int x, int y, int z, int u, int v) {                                        \
    copied(held + 256, in, seen);                                                                                       \
    if (threadIdx.x == 0) {                                                                                             \
      ASM(COPY "." RANK ".global.shared::cta" MODE ".bulk_group [%1, " C "], [%0];"                                     \
          ::"r"(place(held + 256) + off), "l"(&map), __VA_ARGS__ : "memory");                                           \
      ASM("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");                                     \
    }                                                                                                                   \
  }
#define OPERATIONS(NAME, RANK, C, MODE, KIND, ...)                                                                      \
  STORE(NAME, RANK, C, "." MODE, KIND, , "cp.async.bulk.tensor", __VA_ARGS__)                                           \
  STORE(NAME, RANK, C, ".add." MODE, KIND, add, "cp.reduce.async.bulk.tensor", __VA_ARGS__)                             \
  STORE(NAME, RANK, C, ".min." MODE, KIND, min, "cp.reduce.async.bulk.tensor", __VA_ARGS__)                             \
  STORE(NAME, RANK, C, ".max." MODE, KIND, max, "cp.reduce.async.bulk.tensor", __VA_ARGS__)
#define BOTH(NAME, RANK, C, ...)                                                                                        \
  OPERATIONS(NAME, RANK, C, "tile", tile, __VA_ARGS__) OPERATIONS(NAME, RANK, C, "im2col_no_offs", image, __VA_ARGS__)
BOTH(3, "3d", "{%2, %3, %4}", "r"(x), "r"(y), "r"(z))
BOTH(4, "4d", "{%2, %3, %4, %5}", "r"(x), "r"(y), "r"(z), "r"(u))
BOTH(5, "5d", "{%2, %3, %4, %5, %6}", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v))
