// Loads whose lines are late, and stores, beside loads that hit the L1 or shared memory: what they take of the L1.
//
//   nvcc 13.0.88 compiles this for sm_90 (tag_stage.cubin.xz); tests/measured/tag_stage.py times it, and prints
//   h200_tag_stage.csv
//
// `at` holds each lane's place in bytes; behind them the bytes from round to round, from warp to warp, and from four
// warps to the next four; a mask that is zero, by which loads that hit move, so that none is taken out of the loop; and
// the lanes that store. Each warp notes its clock in rounds 8 and 56 of 64.
typedef unsigned u32;
__device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 load(const char *p) { u32 v; asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
template <int N> __device__ __forceinline__ void store(char *p, u32 v) {
  if (N == 1) asm volatile("st.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
  if (N == 2) asm volatile("st.global.v2.u32 [%0], {%1,%1};" :: "l"(p), "r"(v) : "memory");
  if (N == 4) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" :: "l"(p), "r"(v) : "memory");
}
__shared__ u32 words[1024];
__device__ __forceinline__ u32 load_shared(u32 offset) {
  u32 v, a = (u32)__cvta_generic_to_shared(words) + threadIdx.x % 32 * 4 + offset;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
#define FAR (8 << 20)   // bytes behind which loads of `stores` ask
#define STILL (16 << 20) // and those that hit
#define ROUNDS 64

// LATE loads, STEP bytes apart, then 16 that hit.
template <int LATE, int STEP> __device__ __forceinline__ void late(u32 *rec, char *p, const int *at, u32 *sink) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const char *still = p + STILL + lane * 4, *first = p + at[lane] + warp * at[33] + warp / 4 * at[34];
  u32 sum = 0, zero = at[35], step = at[32], begin = 0, end = 0;
  for (int k = 0; k < 16; k++) sum ^= load(still + k * 128);
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < ROUNDS; r++) {
    if (r == 8) begin = clk();
    if (r == ROUNDS - 8) end = clk();
    u32 came[LATE], hit[16];
    const char *stay = still + (r & zero), *from = first + r * step;
#pragma unroll
    for (int k = 0; k < LATE; k++) came[k] = load(from + k * STEP);
    stay += clk() & zero; // loads that hit come behind the others
#pragma unroll
    for (int k = 0; k < 16; k++) hit[k] = load(stay + k * 128);
#pragma unroll
    for (int k = 0; k < 16; k++) sum ^= hit[k];
#pragma unroll
    for (int k = 0; k < LATE; k++) sum ^= came[k];
  }
  if (lane == 0) { rec[warp * 2] = begin; rec[warp * 2 + 1] = end; }
  if (sum == 12345) sink[threadIdx.x] = sum;
}

// LATE loads, HITS that hit the L1 or (SHARED) shared memory, then STORES of N words a lane, 512 bytes apart.
template <int N, int STORES, int HITS, int LATE, int SHARED> __device__ __forceinline__ void stores(u32 *rec, char *p, const int *at, u32 *sink) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const char *still = p + STILL + lane * 4;
  char *first = p + at[lane] + warp * at[33] + warp / 4 * at[34];
  u32 sum = 0, zero = at[35], step = at[32], begin = 0, end = 0;
  const bool on = lane < at[36];
  for (int k = 0; k < HITS; k++) sum ^= load(still + k * 128);
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < ROUNDS; r++) {
    if (r == 8) begin = clk();
    if (r == ROUNDS - 8) end = clk();
    u32 came[LATE > 0 ? LATE : 1], hit[HITS > 0 ? HITS : 1];
    const char *stay = still + (r & zero);
    char *from = first + r * step;
#pragma unroll
    for (int k = 0; k < LATE; k++) came[k] = load(from + FAR + k * 4);
#pragma unroll
    for (int k = 0; k < HITS; k++) hit[k] = SHARED ? load_shared(k * 128 & 2047) : load(stay + k * 128);
#pragma unroll
    for (int k = 0; k < HITS; k++) sum ^= hit[k];
#pragma unroll
    for (int k = 0; k < LATE; k++) sum ^= came[k];
#pragma unroll
    for (int k = 0; k < STORES; k++) if (on) store<N>(from + k * 512, sum);
  }
  if (lane == 0) { rec[warp * 2] = begin; rec[warp * 2 + 1] = end; }
  if (sum == 12345) sink[threadIdx.x] = sum;
}
#define L(LATE, STEP) extern "C" __global__ void __launch_bounds__(1024) late##LATE##_##STEP(u32 *rec, char *p, const int *at, u32 *sink) { late<LATE, STEP>(rec, p, at, sink); }
L(1, 4) L(2, 4) L(4, 4) L(7, 32) L(4, 128)
#define S(N, T, H, M, SH) extern "C" __global__ void __launch_bounds__(1024) stores##N##_##T##_##H##_##M##_##SH(u32 *rec, char *p, const int *at, u32 *sink) { stores<N, T, H, M, SH>(rec, p, at, sink); }
S(1, 1, 16, 0, 0) S(1, 2, 16, 0, 0) S(1, 4, 16, 0, 0) S(1, 1, 8, 0, 0) S(1, 4, 0, 0, 0) S(1, 1, 0, 3, 0) S(1, 4, 0, 4, 0) S(1, 1, 16, 3, 0)
S(2, 1, 16, 0, 0) S(4, 1, 16, 0, 0) S(4, 2, 16, 0, 0) S(1, 1, 16, 0, 1) S(1, 4, 16, 0, 1) S(4, 1, 16, 0, 1)
