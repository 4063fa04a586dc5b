// Kernels whose blocks signal each other's barriers in shared memory, for tests. nvcc -arch=sm_90a -cubin; nvcc 13.0.88
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using u32 = unsigned int;
using u64 = unsigned long long;
#define A asm volatile
__device__ __forceinline__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ u32 mapa(u32 a, u32 r) { u32 q; A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(q) : "r"(a), "r"(r)); return q; }
__device__ __forceinline__ void init(u32 b, u32 n) { A("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ __forceinline__ void expect(u32 b, u32 n) { A("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(u32 b, u32 p) { A("{.reg .pred q; W%=: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [%0], %1; @!q bra W%=;}" ::"r"(b), "r"(p) : "memory"); }
__device__ __forceinline__ void arrive(u32 b) { A("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory"); }

// Blocks of a ring add their ranks to a number that goes round, one after the other.
extern "C" __global__ void round_robin(u32 *out, int rounds) {
  __shared__ u64 bar; __shared__ u32 token;
  cg::cluster_group c = cg::this_cluster();
  u32 r = c.block_rank(), n = c.num_blocks(), b = at(&bar);
  if (threadIdx.x == 0) { init(b, 1); token = 0; A("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  c.sync();
  if (threadIdx.x == 0) {
    u32 next = mapa(b, (r + 1) % n), *other = c.map_shared_rank(&token, (r + 1) % n);
    for (int i = 0; i < rounds; i++) {
      if (i || r) wait(b, (i - (r ? 0 : 1)) & 1);
      *other = token * 3 + r + 1;
      arrive(next);
    }
    if (r == 0) { wait(b, (rounds - 1) & 1); out[blockIdx.x / n] = token; }
  }
  c.sync();
}

// Each block loads a part of a tile for all blocks of its cluster; each writes the tile out.
extern "C" __global__ void multicast(const u32 *in, u32 *out, int bytes) {
  extern __shared__ __align__(128) u32 s[];
  __shared__ u64 bar;
  cg::cluster_group c = cg::this_cluster();
  u32 r = c.block_rank(), n = c.num_blocks(), b = at(&bar), part = bytes / n;
  if (threadIdx.x == 0) { init(b, 1); A("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  c.sync();
  if (threadIdx.x == 0) {
    expect(b, bytes);
    const char *from = (const char *)in + blockIdx.x / n * bytes + r * part;
    A("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(at(s) + r * part), "l"(from), "r"(part), "r"(b), "h"((unsigned short)((1 << n) - 1)) : "memory");
  }
  wait(b, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[blockIdx.x * (bytes / 4) + i] = s[i] + r;
  c.sync();
}

// Each block copies its tile to the next block's shared memory, which waits for it.
extern "C" __global__ void pushed(u32 *out, int bytes) {
  extern __shared__ __align__(128) u32 s[];
  __shared__ u64 bar;
  cg::cluster_group c = cg::this_cluster();
  u32 r = c.block_rank(), n = c.num_blocks(), b = at(&bar), *to = s + bytes / 4;
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) s[i] = blockIdx.x * 10000 + i;
  if (threadIdx.x == 0) { init(b, 1); A("fence.mbarrier_init.release.cluster;" ::: "memory"); expect(b, bytes); }
  A("fence.proxy.async.shared::cta;" ::: "memory");
  c.sync();
  if (threadIdx.x == 0)
    A("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(mapa(at(to), (r + 1) % n)), "r"(at(s)), "r"(bytes), "r"(mapa(b, (r + 1) % n)) : "memory");
  wait(b, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[blockIdx.x * (bytes / 4) + i] = to[i];
  c.sync();
}

// Block 0 waits for an arrival that nobody brings.
extern "C" __global__ void missing() {
  __shared__ u64 bar;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) init(at(&bar), 2);
  c.sync();
  if (threadIdx.x == 0) { if (c.block_rank() == 0) wait(at(&bar), 0); else arrive(mapa(at(&bar), 0)); }
  c.sync();
}

// Each block's first threads arrive at the barriers of all blocks, one each.
extern "C" __global__ void everyone(u32 *out) {
  __shared__ u64 bar;
  cg::cluster_group c = cg::this_cluster();
  u32 n = c.num_blocks(), b = at(&bar);
  if (threadIdx.x == 0) { init(b, n); A("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  c.sync();
  if (threadIdx.x < n) arrive(mapa(b, threadIdx.x));
  wait(b, 0);
  if (threadIdx.x == 0) out[blockIdx.x] = c.block_rank() + 1;
  c.sync();
}

// Each thread sends one, two and four words to the next block, with their bytes for its barrier.
extern "C" __global__ void sent(u32 *out) {
  __shared__ __align__(16) u32 to[7 * 32 + 4];
  __shared__ u64 bar;
  cg::cluster_group c = cg::this_cluster();
  u32 r = c.block_rank(), n = c.num_blocks(), t = threadIdx.x, b = at(&bar), far = mapa(at(to), (r + 1) % n), fb = mapa(b, (r + 1) % n), x = blockIdx.x * 1000 + t;
  if (t == 0) { init(b, 1); A("fence.mbarrier_init.release.cluster;" ::: "memory"); expect(b, 7 * 4 * 32); }
  c.sync();
  A("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(far + 4 * t), "r"(x), "r"(fb) : "memory");
  A("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(far + 128 + 8 * t), "r"(x + 1), "r"(x + 2), "r"(fb) : "memory");
  A("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(far + 384 + 16 * t), "r"(x + 3), "r"(x + 4), "r"(x + 5), "r"(x + 6), "r"(fb) : "memory");
  wait(b, 0);
  for (int i = t; i < 224; i += 32) out[blockIdx.x * 224 + i] = to[i];
  c.sync();
}
