// Multiply-adds of some warps beside a chain of another instruction in others: whether an operand that is kept for reuse
// is still there when another warp has issued. The multiply-adds are edited and timed by tests/measured/reuse.py.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin reuse.cu    the base of the edited code (reuse.cubin.xz)
//
// A block of one SM: warps 0 to `chains` - 1 have the chain, warps 4 and up the multiply-adds.
#include "block.cuh"

struct LDS { static __device__ __forceinline__ void go(u32 &x) { asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x) :: "memory"); } };
struct MUFU { static __device__ __forceinline__ void go(u32 &x) { asm volatile("{.reg .f32 t; mov.b32 t, %0; rsqrt.approx.ftz.f32 t, t; mov.b32 %0, t;}" : "+r"(x)); } };
struct FADD { static __device__ __forceinline__ void go(u32 &x) { asm volatile("{.reg .f32 t; mov.b32 t, %0; add.rn.f32 t, t, t; mov.b32 %0, t;}" : "+r"(x)); } };
struct FFMA {
  typedef float Number;
  static __device__ __forceinline__ void go(float &x, float a, float b) { asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b)); }
};
struct DFMA {
  typedef double Number;
  static __device__ __forceinline__ void go(double &x, double a, double b) { asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b)); }
};

template <class ADD, class LINK>
__device__ __forceinline__ void body(Rec *rec, const double *in, double *sink, int rounds, int iterations, int chains) {
  int warp = threadIdx.x / 32;
  u32 base = (u32)__cvta_generic_to_shared(shared_words);
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) shared_words[i] = base + i * 4; // each word is its own address
  u32 x = base + threadIdx.x % 32 * 4;
  typename ADD::Number y[12];
#pragma unroll
  for (int k = 0; k < 12; k++) y[k] = in[threadIdx.x + k];
  i64 begin = 0, end = 0;
#pragma unroll 1
  for (int round = 0; round < 2; round++) { // the first one fetches the code
    if (__syncthreads_count(1) != (int)blockDim.x) __trap(); // a clock behind a plain barrier does not wait for it
    begin = clk();
    if (warp < chains) {
#pragma unroll 1
      for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int u = 0; u < 64; u++) LINK::go(x);
      }
    } else if (warp >= 4) {
#pragma unroll 1
      for (int i = 0; i < iterations; i++) {
#pragma unroll
        for (int u = 0; u < 240; u++) ADD::go(y[u % 12], y[(u + 1) % 12], y[(u + 2) % 12]);
      }
    }
    end = clk();
  }
  typename ADD::Number sum = 0;
#pragma unroll
  for (int k = 0; k < 12; k++) sum += y[k];
  if (threadIdx.x % 32 == 0) rec[warp] = {begin, end};
  sink[threadIdx.x] = sum + x;
}
#define KERNEL(ADD, LINK) \
  extern "C" __global__ void __launch_bounds__(1024) reuse_##ADD##_##LINK(Rec *rec, const double *in, double *sink, int rounds, \
                                                                          int iterations, int chains) { \
    body<ADD, LINK>(rec, in, sink, rounds, iterations, chains); \
  }
KERNEL(FFMA, LDS) KERNEL(FFMA, MUFU) KERNEL(FFMA, FADD) KERNEL(DFMA, LDS) KERNEL(DFMA, MUFU) KERNEL(DFMA, FADD)
