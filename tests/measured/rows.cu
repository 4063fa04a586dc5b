// Loads that hit the L1, whose lanes ask for words in rows that begin anywhere, in several rows, strided and at random.
//
//   nvcc 13.0.88 compiles this for sm_90 (rows.cubin.xz); tests/measured/rows.py times it, and prints h200_rows.csv
//
// Each round has eight loads so many bytes apart. `at` holds each lane's place in bytes, and behind them a mask that is
// zero: rounds move by its bits, so that no load is taken out of the loop.
typedef unsigned u32;
typedef long long i64;
__device__ __forceinline__ i64 clk() { i64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory"); return t; }
template <int N> struct Words;
template <> struct Words<1> { u32 v[1]; __device__ void load(const char *p) { asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[0]) : "l"(p) : "memory"); } };
template <> struct Words<2> { u32 v[2]; __device__ void load(const char *p) { asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "l"(p) : "memory"); } };
template <> struct Words<4> { u32 v[4]; __device__ void load(const char *p) { asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(p) : "memory"); } };
template <int N, int STEP> __device__ __forceinline__ void timed(i64 *rec, const char *p, const int *at, u32 *sink, int rounds) {
  const char *first = p + at[threadIdx.x % 32];
  u32 sum = 0, moves = at[32];
  for (int pass = 0; pass < 2; pass++) { // the first one brings the lines
    __syncthreads();
    i64 begin = clk();
#pragma unroll 1
    for (int r = 0; r < (pass ? rounds : 2); r++) {
      Words<N> got[8];
      const char *from = first + (r & moves);
#pragma unroll
      for (int k = 0; k < 8; k++) got[k].load(from + k * STEP);
#pragma unroll
      for (int k = 0; k < 8; k++)
#pragma unroll
        for (int j = 0; j < N; j++) sum ^= got[k].v[j];
    }
    asm volatile("" : "+r"(sum) :: "memory");
    i64 end = clk();
    if (threadIdx.x % 32 == 0) { rec[threadIdx.x / 32 * 2] = begin; rec[threadIdx.x / 32 * 2 + 1] = end; }
  }
  sink[threadIdx.x] = sum;
}
#define LOADS(N, STEP) extern "C" __global__ void __launch_bounds__(1024) load##N##_##STEP(i64 *rec, const char *p, const int *at, u32 *sink, int rounds) { timed<N, STEP>(rec, p, at, sink, rounds); }
LOADS(1, 4) LOADS(1, 128) LOADS(2, 8) LOADS(2, 128) LOADS(4, 16) LOADS(4, 128)
