// What generated programs call, in plain C for both compilers; device.h and host.h have what differs.
#pragma once
typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef short i16;
typedef unsigned u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
typedef unsigned __int128 u128; typedef __int128 i128;
#ifdef __CUDACC__
#include "device.h"
#else
#include "host.h"
#endif

struct S { u32 a; i32 b; double d; float f; u8 c[5]; u16 h; u64 q; u32 w[4]; };  // a parameter by value
struct P { u32 a; u64 b; float c; };                                            // what functions return
__constant__ u32 cst[16] = {1u, 0u, 0xffffffffu, 17u, 1000u, 0x80000000u, 3u, 5u,
                            7u, 11u, 0x3f800000u, 0x7f800000u, 0xff800001u, 8u, 9u, 123456789u};

// A NaN's bits are the same everywhere.
OP u32 fb(float x) { return x != x ? 0x7fffffffu : __float_as_uint(x); }
OP u64 db(double x) { return x != x ? 0x7fffffffffffffffull : (u64)__double_as_longlong(x); }
OP u32 hb(hh x) { u32 v = __half_as_ushort(x); return (v & 0x7fffu) > 0x7c00u ? 0x7fffu : v; }
OP u32 bb_(bb x) { u32 v = __bfloat16_as_ushort(x); return (v & 0x7fffu) > 0x7f80u ? 0x7fffu : v; }
OP u32 pb(h2 x) { return hb(__low2half(x)) | hb(__high2half(x)) << 16; }
OP u32 rb(b2 x) { return bb_(__low2bfloat16(x)) | bb_(__high2bfloat16(x)) << 16; }
OP float bf(u32 x) { return __uint_as_float(x); }
OP double bd(u64 x) { return __longlong_as_double((i64)x); }
OP hh bh(u32 x) { return __ushort_as_half((u16)x); }
OP bb bB(u32 x) { return __ushort_as_bfloat16((u16)x); }
OP h2 bp(u32 x) { return __halves2half2(bh(x), bh(x >> 16)); }
OP b2 br(u32 x) { return __halves2bfloat162(bB(x), bB(x >> 16)); }

// Signed arithmetic that wraps, and quotients for every divisor.
OP i32 iadd(i32 a, i32 b) { return (i32)((u32)a + (u32)b); }
OP i32 isub(i32 a, i32 b) { return (i32)((u32)a - (u32)b); }
OP i32 imul(i32 a, i32 b) { return (i32)((u32)a * (u32)b); }
OP i32 ineg(i32 a) { return (i32)(0u - (u32)a); }
OP i32 iabs(i32 a) { return a < 0 ? ineg(a) : a; }
OP i32 idiv_(i32 a, i32 b) { return b == 0 ? a : b == -1 ? ineg(a) : a / b; }
OP i32 irem(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
OP i32 ishl(i32 a, u32 n) { return (i32)((u32)a << (n & 31u)); }
OP i64 ladd(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
OP i64 lsub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
OP i64 lmul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
OP i64 lneg(i64 a) { return (i64)(0ull - (u64)a); }
OP i64 ldiv_(i64 a, i64 b) { return b == 0 ? a : b == -1 ? lneg(a) : a / b; }
OP i64 lrem(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
OP i64 lshl(i64 a, u32 n) { return (i64)((u64)a << (n & 63u)); }
OP u64 mul128(u64 a, u64 b, u32 n) { return (u64)(((u128)a * b) >> (n & 127u)); }
OP u64 add128(u64 a, u64 b, u64 c, u64 d) { return (u64)(((((u128)a << 64) | unknown(b)) + (((u128)c << 64) | d)) >> 64); }
OP u64 sub128(u64 a, u64 b, u64 c, u64 d) { return (u64)(((((u128)a << 64) | b) - (((u128)c << 64) | d)) >> 64); }
OP i64 sar128(i64 a, u64 b, u32 n) { return (i64)((i128)(((u128)(u64)a << 64) | b) >> (n & 127u)); }
OP u64 rot64(u64 a, u32 n) { return (a << (n & 63u)) | (a >> ((64u - n) & 63u)); }
OP u32 rot32(u32 a, u32 n) { return (a << (n & 31u)) | (a >> ((32u - n) & 31u)); }
OP u16 rot16(u16 a, u32 n) { return (u16)((a << (n & 15u)) | (a >> ((16u - n) & 15u))); }
OP u32 part(u32 a, u32 at, u32 n) { return (a >> (at & 31u)) & ((1u << (n & 15u)) - 1u); }
template <class T> OP T mn(T a, T b) { return a < b ? a : b; }
template <class T> OP T mx(T a, T b) { return a > b ? a : b; }

// Which zero a minimum of two gives is not said.
OP float fmn(float a, float b) { return a == b ? a : fminf(a, b); }
OP float fmx(float a, float b) { return a == b ? a : fmaxf(a, b); }
OP double dmn(double a, double b) { return a == b ? a : fmin(a, b); }
OP double dmx(double a, double b) { return a == b ? a : fmax(a, b); }
OP float fscale(float a, i32 n) { return ldexpf(a, n % 300); }
OP double dscale(double a, i32 n) { return ldexp(a, n % 2200); }
// The sign of a NaN is not the same on both.
OP float fsign(float a, float b) { return copysignf(a, isnan(b) ? 1.0f : b); }
OP double dsign(double a, double b) { return copysign(a, isnan(b) ? 1.0 : b); }
OP u32 fclass(float x) { return (isnan(x) ? 1u : 0u) | (isinf(x) ? 2u : 0u) | (signbit(x) && !isnan(x) ? 4u : 0u); }
OP u32 dclass(double x) { return (isnan(x) ? 1u : 0u) | (isinf(x) ? 2u : 0u) | (signbit(x) && !isnan(x) ? 4u : 0u); }
OP u32 forder(float a, float b) { return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (!(a >= b)) << 4; }
OP u32 dorder(double a, double b) { return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (!(a > b)) << 4; }
OP u32 horder(hh a, hh b) { return __hlt(a, b) | __hle(a, b) << 1 | __heq(a, b) << 2 | __hltu(a, b) << 3 | __hneu(a, b) << 4 | __hgeu(a, b) << 5; }
OP u32 border(bb a, bb b) { return __hlt(a, b) | __hle(a, b) << 1 | __heq(a, b) << 2 | __hltu(a, b) << 3 | __hneu(a, b) << 4 | __hgeu(a, b) << 5; }
OP u32 porder(h2 a, h2 b) { return (__hlt2_mask(a, b) & 0x10001u) | (__hgeu2_mask(a, b) & 0x20002u) | (__heq2_mask(a, b) & 0x40004u); }
OP hh hsel(hh a, hh b, u32 n) { return n & 1u ? a : b; }

// A select of four parts of one word, whose index is known at run time only.
OP u32 byte_of(u32 a, u32 n) { return (a >> ((n & 3u) * 8u)) & 255u; }
OP i32 sbyte(u32 a) { return (i32)(i8)a; }
OP i32 shalf(u32 a) { return (i32)(i16)a; }
OP u32 join(u32 a, u32 b) { return (a & 0xffffu) | b << 16; }
OP u32 vibmax(i32 a, i32 b) { bool p; i32 r = __vibmax_s32(a, b, &p); return (u32)r + (p ? 77u : 0u); }
OP u32 vibmin2(u32 a, u32 b) { bool p, q; u32 r = __vibmin_s16x2(a, unknown(b), &p, &q); return r + (p ? 77u : 0u) + (q ? 1000u : 0u); }

// Lanes of a mask.
OP u32 pick(u32 m, u32 n) { u32 k = n % (u32)__popc(m); for (u32 z = 0; z < k; ++z) m &= m - 1u; return (u32)__ffs((i32)m) - 1u; }
#define SAVE() do { u32 *o = out + 40u * g; \
  o[0] = u0; o[1] = u1; o[2] = u2; o[3] = u3; o[4] = (u32)i0; o[5] = (u32)i1; o[6] = (u32)i2; \
  *(u64 *)(o + 8) = q0; *(u64 *)(o + 10) = q1; *(u64 *)(o + 12) = (u64)l0; *(u64 *)(o + 14) = (u64)l1; \
  o[16] = fb(f0); o[17] = fb(f1); o[18] = fb(f2); *(u64 *)(o + 20) = db(d0); *(u64 *)(o + 22) = db(d1); \
  o[24] = hb(h0); o[25] = hb(h1); o[26] = bb_(b0); o[27] = bb_(b1); o[28] = pb(p0); o[29] = pb(p1); o[30] = rb(r0); o[31] = rb(r1); \
  u32 s_ = 0; for (int z = 0; z < 8; ++z) s_ = s_ * 31u + la[z]; o[32] = s_; o[33] = spriv[2u * t]; o[34] = spriv[2u * t + 1u]; o[35] = (u32)qa[u0 & 3u]; o[36] = ba[u1 & 15u]; } while (0)

// What every kernel begins with: a block of N threads, whose warps have all their lanes, or the last fewer.
#define HEAD(N) \
  const u32 T = N##u; \
  __shared__ u32 sh[N], spriv[2 * N], wsh[N], sat[8]; __shared__ u64 sq[N]; __shared__ u8 sb[N]; \
  __shared__ u16 ss[N]; __shared__ float sf[N]; __shared__ double sd[N]; __shared__ uint4 sv[N]; \
  const u32 t = threadIdx.y * blockDim.x + threadIdx.x, lane = t & 31u; \
  const u32 g = blockIdx.x * blockDim.x * blockDim.y + t; \
  u32 m = N % 32 == 0 || T - (t & ~31u) >= 32u ? ~0u : (1u << (T & 31u)) - 1u; \
  u32 u0 = in[(g * 13u) & 1023u], u1 = in[(g * 7u + 5u) & 1023u], u2 = t * 2654435761u, u3 = s.a; \
  spriv[2u * t] = u0; spriv[2u * t + 1u] = u1; \
  VARIABLES
#define VARIABLES \
  i32 i0 = (i32)in[(u0 + 100u) & 1023u], i1 = (i32)t - 20, i2 = s.b; \
  u64 q0 = ((u64)u0 << 32) | u1, q1 = s.q; i64 l0 = (i64)q0 >> 7, l1 = (i64)i0; \
  float f0 = bf(in[(u1 + 300u) & 1023u]), f1 = (float)i1 * 0.37f, f2 = s.f; double d0 = (double)f1 * 1.7, d1 = s.d; \
  hh h0 = bh(u0), h1 = __float2half_rn(f1); bb b0 = bB(u1), b1 = __float2bfloat16_rn(f1); \
  h2 p0 = bp(u0), p1 = bp(u1); b2 r0 = br(u0), r1 = br(u1); \
  u32 la[8]; for (u32 z = 0; z < 8u; ++z) la[z] = u0 + z * 77u; \
  u64 qa[4]; for (u32 z = 0; z < 4u; ++z) qa[z] = q0 * z; \
  u8 ba[16]; for (u32 z = 0; z < 16u; ++z) ba[z] = (u8)(u1 >> z);

// New operands for a survey of operators, and its results in a word.
#define NEXT() (at += 11u, in[(at * 5u + (at >> 10)) & 1023u])
#define NEW() do { \
  u0 = NEXT(); u1 = NEXT(); u2 = NEXT(); u3 = NEXT(); i0 = (i32)NEXT(); i1 = (i32)NEXT(); i2 = (i32)NEXT(); \
  q0 = (u64)NEXT() << 32; q0 |= NEXT(); q1 = NEXT(); l0 = (i64)((u64)NEXT() << 32); l0 |= NEXT(); l1 = (i32)NEXT(); \
  f0 = bf(NEXT()); f1 = bf(NEXT()); f2 = (float)(i32)NEXT(); d0 = bd(q0 ^ (u64)NEXT() << 20); d1 = (double)bf(NEXT()); \
  h0 = bh(NEXT()); h1 = bh(NEXT()); b0 = bB(NEXT()); b1 = bB(NEXT() >> 16); \
  p0 = bp(NEXT()); p1 = bp(NEXT()); r0 = br(NEXT()); r1 = br(NEXT()); } while (0)
OP u32 fold(u64 x) { return (u32)x ^ (u32)(x >> 32) * 31u; }
