// What one thread of a warp asks of the copy engine, and of barriers in shared memory (nvcc 13.0, -arch=sm_90a -cubin).
#include <cuda.h>
#include <cstdint>
#define ASM asm volatile
typedef uint32_t u32;
typedef uint64_t u64;
extern __shared__ __align__(1024) u32 held[];
__device__ u32 place(const void *at) { return __cvta_generic_to_shared(at); }
__device__ void expect(u32 bar, int bytes) {
  ASM("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
  ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(u32 bar, u32 parity) {
  ASM("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}"
      ::"r"(bar), "r"(parity) : "memory");
}
__device__ void give(u32 *out, int bytes) {
  wait(place(held), 0);
  for (int i = threadIdx.x; i < bytes / 4; i += 32) out[i] = held[256 + i];
}
__device__ void clear(int bytes) {
  for (int i = threadIdx.x; i < bytes / 4; i += 32) held[256 + i] = 0xcdcdcdcd;
  ASM("fence.proxy.async;" ::: "memory");
  __syncwarp();
}
__device__ void take(const u32 *in, int bytes) {
  for (int i = threadIdx.x; i < bytes / 4; i += 32) held[256 + i] = in[i];
  ASM("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
}
__device__ void written() { ASM("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory"); }
#define TILE(NAME, RANK, C, ...)                                                                                        \
  extern "C" __global__ void load##NAME(const __grid_constant__ CUtensorMap map, u32 *out, int bytes, int off, int seen, int x, \
                                        int y, int z, int u, int v) {                                                   \
    clear(seen);                                                                                                 \
    if (threadIdx.x == 0) {                                                                                             \
      expect(place(held), bytes);                                                                                       \
      ASM("cp.async.bulk.tensor." RANK ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " C "], [%2];" \
          ::"r"(place(held + 256) + off), "l"(&map), "r"(place(held)), __VA_ARGS__ : "memory");                               \
    }                                                                                                                   \
    __syncwarp();                                                                                                       \
    give(out, seen);                                                                                             \
  }                                                                                                                     \
  extern "C" __global__ void store##NAME(const __grid_constant__ CUtensorMap map, const u32 *in, int bytes, int off, int seen, \
                                         int x, int y, int z, int u, int v) {                                                         \
    take(in, seen);                                                                                              \
    if (threadIdx.x == 0) {                                                                                             \
      ASM("cp.async.bulk.tensor." RANK ".global.shared::cta.tile.bulk_group [%1, " C "], [%0];"                         \
          ::"r"(place(held + 256) + off), "l"(&map), "r"(0), __VA_ARGS__ : "memory");                                         \
      written();                                                                                                        \
    }                                                                                                                   \
  }
TILE(1, "1d", "{%3}", "r"(x))
TILE(2, "2d", "{%3, %4}", "r"(x), "r"(y))
TILE(3, "3d", "{%3, %4, %5}", "r"(x), "r"(y), "r"(z))
TILE(4, "4d", "{%3, %4, %5, %6}", "r"(x), "r"(y), "r"(z), "r"(u))
TILE(5, "5d", "{%3, %4, %5, %6, %7}", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v))
extern "C" __global__ void im2col(const __grid_constant__ CUtensorMap map, u32 *out, int bytes, int c, int w, int h, int n,
                                  int right, int down) {
  clear(9216);
  if (threadIdx.x == 0) {
    expect(place(held), bytes);
    ASM("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2],"
        " {%7, %8};" ::"r"(place(held + 256)), "l"(&map), "r"(place(held)), "r"(c), "r"(w), "r"(h), "r"(n),
        "h"((short)right), "h"((short)down) : "memory");
  }
  __syncwarp();
  give(out, 9216);
}
#define REDUCE(OP)                                                                                                      \
  extern "C" __global__ void tile_##OP(const __grid_constant__ CUtensorMap map, const u32 *in, int seen, int x, int y) { \
    take(in, seen);                                                                                                    \
    if (threadIdx.x == 0) {                                                                                             \
      ASM("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #OP ".tile.bulk_group [%1, {%2, %3}], [%0];"            \
          ::"r"(place(held + 256)), "l"(&map), "r"(x), "r"(y) : "memory");                                              \
      written();                                                                                                        \
    }                                                                                                                   \
  }
REDUCE(add) REDUCE(min) REDUCE(max) REDUCE(inc) REDUCE(dec) REDUCE(and) REDUCE(or) REDUCE(xor)
#define UPDATE(NAME, OP)                                                                                                \
  extern "C" __global__ void line_##NAME(u32 *to, const u32 *in, int bytes) {                                           \
    take(in, bytes);                                                                                                    \
    if (threadIdx.x == 0) {                                                                                             \
      ASM("cp.reduce.async.bulk.global.shared::cta.bulk_group." OP " [%1], [%0], %2;"                                   \
          ::"r"(place(held + 256)), "l"(to), "r"(bytes) : "memory");                                                    \
      written();                                                                                                        \
    }                                                                                                                   \
  }
UPDATE(add_u32, "add.u32") UPDATE(min_s32, "min.s32") UPDATE(max_u64, "max.u64") UPDATE(add_u64, "add.u64")
UPDATE(add_f32, "add.f32") UPDATE(add_f64, "add.f64") UPDATE(add_f16, "add.noftz.f16") UPDATE(xor_b64, "xor.b64")
extern "C" __global__ void lines(u32 *to, const u32 *from, int bytes) { // through two places of shared memory, and back
  if (threadIdx.x == 0) {
    u32 bar = place(held), first = place(held + 256), second = first + bytes;
    ASM("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
    expect(bar, bytes);
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(first), "l"(from), "r"(bytes), "r"(bar) : "memory");
    wait(bar, 0);
    ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    ASM("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(second), "r"(first), "r"(bytes), "r"(bar) : "memory");
    wait(bar, 1);
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(second), "r"(bytes) : "memory");
    written();
  }
}
extern "C" __global__ void signals(u64 *words, u32 *over, int count, int bytes) { // every form, by one thread
  u32 bar = place(held), p;
  u64 state;
  if (threadIdx.x) return;
  ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
#define KEEP(N, X) { u64 s = 0; X; words[2 * (N)] = s; words[2 * (N) + 1] = *(volatile u64 *)held; }
  KEEP(0, )
  KEEP(1, ASM("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(bar) : "memory"))
  KEEP(2, ASM("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(bar), "r"(count - 4) : "memory"))
  KEEP(3, ASM("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(bar) : "memory"))
  KEEP(4, ASM("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"))
  KEEP(5, ASM("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(bar), "r"(bytes) : "memory"); state = s)
  ASM("{\n.reg .pred over;\nmbarrier.test_wait.shared::cta.b64 over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}"
      : "=r"(p) : "r"(bar), "l"(state) : "memory");
  over[0] = p;
  KEEP(6, ASM("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"))
  KEEP(7, ASM("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(bar) : "memory"))
  KEEP(8, ASM("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"))
  ASM("{\n.reg .pred over;\nmbarrier.try_wait.shared::cta.b64 over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}"
      : "=r"(p) : "r"(bar), "l"(state) : "memory");
  over[1] = p;
  ASM("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(state));
  over[2] = p;
}
extern "C" __global__ void phases(u32 *sums, int rounds) { // warp 0 fills, all others add up, by two barriers
  u32 full = place(held), empty = full + 8, consumers = blockDim.x - 32;
  if (threadIdx.x == 0) {
    ASM("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(full) : "memory");
    ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty), "r"(consumers) : "memory");
  }
  __syncthreads();
  u32 sum = 0;
  for (int i = 0; i < rounds; i++) {
    if (threadIdx.x < 32) {
      wait(empty, i & 1 ^ 1);
      held[256 + threadIdx.x] = (i + 1) * (threadIdx.x + 1);
      ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(full) : "memory");
    } else {
      wait(full, i & 1);
      sum += held[256 + threadIdx.x % 32];
      ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty) : "memory");
    }
  }
  sums[threadIdx.x] = sum;
}
extern "C" __global__ void followed(u32 *to, const u32 *from, int inc) { // cp.async that arrives at a barrier
  u32 bar = place(held), at = place(held + 256 + 4 * threadIdx.x);
  if (threadIdx.x == 0) ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(inc ? 64 : 32) : "memory");
  __syncwarp();
  ASM("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + 4 * threadIdx.x) : "memory");
  if (inc) {
    ASM("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
    ASM("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(bar) : "memory");
  } else {
    ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
  }
  wait(bar, 0);
  for (int i = 0; i < 4; i++) to[4 * threadIdx.x + i] = held[256 + (4 * threadIdx.x + 20 + i) % 128];
}
extern "C" __global__ void never(u32 *out) { // nobody arrives
  if (threadIdx.x == 0) {
    expect(place(held), 256);
    wait(place(held), 0);
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}
