// Pairs of singles and halves with singles: nvcc 13.0 -cubin -arch=sm_100 (pairs), and -arch=sm_120 (mixed)
#include <cuda_runtime.h>
#if __CUDA_ARCH__ == 1000
extern "C" __global__ void pairs(const float2 *x, float2 *y, float s, float2 p) {
    int i = threadIdx.x;
    float2 a = x[i], b = x[i + 32], c = x[i + 64];
    y[i] = __fmul2_rn(a, make_float2(2.5f, 3.5f));
    y[i + 32] = __ffma2_rn(a, b, make_float2(2.5f, 2.5f));
    y[i + 64] = __ffma2_rn(a, p, c);
    y[i + 96] = __ffma2_rn(a, make_float2(s, s), make_float2(0, 0));
    y[i + 128] = __fadd2_rn(make_float2(a.y, a.x), b);
    y[i + 160] = __ffma2_rn(make_float2(a.x, a.x), b, make_float2(-c.x, -c.y));
    y[i + 192] = __ffma2_rn(make_float2(a.y, a.y), b, make_float2(c.y, c.y));
    y[i + 224] = __fmul2_rn(make_float2(a.x, -a.y), b);
    y[i + 256] = __fadd2_rn(make_float2(fabsf(a.x), fabsf(a.y)), make_float2(1, 1));
    y[i + 288] = __ffma2_rn(p, make_float2(s, s), c);
    y[i + 320] = __ffma2_rn(make_float2(-a.x, a.y), make_float2(-b.y, -b.x), c);
    y[i + 352] = __fadd2_rn(a, make_float2(-b.x, -b.y));
}
#else
typedef unsigned short us;
extern "C" __global__ void mixed(const unsigned *h, const float *x, float *y) {
    int i = threadIdx.x;
    us a, b, e, g;
    asm("mov.b32 {%0,%1},%2;" : "=h"(a), "=h"(b) : "r"(h[i]));
    asm("mov.b32 {%0,%1},%2;" : "=h"(e), "=h"(g) : "r"(h[i + 32]));
    float c = x[i], d;
#define ADD(k, S, m, n) asm volatile(S " %0,%1,%2;" : "=f"(d) : "h"(m), "f"(n)); y[i + 32 * k] = d;
#define FMA(k, S, m, w, n) asm volatile(S " %0,%1,%2,%3;" : "=f"(d) : "h"(m), "h"(w), "f"(n)); y[i + 32 * k] = d;
    ADD(0, "add.f32.f16", b, c)
    ADD(1, "sub.f32.f16", b, c)
    ADD(2, "sub.rm.f32.bf16", a, c)
    ADD(3, "add.f32.f16", a, fabsf(c))
    FMA(4, "fma.rn.f32.f16", b, e, c)
    FMA(5, "fma.rn.sat.f32.f16", a, g, c)
    FMA(6, "fma.rz.f32.bf16", b, g, -c)
}
#endif
