// How long 64-bit products (IMAD.WIDE, IMAD.HI) and other arithmetic keep their pipes, alone and in mixes.
// nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 products.cu; products.cubin.xz is the same with -cubin.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned int u32;
typedef long long i64;
struct Rec { i64 begin, end; };
__constant__ float taps[64];
__device__ __forceinline__ i64 clk() { i64 c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory"); return c; }
#define HALVES "mov.b64 {l, h}, t; xor.b32 %0, l, h;}"
#define BOTH "{.reg .s64 t; .reg .s32 l, h; "
#define WIDE(k) asm volatile(BOTH "mad.wide.s32 t, %0, %1, %2; " HALVES : "+r"(x[k]) : "r"(bb), "l"(vv));  // and a LOP3
#define WIDEU(k) asm volatile(BOTH "mad.wide.u32 t, %0, %1, %2; " HALVES : "+r"(x[k]) : "r"(bb), "l"(vv));
#define WIDE4(k) asm volatile(BOTH "mad.wide.s32 t, %0, 12, %1; " HALVES : "+r"(x[k]) : "l"(vv));
#define IMAD(k) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(y[k]) : "r"(a), "r"(b));
#define IMADN(k) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(y[k]) : "r"(n), "r"(b));
#define HI(k) asm volatile("mad.hi.s32 %0, %0, %1, %2;" : "+r"(y[k]) : "r"(a), "r"(b));
#define FFMA(k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[k]) : "f"(g), "f"(h));
#define FFMAC(k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[k]) : "f"(taps[5]), "f"(h));
#define MIN(k) asm volatile("min.s32 %0, %0, %1;" : "+r"(u[k]) : "r"(a));
#define ADDMAX(k) asm volatile("{.reg .s32 t; add.s32 t, %0, -3; max.s32 %0, t, 0;}" : "+r"(u[k]));
#define ADD(k) asm volatile("add.s32 %0, %0, %1;" : "+r"(u[k]) : "r"(a));
#define XOR(k) asm volatile("xor.b32 %0, %0, %1;" : "+r"(u[k]) : "r"(a));
#define ADD64(k) asm volatile("add.s64 %0, %0, %1;" : "+l"(w[k]) : "l"(v));
#define ALL(X) X(0) X(1) X(2) X(3)
#define TWO(X, Y) X(0) Y(0) X(1) Y(1) X(2) Y(2) X(3) Y(3)
#define BODY(name, work) extern "C" __global__ void __launch_bounds__(1024) name(Rec *rec, int rounds, int a, int b, int n, float g, float h, i64 v) { \
  i64 w[4], vv = v + threadIdx.x; int bb = b + threadIdx.x; int x[4], y[4], u[4]; float f[4]; \
  for (int k = 0; k < 4; k++) w[k] = x[k] = y[k] = u[k] = threadIdx.x + k, f[k] = k; \
  __syncthreads(); i64 begin = clk(); \
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) { work work work work work work work work } \
  i64 end = clk(); i64 s = 0; for (int k = 0; k < 4; k++) s += w[k] + x[k] + y[k] + u[k] + (int)f[k]; \
  if (threadIdx.x % 32 == 0) { Rec &q = rec[(blockIdx.x * blockDim.x + threadIdx.x) / 32]; q.begin = begin; q.end = end + (s == 12345); } }
#define LIST(X) X(wide, ALL(WIDE), 4) X(wide_u, ALL(WIDEU), 4) X(wide_4, ALL(WIDE4), 4) X(imad, ALL(IMAD), 4) X(imad_n, ALL(IMADN), 4) X(hi, ALL(HI), 4) \
  X(ffma, ALL(FFMA), 4) X(ffma_c, ALL(FFMAC), 4) X(min, ALL(MIN), 4) X(add_max, ALL(ADDMAX), 4) X(add, ALL(ADD), 4) X(add_64, ALL(ADD64), 4) \
  X(wide_ffma, TWO(WIDE, FFMA), 8) X(wide_imad, TWO(WIDE, IMAD), 8) X(wide_min, TWO(WIDE, MIN), 8) X(wide_hi, TWO(WIDE, HI), 8) X(wide_xor, TWO(WIDE, XOR), 8) \
  X(imad_ffma, TWO(IMAD, FFMA), 8) X(imad_n_ffma, TWO(IMADN, FFMA), 8) X(imad_min, TWO(IMAD, MIN), 8) X(imad_n_min, TWO(IMADN, MIN), 8) X(ffma_min, TWO(FFMA, MIN), 8) X(ffma_c_min, TWO(FFMAC, MIN), 8) X(hi_ffma, TWO(HI, FFMA), 8) \
  X(conv, TWO(WIDE4, IMADN) TWO(FFMAC, ADDMAX), 16) X(conv_2, TWO(WIDE4, IMADN) TWO(FFMA, MIN), 16) \
  X(wide_1, WIDE(0), 1) X(wide_4_1, WIDE4(0), 1) X(hi_1, HI(0), 1)
#define DEFINE(name, work, each) BODY(k_##name, work)
LIST(DEFINE)
typedef void (*F)(Rec *, int, int, int, int, float, float, i64);
static void check(cudaError_t e) { if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } }
int main() {
  Rec *rec; check(cudaMallocManaged(&rec, 1 << 20));
  struct { const char *name; F f; int each; } all[] = {
#define ROW(name, work, each) {#name, k_##name, each},
    LIST(ROW)
  };
  printf("kernel,each,warps,few,many\n");  // cycles of 16 and 80 rounds of 8 x each instructions, of all warps of an SM
  for (auto &k : all) for (int warps : {1, 4, 8, 16, 32}) {
    double found[2]; int i = 0;
    for (int rounds : {16, 80}) {
      std::vector<double> times;
      for (int t = 0; t < 5; t++) {
        k.f<<<1, 32 * warps>>>(rec, rounds, 3, 5, 7, 1.5f, 0.5f, 9); check(cudaDeviceSynchronize());
        i64 b = rec[0].begin, e = rec[0].end;
        for (int w = 0; w < warps; w++) b = std::min(b, rec[w].begin), e = std::max(e, rec[w].end);
        times.push_back(e - b);
      }
      std::sort(times.begin(), times.end()); found[i++] = times[2];
    }
    printf("%s,%d,%d,%.0f,%.0f\n", k.name, k.each, warps, found[0], found[1]);
  }
}
