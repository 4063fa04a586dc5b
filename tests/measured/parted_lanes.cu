// Kernels that note, at places T of a program whose lanes part, the time, the lanes that run, and the place.
// Each ran on an H200 with three inputs (parted_lanes.npz); nvcc 13, -arch=sm_90 (parted_lanes.cubin.xz).
#define T(id) { unsigned _t; asm volatile("mov.u32 %0, %%clock;" : "=r"(_t) :: "memory"); unsigned _m; asm volatile("activemask.b32 %0;" : "=r"(_m) :: "memory"); g[(n * 3) * 32 + l] = _t; g[(n * 3 + 1) * 32 + l] = _m; g[(n * 3 + 2) * 32 + l] = id; n++; }
#define ARGS unsigned *g, const unsigned *c, unsigned k
#define BEGIN unsigned l = threadIdx.x & 31, n = 0, x = c[l];
#define END T(99) g[4000 * 96 + l] = n; g[4000 * 96 + 32 + l] = x;
extern "C" {
__device__ __noinline__ unsigned fib(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(1) if (v < 2) { return v; } unsigned a = fib(v - 1, g, l, n); T(2) a += fib(v - 2, g, l, n); T(3) return a; }
__global__ void r_fib(ARGS) { BEGIN T(0) x = fib(x & 7, g, l, n); END }
__device__ __noinline__ unsigned odd(unsigned v, unsigned *g, unsigned l, unsigned &n);
__device__ __noinline__ unsigned even(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(1) if (v == 0) return 1; if (v % 3 == 1) { T(2) return 1 - odd(v - 1, g, l, n); } unsigned r = odd(v - 1, g, l, n); T(3) return r; }
__device__ __noinline__ unsigned odd(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(4) if (v == 0) return 0; unsigned r = even(v - 1, g, l, n); T(5) return r; }
__global__ void r_mutual(ARGS) { BEGIN T(0) x = even(x & 15, g, l, n); END }
__global__ void early(ARGS) { BEGIN unsigned s = 0; T(0)
#pragma unroll 1
  for (unsigned j = 0; j < k; j++) { unsigned v = c[(j * 7 + l) & 31] & 15; T(1) if (v == 3) { T(2) return; } if (v == 5) { T(3) continue; } if (v == 11 && j > 3) { T(4) break; }
#pragma unroll 1
    for (unsigned m = 0; m < v; m++) { s += c[m]; T(5) if ((s & 63) == 9) goto out; if ((s & 7) == 1) break; } T(6) s ^= v; }
  out: x = s; END }
__global__ void nest(ARGS) { BEGIN unsigned s = l; T(0)
#pragma unroll 1
  for (unsigned r = 0; r < 12; r++) { unsigned v = (c[s & 31] & 31) + l; T(1) if (v % 3 == 0) { T(2) if (v % 5 == 0) break;
#pragma unroll 1
   for (unsigned m = 0; m < 6; m++) { s += c[m]; T(3) if (s % 7 == 0) break; if (s % 11 == 0) { s++; T(4) continue; } if (s > k * 64) goto done; } } else if (v % 4 == 1) { s += 3; T(5) continue; } s += v; T(6) if (s > 128 * k) break; }
  done: x = s; END }
__global__ void tab(ARGS) { BEGIN unsigned s = 0; T(0)
#pragma unroll 1
  for (unsigned j = 0; j < 10; j++) { switch (c[(j + l) & 31] & 7) { case 0: s++; T(1) continue; case 1: s *= 3; T(2) break; case 2: if (s > 5) { T(3) goto end; } s += c[j]; T(4) break; case 3: s ^= c[j + 1]; T(5) break; case 4: if (j > 5) { T(6) return; } break; case 5:
#pragma unroll 1
  for (unsigned m = 0; m < (s & 7); m++) { s -= c[m]; T(7) if ((s & 31) == 3) goto end; } break; case 6: s = c[s & 31]; T(8) break; default: s -= j; T(9) } s += 7; T(10) }
  end: x = s; END }
__global__ void brx4(ARGS) { BEGIN unsigned s = x & 7; T(0)
  switch (x & 7) { case 0: x += 1; T(1) break; case 1: x += 3; T(2) break; case 2: x += 5; T(3) break; case 3: x *= 7; T(4) break; case 4: x ^= 9; T(5) break; case 5: x += x * x; T(6) break; case 6: x = 1000 - x; T(7) break; case 7: x = x * 5 - 3; T(8) break; } END }
__device__ __noinline__ unsigned f0(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(10) return v + 1; }
__device__ __noinline__ unsigned f1(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(11) return v * v; }
__device__ __noinline__ unsigned f2(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(12) return v ^ 5; }
__device__ __noinline__ unsigned f3(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(13) if (v & 1) { T(14) v += f0(v, g, l, n); } T(15) return v - 3; }
typedef unsigned (*fp)(unsigned, unsigned *, unsigned, unsigned &);
__device__ fp table[4] = {f0, f1, f2, f3};
__global__ void ptr(ARGS) { BEGIN T(0)
#pragma unroll 1
  for (unsigned i = 0; i < 3; i++) { x = table[(x >> i) & 3](x, g, l, n); T(1) } END }
__global__ void callboth(ARGS) { BEGIN T(0) if (x & 1) { x = f3(x, g, l, n); T(1) } else { x = f3(x + 2, g, l, n) + f1(x, g, l, n); T(2) } T(3) END }
__global__ void warpboth(ARGS) { BEGIN T(0)
#pragma unroll 1
  for (unsigned i = 0; i < 3; i++) { if (x >> i & 1) { T(1) __syncwarp(); T(2) x += __shfl_sync(0xffffffff, x, 3); T(3) } else { T(4) x += 5; T(5) __syncwarp(); T(6) x ^= __shfl_sync(0xffffffff, x, 7); T(7) } } END }
__global__ void warppart(ARGS) { BEGIN T(0) if (l < 20) { if (x & 1) { T(1) x += __shfl_xor_sync(0xfffff, x, 1); T(2) } else { T(3) x -= __shfl_xor_sync(0xfffff, x, 1); T(4) } T(5) } else { T(6) x *= 3; if (x & 2) { T(7) x += __popc(__activemask()); } T(8) } END }
__global__ void syncs(ARGS) { BEGIN if (l >= k) return; T(0) if (x & 1) { x = x * x + 3; T(1) } T(2) if (l & 1) { T(3) x += __shfl_sync(0xaaaaaaaa, x, 5); T(4) } T(5) __syncwarp(); T(6) x += __shfl_xor_sync(0xffffffff, x, 1); T(7) END }
__global__ void ends(ARGS) { BEGIN T(0) if (x & 1) { T(1) x = x * 3; if (x & 2) { T(2) g[4000 * 96 + l] = n; return; } T(3) g[4000 * 96 + l] = n; return; } T(4) x += 1; if (x & 4) { T(5) x += 9; } END }
__global__ void deep(ARGS) { BEGIN T(0) if (x & 1) { T(1) if (x & 2) { T(2) if (x & 4) { T(3) x += 3; } else { T(4) x *= 5; } T(5) } else { T(6) if (x & 4) { T(7) x -= 1; } T(8) } T(9) } else { T(10) if (x & 8) { T(11) x ^= 77; } else { T(12) x += 1000; } T(13) } END }
__global__ void locks(ARGS) { BEGIN T(0) int *lock = (int *)(g + 4000 * 96 + 100);
#pragma unroll 1
  while (atomicCAS(lock, 0, 1) != 0) { T(1) } T(2) __threadfence(); atomicExch(lock, 0); END }
__global__ void yields(ARGS) { BEGIN T(0) volatile unsigned *f = g + 4000 * 96 + 200; if (x & 1) { T(1) while (f[0] < k) { T(2) } T(3) } else if (x & 2) { T(4) while (f[0] < k) { T(5) } T(6) } else { T(7) atomicAdd((unsigned *)f, 1u); T(8) } END }
__global__ void sleeps(ARGS) { BEGIN T(0) if (x & 1) { T(1) __nanosleep(2000); T(2) } else if (x & 2) { T(3) __nanosleep(500); T(4) if (x & 4) { T(5) } T(6) } else { T(7) } T(8) END }
}
