// Loops of copies, barriers in shared memory, clusters and wgmma, as timed on an H200 (gpusim/published/h200_copies.csv).
// nvcc -arch=sm_90a. Each kernel runs its loop twice and keeps the clocks of the second: {begin, end, SM, number} for each
// block, or warp. benchmarks/tensor/copies.py has the launches.
#include <cstdint>
#include <cuda.h>
typedef uint32_t u32;
typedef uint64_t u64;
struct Rec { u64 t0, t1; u32 sm, x; };
extern __shared__ __align__(1024) unsigned char smem[];

__device__ __forceinline__ u64 clk() { u64 c; asm volatile("mov.u64 %0,%%clock64;" : "=l"(c) :: "memory"); return c; }
__device__ __forceinline__ u32 smid() { u32 s; asm volatile("mov.u32 %0,%%smid;" : "=r"(s)); return s; }
__device__ __forceinline__ u32 sb() { return (u32)__cvta_generic_to_shared(smem); }
__device__ __forceinline__ void mbinit(u32 mb, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0],%1;" :: "r"(mb), "r"(n) : "memory"); }
__device__ __forceinline__ void mbexpect(u32 mb, u32 b) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" :: "r"(mb), "r"(b) : "memory"); }
__device__ __forceinline__ void mbwait(u32 mb, u32 ph) {
  asm volatile("{.reg .pred p; L1: mbarrier.try_wait.parity.shared::cta.b64 p,[%0],%1; @p bra.uni L2; bra.uni L1; L2: }" :: "r"(mb), "r"(ph) : "memory");
}
#define FX asm volatile("fence.proxy.async;" ::: "memory")

__device__ __forceinline__ void ld2(u32 dst, u32 mb, const CUtensorMap *m, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0],[%1,{%3,%4}],[%2];" :: "r"(dst), "l"(m), "r"(mb), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void ld3(u32 dst, u32 mb, const CUtensorMap *m, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0],[%1,{%3,%4,%5}],[%2];" :: "r"(dst), "l"(m), "r"(mb), "r"(x), "r"(y), "r"(z) : "memory");
}
__device__ __forceinline__ void st2(u32 src, const CUtensorMap *m, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1,{%2,%3}],[%0];" :: "r"(src), "l"(m), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void rd2(u32 src, const CUtensorMap *m, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1,{%2,%3}],[%0];" :: "r"(src), "l"(m), "r"(x), "r"(y) : "memory");
}

// Loads of boxes, of R dimensions, S under way: one thread asks, and waits for each in turn.
template <int R> __global__ void tl(const __grid_constant__ CUtensorMap m, int iters, int S, int bytes, int dy, int rows, Rec *r) {
  u32 mb = sb(), d = sb() + 1024;
  if (threadIdx.x == 0) { for (int s = 0; s < S; s++) mbinit(mb + 8 * s, 1); FX; }
  __syncthreads();
  if (threadIdx.x) return;
  u64 t0, t1;
  int y = blockIdx.x * dy * 4 % rows;
  u32 ph = 0;
  int nb = (bytes + 127) / 128 * 128;
  for (int rep = 0; rep < 2; rep++) {
    int pre = S < iters ? S : iters;
    t0 = clk();
    for (int s = 0; s < pre; s++) {
      mbexpect(mb + 8 * s, bytes);
      if (R == 2) ld2(d + s * nb, mb + 8 * s, &m, 0, y); else ld3(d + s * nb, mb + 8 * s, &m, 0, 0, y);
      y += dy;
      if (y >= rows) y = 0;
    }
    int s = 0;
    for (int i = 0; i < iters; i++) {
      mbwait(mb + 8 * s, (ph >> s) & 1);
      ph ^= 1u << s;
      if (i + S < iters) {
        mbexpect(mb + 8 * s, bytes);
        if (R == 2) ld2(d + s * nb, mb + 8 * s, &m, 0, y); else ld3(d + s * nb, mb + 8 * s, &m, 0, 0, y);
        y += dy;
        if (y >= rows) y = 0;
      }
      s = s + 1 == S ? 0 : s + 1;
    }
    t1 = clk();
  }
  r[blockIdx.x] = {t0, t1, smid(), 0};
}

// Stores of boxes (OP 0) or additions, G in a group; W 1: waits until they are read.
template <int OP, int W> __global__ void ts(const __grid_constant__ CUtensorMap m, int iters, int G, int bytes, int dy, int rows, Rec *r) {
  u32 d = sb() + 1024;
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) ((u32 *)smem)[256 + i] = 0x3c003c00;
  FX;
  __syncthreads();
  if (threadIdx.x) return;
  u64 t0, t1;
  int y = blockIdx.x * dy * 4 % rows;
  for (int rep = 0; rep < 2; rep++) {
    t0 = clk();
    for (int i = 0; i < iters; i++) {
      for (int g = 0; g < G; g++) {
        if (OP == 0) st2(d, &m, 0, y); else rd2(d, &m, 0, y);
        y += dy;
        if (y >= rows) y = 0;
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (W == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); else asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    t1 = clk();
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  r[blockIdx.x] = {t0, t1, smid(), 0};
}

// Bulk copies: OP 0 load, 1 store, 2 store until it is read, 3 addition of u32, 4 within shared memory.
template <int OP> __global__ void bk(char *g, int iters, int bytes, u64 span, Rec *r) {
  u32 mb = sb(), d = sb() + 1024;
  if (threadIdx.x == 0) { mbinit(mb, 1); FX; }
  __syncthreads();
  if (threadIdx.x) return;
  u64 t0, t1;
  u64 off = (u64)blockIdx.x * bytes * 4 % span;
  u32 ph = 0;
  for (int rep = 0; rep < 2; rep++) {
    t0 = clk();
    for (int i = 0; i < iters; i++) {
      if (OP == 0) {
        mbexpect(mb, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" :: "r"(d), "l"(g + off), "r"(bytes), "r"(mb) : "memory");
        mbwait(mb, ph);
        ph ^= 1;
      } else if (OP == 4) {
        mbexpect(mb, bytes);
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" :: "r"(d + bytes), "r"(d), "r"(bytes), "r"(mb) : "memory");
        mbwait(mb, ph);
        ph ^= 1;
      } else {
        if (OP == 3) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0],[%1],%2;" :: "l"(g + off), "r"(d), "r"(bytes) : "memory");
        else asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;" :: "l"(g + off), "r"(d), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (OP == 2) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); else asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      }
      off += bytes;
      if (off + bytes > span) off = 0;
    }
    t1 = clk();
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  r[blockIdx.x] = {t0, t1, smid(), 0};
}

// Operations on a barrier by all warps; OP is the place in SIGNALS of benchmarks/tensor/copies.py.
template <int OP> __global__ void mb(int iters, Rec *r, u32 *o) {
  u32 b = sb();
  if (threadIdx.x == 0) mbinit(b, OP == 4 ? blockDim.x : (1u << 20) - 1);
  __syncthreads();
  u64 t0, t1, st = 0;
  u32 x = 0, ph = 0;
  for (int rep = 0; rep < 2; rep++) {
    __syncthreads();
    t0 = clk();
    for (int i = 0; i < iters; i++) {
#pragma unroll
      for (int u = 0; u < 4; u++) {
        if (OP == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _,[%0];" :: "r"(b) : "memory");
        if (OP == 1 && (threadIdx.x & 31) == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _,[%0];" :: "r"(b) : "memory");
        if (OP == 2 && (threadIdx.x & 31) == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],0;" :: "r"(b) : "memory");
        if (OP == 3) asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p,[%1],1; selp.u32 %0,1,%0,p;}" : "+r"(x) : "r"(b) : "memory");
        if (OP == 4) { asm volatile("mbarrier.arrive.shared::cta.b64 _,[%0];" :: "r"(b) : "memory"); mbwait(b, ph); ph ^= 1; }
        if (OP == 5) { u64 s; asm volatile("mbarrier.arrive.shared::cta.b64 %0,[%1];" : "=l"(s) : "r"(b + (u32)(st & 0)) : "memory"); st ^= s; }
        if (OP == 6 && (threadIdx.x & 31) == 0) asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0],16;" :: "r"(b) : "memory");
        if (OP == 7) FX;
        if (OP == 8) asm volatile("fence.acq_rel.cta;" ::: "memory");
        if (OP == 9) { u32 p; asm volatile("{.reg .pred p; .reg .b32 q; elect.sync q|p,0xffffffff; selp.u32 %0,1,0,p;}" : "=r"(p)); x += p; }
        if (OP == 10) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      }
    }
    t1 = clk();
  }
  if ((threadIdx.x & 31) == 0) r[threadIdx.x / 32] = {t0, t1, smid(), 0};
  o[threadIdx.x] = x + (u32)st;
}

__device__ __forceinline__ u32 mapa(u32 a, u32 rk) { u32 q; asm volatile("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(q) : "r"(a), "r"(rk)); return q; }
__device__ __forceinline__ void csync() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ __forceinline__ u32 crank() { u32 q; asm volatile("mov.u32 %0,%%cluster_ctarank;" : "=r"(q)); return q; }
__device__ __forceinline__ u32 csize() { u32 q; asm volatile("mov.u32 %0,%%cluster_nctarank;" : "=r"(q)); return q; }

// Accesses to the block `dist` ranks further, and barriers; OP is the place in CLUSTERS of benchmarks/tensor/copies.py.
template <int OP> __global__ void cl(int iters, int dist, Rec *r, u32 *o) {
  u32 rk = crank(), n = csize(), peer = (rk + dist) % n;
  u32 b = sb();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) ((u32 *)smem)[i] = 0;
  if (threadIdx.x == 0) { mbinit(b, 1); mbinit(b + 8, 1); }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  csync();
  u32 rem = mapa(b + 1024, OP == 6 ? rk : peer);
  u64 t0 = 0, t1 = 0;
  u32 x = 0;
  for (int rep = 0; rep < 2; rep++) {
    csync();
    t0 = clk();
    if (OP == 4) for (int i = 0; i < iters; i++) csync();
    else if (OP == 5 || OP == 7) {
      if (threadIdx.x == 0 && rk < 2) {
        u32 pm = mapa(b, rk ^ 1), pd = mapa(b + 1024, rk ^ 1);
        for (int i = 0; i < iters; i++) {
          u32 ph = (rep * iters + i) & 1;
          if (rk == 0) {
            if (OP == 7) { mbexpect(b, 4); asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0],%1,[%2];" :: "r"(pd), "r"(i), "r"(pm) : "memory"); }
            else asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%0];" :: "r"(pm) : "memory");
            mbwait(b, ph);
          } else {
            if (OP == 7) mbexpect(b, 4);
            mbwait(b, ph);
            if (OP == 7) asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0],%1,[%2];" :: "r"(pd), "r"(i), "r"(pm) : "memory");
            else asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%0];" :: "r"(pm) : "memory");
          }
        }
      }
    } else for (int i = 0; i < iters; i++) {
#pragma unroll
      for (int u = 0; u < 4; u++) {
        if (OP == 0 || OP == 6) asm volatile("ld.shared::cluster.u32 %0,[%1];" : "=r"(x) : "r"(rem + x + (threadIdx.x & 31) * 4) : "memory");
        if (OP == 3) asm volatile("atom.shared::cluster.add.u32 %0,[%1],0;" : "=r"(x) : "r"(rem + x + (threadIdx.x & 31) * 4) : "memory");
        if (OP == 2) asm volatile("st.shared::cluster.u32 [%0],%1;" :: "r"(rem + threadIdx.x * 4), "r"(i) : "memory");
        if (OP == 8) { u32 a, b2, c, d; asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b2), "=r"(c), "=r"(d) : "r"(rem + (threadIdx.x * 16 & 8191)) : "memory"); x += a + b2 + c + d; }
        if (OP == 9) { u32 a; asm volatile("ld.shared::cluster.u32 %0,[%1];" : "=r"(a) : "r"(rem + threadIdx.x * 4) : "memory"); x += a; }
      }
    }
    t1 = clk();
    csync();
  }
  if (threadIdx.x % 32 == 0) r[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = {t0, t1, smid(), rk};
  o[blockIdx.x * blockDim.x + threadIdx.x] = x;
  csync();
}

// Rank 0 loads a box for the ranks of the mask, each of which waits; a barrier of the cluster before each.
__global__ void mc(const __grid_constant__ CUtensorMap m, int iters, int bytes, int mask, Rec *r) {
  u32 rk = crank();
  u32 b = sb(), d = b + 1024;
  if (threadIdx.x == 0) mbinit(b, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  csync();
  u64 t0, t1;
  u32 ph = 0;
  int y = (blockIdx.x / csize()) * 64;
  for (int rep = 0; rep < 2; rep++) {
    csync();
    t0 = clk();
    for (int i = 0; i < iters; i++) {
      if (threadIdx.x == 0 && (mask >> rk & 1)) mbexpect(b, bytes);
      csync();
      if (threadIdx.x == 0) {
        if (rk == 0) {
          if (mask == 1) ld2(d, b, &m, 0, y);
          else asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0],[%1,{%3,%4}],[%2],%5;"
                            :: "r"(d), "l"(&m), "r"(b), "r"(0), "r"(y), "h"((unsigned short)mask) : "memory");
        }
        if (mask >> rk & 1) mbwait(b, ph);
        ph ^= 1;
      }
      y = (y + 64) & 4095;
    }
    t1 = clk();
  }
  csync();
  if (threadIdx.x == 0) r[blockIdx.x] = {t0, t1, smid(), rk};
}

#define ACC64 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
#define C8(o) "+f"(d[o]), "+f"(d[o + 1]), "+f"(d[o + 2]), "+f"(d[o + 3]), "+f"(d[o + 4]), "+f"(d[o + 5]), "+f"(d[o + 6]), "+f"(d[o + 7])

// G warpgroups multiply, m64n128k16, eight in a group; the other warps load from shared memory, K times eight words.
template <int TA, int TB> __global__ void __launch_bounds__(512) wl(int iters, int G, int K, u64 da0, u64 db0, Rec *r, float *o) {
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) ((u32 *)smem)[i] = 0;
  FX;
  __syncthreads();
  int w = threadIdx.x / 32;
  u64 t0, t1;
  float d[64];
  for (int i = 0; i < 64; i++) d[i] = 0;
  u32 x = 0;
  if (w < 4 * G) {
    u64 lo = sb() >> 4, da = da0 + lo, db = db0 + lo;
    for (int rep = 0; rep < 2; rep++) {
      asm volatile("bar.sync 1,%0;" :: "r"(blockDim.x) : "memory");
      t0 = clk();
      for (int i = 0; i < iters; i++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int u = 0; u < 8; u++)
          asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " ACC64 ", %64, %65, 1,1,1,%66,%67;"
                       : C8(0), C8(8), C8(16), C8(24), C8(32), C8(40), C8(48), C8(56) : "l"(da), "l"(db), "n"(TA), "n"(TB) : "memory");
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
      }
      t1 = clk();
    }
  } else {
    u32 a = sb() + (threadIdx.x & 31) * 4;
    for (int rep = 0; rep < 2; rep++) {
      asm volatile("bar.sync 1,%0;" :: "r"(blockDim.x) : "memory");
      t0 = clk();
      for (int i = 0; i < K; i++) {
#pragma unroll
        for (int u = 0; u < 8; u++) { u32 q; asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(q) : "r"(a + 128 * u) : "memory"); x += q; }
      }
      t1 = clk();
    }
  }
  if (threadIdx.x % 32 == 0) r[w] = {t0, t1, smid(), (u32)w};
  float s = x;
  for (int i = 0; i < 64; i++) s += d[i];
  o[threadIdx.x] = s;
}

#define LOADS(R) template __global__ void tl<R>(const __grid_constant__ CUtensorMap, int, int, int, int, int, Rec *);
#define STORES(OP, W) template __global__ void ts<OP, W>(const __grid_constant__ CUtensorMap, int, int, int, int, int, Rec *);
#define BULK(OP) template __global__ void bk<OP>(char *, int, int, u64, Rec *);
#define SIGNAL(OP) template __global__ void mb<OP>(int, Rec *, u32 *);
#define CLUSTER(OP) template __global__ void cl<OP>(int, int, Rec *, u32 *);
#define PRODUCT(TA, TB) template __global__ void wl<TA, TB>(int, int, int, u64, u64, Rec *, float *);
LOADS(2) LOADS(3) STORES(0, 0) STORES(0, 1) STORES(1, 0)
BULK(0) BULK(1) BULK(2) BULK(3) BULK(4)
SIGNAL(0) SIGNAL(1) SIGNAL(2) SIGNAL(3) SIGNAL(4) SIGNAL(5) SIGNAL(6) SIGNAL(7) SIGNAL(8) SIGNAL(9) SIGNAL(10)
CLUSTER(0) CLUSTER(2) CLUSTER(3) CLUSTER(4) CLUSTER(5) CLUSTER(6) CLUSTER(7) CLUSTER(8) CLUSTER(9)
PRODUCT(0, 0) PRODUCT(0, 1) PRODUCT(1, 1) PRODUCT(1, 0)
