// Kernels whose lanes come apart to a barrier of the block; each notes at places T the time, the lanes that run, and the
// place. Each ran on an H200 with three inputs, by 64 threads (parted_bars.npz, 2026-11-29); nvcc 13, -arch=sm_90
// (parted_bars.cubin.xz). In parted_bars_alone.cubin.xz each WARPSYNC.ALL and BRA.DIV is a NOP that stalls 15 cycles: so
// lanes come to a BAR apart. Without notes: the chip hangs, or ends with an illegal instruction (715, `b_numbers`).
#define T(id) { unsigned _t; asm volatile("mov.u32 %0, %%clock;" : "=r"(_t) :: "memory"); unsigned _m; asm volatile("activemask.b32 %0;" : "=r"(_m) :: "memory"); g[(n * 3) * 64 + l] = _t; g[(n * 3 + 1) * 64 + l] = _m; g[(n * 3 + 2) * 64 + l] = id; n++; }
#define ARGS unsigned *g, const unsigned *c, unsigned k
#define BEGIN unsigned l = threadIdx.x, n = 0, x = c[l]; __shared__ volatile unsigned s[64]; s[l] = 0; __syncthreads();
#define LAST 1000 * 192
#define END T(99) g[LAST + l] = n; g[LAST + 64 + l] = x;
#define BAR asm volatile("barrier.sync 0;" ::: "memory");
#define SYNC asm volatile("bar.sync 0;" ::: "memory");
extern "C" {
__device__ __noinline__ unsigned fib(unsigned v, unsigned *g, unsigned l, unsigned &n) { T(1) if (v < 2) { return v; } unsigned a = fib(v - 1, g, l, n); T(2) a += fib(v - 2, g, l, n); T(3) return a; }
__device__ __noinline__ unsigned late(unsigned v, unsigned w, unsigned *g, unsigned l, unsigned &n) {
  if (v & 1) { for (unsigned i = 0; i < w; i++) __nanosleep(500); T(1) return v * 3; } T(2) if (v & 2) { T(3) return late(v >> 2, w, g, l, n); } return v + 7; }
// Out of calls, lanes come apart to one barrier.
__global__ void b_calls(ARGS) { BEGIN T(0) x = fib(x & 7, g, l, n); T(4) SYNC T(5) s[l] = x; SYNC x += s[63 - l]; END }
__global__ void b_late(ARGS) { BEGIN T(0) x = late(x, k, g, l, n); s[l] = x; T(4) BAR T(5) x += s[l ^ 1]; END }
// A barrier on each way, of each kind.
__global__ void b_both(ARGS) { BEGIN T(0) if (x & 1) { s[l] = x; T(1) BAR T(2) x += s[63 - l]; } else { s[l] = x * 3; T(3) BAR T(4) x ^= s[63 - l]; } END }
__global__ void b_both_aligned(ARGS) { BEGIN T(0) if (x & 1) { s[l] = x; T(1) SYNC T(2) x += s[63 - l]; } else { s[l] = x * 3; T(3) SYNC T(4) x ^= s[63 - l]; } END }
__global__ void b_three(ARGS) { BEGIN T(0) if (x & 1) { s[l] = x; T(1) BAR T(2) x += s[63 - l]; } else if (x & 2) { s[l] = x * 3; T(3) BAR T(4) x ^= s[63 - l]; } else { s[l] = x * 5; T(5) BAR T(6) x -= s[63 - l]; } END }
// One way has a barrier inside, the other comes to the one behind: four barriers each.
__global__ void b_loop(ARGS) { BEGIN T(0) unsigned m = x & 3, i;
#pragma unroll 1
  for (i = 0; i < m; i++) { s[l] = x; T(1) BAR x += s[l ^ 33] & 15; T(2) BAR }
#pragma unroll 1
  for (; i < 4; i++) { s[l] = x * 3; T(3) BAR x += s[l ^ 33] & 15; T(4) BAR } END }
// Some lanes exit; the others come.
__global__ void b_exit(ARGS) { BEGIN T(0) if (x & 1) { T(1) g[LAST + l] = n; g[LAST + 64 + l] = x; return; } s[l] = x; T(2) BAR T(3) x += s[63 - l]; if (x & 2) { T(4) g[LAST + l] = n; g[LAST + 64 + l] = x; return; } T(5) BAR END }
// How many: of the block, on two ways.
__global__ void b_count(ARGS) { BEGIN T(0) unsigned r, p = x >> 2 & 1;
  if (x & 1) { T(1) asm volatile("{.reg .pred q; setp.ne.u32 q, %1, 0; barrier.red.popc.u32 %0, 0, q;}" : "=r"(r) : "r"(p) : "memory"); T(2) x += r; }
  else { T(3) asm volatile("{.reg .pred q; setp.ne.u32 q, %1, 0; barrier.red.popc.u32 %0, 0, q;}" : "=r"(r) : "r"(p) : "memory"); T(4) x ^= r << 8; } END }
// Lanes spin until others of their warp, which come to the barrier first or later, have written.
__global__ void b_spin(ARGS) { BEGIN T(0) if (x & 1) { while (s[32 + (l & 31)] == 0 && s[0] == 0) {} T(1) BAR T(2) } else { __nanosleep(k * 1000); T(3) s[0] = 1; s[32] = 1; T(4) BAR T(5) } END }
// Would hang if a barrier waits for each thread: lanes spin until warp 1 has passed it.
__global__ void b_passed(ARGS) { BEGIN if (l >= 32) { T(0) BAR T(1) s[5] = 1; } else if (x & 1) { while (s[5] == 0) {} T(2) } else { T(3) BAR T(4) } END }
// Lanes at a collective while others of their mask are at the barrier.
__global__ void b_warpsync(ARGS) { BEGIN T(0) if (x & 1) { T(1) BAR T(2) __syncwarp(); T(3) } else { T(4) __syncwarp(); T(5) BAR T(6) } END }
// Different numbers, in two orders.
__global__ void b_numbers(ARGS) { BEGIN T(0) if (x & 1) { T(1) asm volatile("barrier.sync 1;" ::: "memory"); T(2) asm volatile("barrier.sync 2;" ::: "memory"); T(3) } else { T(4) asm volatile("barrier.sync 2;" ::: "memory"); T(5) asm volatile("barrier.sync 1;" ::: "memory"); T(6) } END }
// A barrier with a count of 64 threads, for which lanes come in parts.
__global__ void b_counted(ARGS) { BEGIN T(0) if (x & 1) { T(1) asm volatile("barrier.sync 3, 64;" ::: "memory"); T(2) } else { T(3) asm volatile("barrier.sync 3, 64;" ::: "memory"); T(4) } END }
// Lanes of warp 0 arrive on two ways; warp 1 waits.
__global__ void b_arrive(ARGS) { BEGIN T(0) if (l >= 32) { asm volatile("barrier.sync 3, 64;" ::: "memory"); T(1) x += s[l & 31]; } else if (x & 1) { s[l] = x; T(2) asm volatile("barrier.arrive 3, 64;" ::: "memory"); T(3) } else { __nanosleep(k * 1000); s[l] = x * 5; T(4) asm volatile("barrier.arrive 3, 64;" ::: "memory"); T(5) } END }
}
