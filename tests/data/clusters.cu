// Kernels with clusters, for tests. nvcc -arch=sm_90 -cubin, or sm_100; nvcc 13.0.88
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using u32 = unsigned int;

// Each block adds up what its neighbour in the cluster has, adds to it, and overwrites it.
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(u32 *out, int iters) {
  extern __shared__ u32 s[];
  cg::cluster_group c = cg::this_cluster();
  u32 n = blockDim.x, t = threadIdx.x, x = 0;
  s[t] = blockIdx.x * 1000 + t;
  c.sync();
  u32 *p = c.map_shared_rank(s, (c.block_rank() + 1) % c.num_blocks());
  for (int i = 0; i < iters; i++) x += p[(t + i) % n];
  c.sync();
  atomicAdd(&p[t], x);
  c.sync();
  out[blockIdx.x * n + t] = s[t] + x;
  c.sync();
  p[t] = 5 + t;
  c.sync();
  out[blockIdx.x * n + t] += 7 * s[t];
}

// What a block is told of its cluster; 16 numbers a block.
#define TELL(name) { u32 v; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); out[k++] = v; }
extern "C" __global__ void told(u32 *out) {
  u32 b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int k = 16 * b;
  TELL("cluster_ctarank") TELL("cluster_nctarank")
  TELL("clusterid.x") TELL("clusterid.y") TELL("clusterid.z")
  TELL("nclusterid.x") TELL("nclusterid.y") TELL("nclusterid.z")
  TELL("cluster_ctaid.x") TELL("cluster_ctaid.y") TELL("cluster_ctaid.z")
  TELL("cluster_nctaid.x") TELL("cluster_nctaid.y") TELL("cluster_nctaid.z")
  u32 e;
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(e));
  out[k++] = e;
}

// A histogram over the shared memory of a cluster of any size: bin b lies in block b % blocks.
extern "C" __global__ void histogram(const u32 *in, u32 *out, int each, int bins) {
  extern __shared__ u32 s[];
  cg::cluster_group c = cg::this_cluster();
  u32 n = c.num_blocks(), r = c.block_rank(), own = bins / n;
  for (u32 i = threadIdx.x; i < own; i += blockDim.x) s[i] = 0;
  c.sync();
  for (u32 i = threadIdx.x; i < each; i += blockDim.x) {
    u32 b = in[blockIdx.x * each + i] % bins;
    atomicAdd(c.map_shared_rank(s, b % n) + b / n, 1u);
  }
  c.sync();
  u32 first = blockIdx.x / n * bins;
  for (u32 i = threadIdx.x; i < own; i += blockDim.x) out[first + i * n + r] = s[i];
}

// Widths: bytes, halves, pairs and quads of a neighbour; exchanges and swaps there.
extern "C" __global__ void __cluster_dims__(2, 1, 1) widths(u32 *out) {
  extern __shared__ uint4 q[];
  cg::cluster_group c = cg::this_cluster();
  u32 t = threadIdx.x, b = blockIdx.x, *o = out + (b * blockDim.x + t) * 8;
  u32 k = (b + 1) * 0x01020304u * (t + 1);
  q[t] = make_uint4(k, k + 1, k + 2, k + 3);
  c.sync();
  uint4 *p = c.map_shared_rank(q, c.block_rank() ^ 1) + t;
  uint4 v = *p;
  uint2 w = *(uint2 *)p;
  o[0] = v.x ^ v.y ^ v.z ^ v.w;
  o[1] = w.x + w.y;
  o[2] = ((unsigned char *)p)[t % 16];
  o[3] = ((unsigned short *)p)[t % 8];
  c.sync();
  o[4] = atomicExch(&p->x, t);
  o[5] = atomicCAS(&p->y, t % 2 ? v.y : ~v.y, t + 100);
  ((unsigned char *)p)[8] = 0xAB;
  ((unsigned short *)p)[7] = 0xCDEF;
  c.sync();
  o[6] = q[t].x + q[t].y;
  o[7] = q[t].z + q[t].w;
}

// Warps that exit count as arrived: of block 0 all but warp 0 leave; block 1 waits for it.
extern "C" __global__ void __cluster_dims__(2, 1, 1) leaves(u32 *out, int late) {
  extern __shared__ u32 s[];
  cg::cluster_group c = cg::this_cluster();
  if (c.block_rank() == 0 && threadIdx.x >= 32) return;
  if (c.block_rank() == 0) { u32 x = threadIdx.x; for (int i = 0; i < late; i++) x = x * 3 + 1; c.map_shared_rank(s, 1)[threadIdx.x] = x; }
  c.sync();
  if (c.block_rank() == 1) out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x % 32];
}

// Of even blocks all warps but the first wait at a barrier that is for one more: they never come to the cluster's.
extern "C" __global__ void __cluster_dims__(2, 1, 1) stuck() {
  if (blockIdx.x % 2 == 0 && threadIdx.x >= 32) asm volatile("bar.sync 1, 96;");
  cg::this_cluster().sync();
}

// Barriers of clusters in a loop, without fences.
extern "C" __global__ void loops(int iters) {
  for (int i = 0; i < iters; i++)
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Chains of accesses to the next block's shared memory: loads, additions. The clock is kept.
extern "C" __global__ void chains(u32 *out, int iters, int atomics) {
  extern __shared__ u32 s[];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = 0;
  c.sync();
  u32 *p = c.map_shared_rank(s, (c.block_rank() + 1) % c.num_blocks()) + threadIdx.x % 32, x = 0;
  u32 t = clock();
  if (atomics) for (int i = 0; i < iters; i++) x = atomicAdd(p + x, 0u);
  else for (int i = 0; i < iters; i++) x = *(volatile u32 *)(p + x);
  t = clock() - t;
  c.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = t + x;
}
