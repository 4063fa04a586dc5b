// CUDA's integer functions for g++, by their definitions; the lanes of a block are in host_lanes.h.
#pragma once
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "host_lanes.h"
#define OP static inline
#define FN static __attribute__((noinline))
#define __global__
#define __device__
#define __constant__ static const
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
using std::isnan; using std::isinf; using std::signbit;
template <class... T> u32 SAID(const char *, T...) { return sizeof...(T); }  // what CUDA's printf returns
struct uint2 { u32 x, y; }; struct alignas(16) uint4 { u32 x, y, z, w; };
template <class T> OP T unknown(T a) { return a; }
OP uint2 make_uint2(u32 a, u32 b) { return {a, b}; }
OP uint4 make_uint4(u32 a, u32 b, u32 c, u32 d) { return {a, b, c, d}; }
template <class T, class F> OP T bits(F x) { T r; static_assert(sizeof(T) == sizeof(F)); memcpy(&r, &x, sizeof r); return r; }
OP u32 __float_as_uint(float x) { return bits<u32>(x); }
OP float __uint_as_float(u32 x) { return bits<float>(x); }
OP i64 __double_as_longlong(double x) { return bits<i64>(x); }
OP double __longlong_as_double(i64 x) { return bits<double>(x); }

// By IEEE's minNum, signalling NaNs too, which the C library treats otherwise.
template <class T> OP T least(T a, T b) { return a != a ? b : b != b || a < b ? a : b; }
template <class T> OP T most(T a, T b) { return a != a ? b : b != b || a > b ? a : b; }
#define fminf least<float>
#define fmaxf most<float>
#define fmin least<double>
#define fmax most<double>

template <class T> OP T bound(i64 x, T least, T most) { return x < (i64)least ? least : x > (i64)most ? most : (T)x; }
OP i32 __clz(i32 x) { return x ? __builtin_clz((u32)x) : 32; }
OP i32 __clzll(i64 x) { return x ? __builtin_clzll((u64)x) : 64; }
OP i32 __ffs(i32 x) { return __builtin_ffs(x); }
OP i32 __ffsll(i64 x) { return __builtin_ffsll(x); }
OP i32 __popc(u32 x) { return __builtin_popcount(x); }
OP i32 __popcll(u64 x) { return __builtin_popcountll(x); }
OP u32 __brev(u32 x) { u32 r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i); return r; }
OP u64 __brevll(u64 x) { return (u64)__brev((u32)x) << 32 | __brev((u32)(x >> 32)); }
OP u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
OP i32 __mulhi(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
OP u64 __umul64hi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
OP i64 __mul64hi(i64 a, i64 b) { return (i64)((i128)a * b >> 64); }
OP u32 __umul24(u32 a, u32 b) { return (a & 0xffffffu) * (b & 0xffffffu); }
OP i32 low24(i32 a) { return (i32)((u32)a << 8) >> 8; }
OP i32 __mul24(i32 a, i32 b) { return (i32)((u32)low24(a) * (u32)low24(b)); }
OP u32 __usad(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
OP u32 __sad(i32 a, i32 b, u32 c) { return (a > b ? (u32)a - (u32)b : (u32)b - (u32)a) + c; }
OP i32 __hadd(i32 a, i32 b) { return (i32)(((i64)a + b) >> 1); }
OP i32 __rhadd(i32 a, i32 b) { return (i32)(((i64)a + b + 1) >> 1); }
OP u32 __uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
OP u32 __urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }
OP u32 __funnelshift_l(u32 a, u32 b, u32 n) { return (u32)((((u64)b << 32 | a) << (n & 31u)) >> 32); }
OP u32 __funnelshift_r(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) >> (n & 31u)); }
OP u32 __funnelshift_lc(u32 a, u32 b, u32 n) { return n >= 32u ? a : __funnelshift_l(a, b, n); }
OP u32 __funnelshift_rc(u32 a, u32 b, u32 n) { return n >= 32u ? b : __funnelshift_r(a, b, n); }
OP u32 byte8(u32 a, u32 b, u32 n) { return (u32)((u64)b << 32 | a) * 0u + (u32)(((u64)b << 32 | a) >> (8u * (n & 7u)) & 255u); }
OP u32 __byte_perm(u32 a, u32 b, u32 s) { u32 r = 0; for (int i = 0; i < 4; i++) r |= byte8(a, b, s >> (4 * i)) << (8 * i); return r; }
OP u32 permuted(u32 a, u32 b, int k0, int k1, int k2, int k3) { return byte8(a, b, k0) | byte8(a, b, k1) << 8 | byte8(a, b, k2) << 16 | byte8(a, b, k3) << 24; }
OP u32 prmt_f4e(u32 a, u32 b, u32 c) { int n = c & 3; return permuted(a, b, n, n + 1, n + 2, n + 3); }
OP u32 prmt_b4e(u32 a, u32 b, u32 c) { int n = c & 3; return permuted(a, b, n, n - 1, n - 2, n - 3); }
OP u32 prmt_rc8(u32 a, u32 b, u32 c) { int n = c & 3; return permuted(a, b, n, n, n, n); }
OP u32 prmt_ecl(u32 a, u32 b, u32 c) { int n = c & 3; return permuted(a, b, n > 0 ? n : 0, n > 1 ? n : 1, n > 2 ? n : 2, 3); }
OP u32 prmt_ecr(u32 a, u32 b, u32 c) { int n = c & 3; return permuted(a, b, 0, n < 1 ? n : 1, n < 2 ? n : 2, n); }
OP u32 prmt_rc16(u32 a, u32 b, u32 c) { int n = (c & 1) * 2; return permuted(a, b, n, n + 1, n, n + 1); }
template <class A, class B> OP u32 dot4(u32 a, u32 b, u32 c) { for (int i = 0; i < 4; i++) c += (u32)((i32)(A)(a >> 8 * i) * (i32)(B)(b >> 8 * i)); return c; }
template <class A, class B> OP u32 dot2(u32 a, u32 b, u32 c, int at) { for (int i = 0; i < 2; i++) c += (u32)((i32)(A)(a >> 16 * i) * (i32)(B)(b >> 8 * (at + i))); return c; }
OP i32 __dp4a(i32 a, i32 b, i32 c) { return (i32)dot4<i8, i8>((u32)a, (u32)b, (u32)c); }
OP u32 __dp4a(u32 a, u32 b, u32 c) { return dot4<u8, u8>(a, b, c); }
OP i32 __dp2a_lo(i32 a, i32 b, i32 c) { return (i32)dot2<i16, i8>((u32)a, (u32)b, (u32)c, 0); }
OP i32 __dp2a_hi(i32 a, i32 b, i32 c) { return (i32)dot2<i16, i8>((u32)a, (u32)b, (u32)c, 2); }
OP u32 __dp2a_lo(u32 a, u32 b, u32 c) { return dot2<u16, u8>(a, b, c, 0); }
OP u32 __dp2a_hi(u32 a, u32 b, u32 c) { return dot2<u16, u8>(a, b, c, 2); }
OP u32 dp2a_su(u32 a, u32 b, u32 c) { return dot2<i16, u8>(a, b, c, 2); }
OP u32 dp4a_us(u32 a, u32 b, u32 c) { return dot4<u8, i8>(a, b, c); }
OP u32 __fns(u32 m, u32 base, i32 n) {
  int at = (int)(base & 31u);
  if (n == 0) return m >> at & 1u ? (u32)at : ~0u;
  for (int left = n > 0 ? n : -n; at >= 0 && at < 32; at += n > 0 ? 1 : -1) if ((m >> at & 1u) && --left == 0) return (u32)at;
  return ~0u;
}

// Instructions of PTX.
OP u64 bfe_any(u64 a, u32 b, u32 c, int width, bool sign) {
  int at = (int)(b & 255u), n = (int)(c & 255u), top = at + n - 1 < width - 1 ? at + n - 1 : width - 1; u64 r = 0;
  u64 s = sign && n ? a >> top & 1u : 0;
  for (int i = 0; i < width; i++) r |= (i < n && at + i < width ? a >> (at + i) & 1u : s) << i;
  return r;
}
OP u32 bfe_u(u32 a, u32 b, u32 c) { return (u32)bfe_any(a, b, c, 32, false); }
OP u32 bfe_s(u32 a, u32 b, u32 c) { return (u32)bfe_any(a, b, c, 32, true); }
OP u64 bfe_q(u64 a, u32 b, u32 c) { return bfe_any(a, b, c, 64, false); }
OP u64 bfe_l(u64 a, u32 b, u32 c) { return bfe_any(a, b, c, 64, true); }
OP u32 bfi(u32 a, u32 b, u32 c, u32 d) { u32 r = b; for (u32 i = 0; i < (d & 255u) && (c & 255u) + i < 32u; i++) { u32 at = (c & 255u) + i; r = (r & ~(1u << at)) | (a >> i & 1u) << at; } return r; }
template <int L> OP u32 lop3(u32 a, u32 b, u32 c) { u32 r = 0; for (int i = 0; i < 32; i++) r |= (u32)(L >> ((a >> i & 1u) << 2 | (b >> i & 1u) << 1 | (c >> i & 1u)) & 1) << i; return r; }
OP u32 mask_of(u64 at, u64 n) { u32 r = 0; for (u64 i = 0; i < n && at + i < 32; i++) r |= 1u << (at + i); return r; }
OP u32 bmsk_clamp(u32 a, u32 b) { return mask_of(a, b); }
OP u32 bmsk_wrap(u32 a, u32 b) { return mask_of(a & 31u, b & 31u); }
OP u32 szext_clamp_u(u32 a, u32 n) { return n >= 32u ? a : a & ((1u << n) - 1u); }
OP u32 szext_wrap_s(u32 a, u32 n) { n &= 31u; return n ? (u32)((i32)(a << (32u - n)) >> (32u - n)) : 0u; }
OP u32 bfind_u(u32 a) { return a ? 31u - (u32)__builtin_clz(a) : ~0u; }
OP u32 bfind_s(u32 a) { return bfind_u((i32)a < 0 ? ~a : a); }
OP u32 bfind_shift(u32 a) { return a ? (u32)__builtin_clz(a) : ~0u; }
OP u32 bfind_l(u64 a) { u64 v = (i64)a < 0 ? ~a : a; return v ? 63u - (u32)__builtin_clzll(v) : ~0u; }
OP u32 mad24_hi(u32 a, u32 b, u32 c) { return (u32)((u64)(a & 0xffffffu) * (b & 0xffffffu) >> 16) + c; }
OP u32 mad_hi_s(u32 a, u32 b, u32 c) { return (u32)__mulhi((i32)a, (i32)b) + c; }
OP u32 sat32(i64 x) { return (u32)bound<i32>(x, INT32_MIN, INT32_MAX); }
OP u32 mad_hi_sat(u32 a, u32 b, u32 c) { return sat32((i64)__mulhi((i32)a, (i32)b) + (i32)c); }
OP u32 add_sat(u32 a, u32 b) { return sat32((i64)(i32)a + (i32)b); }
OP u32 sub_sat(u32 a, u32 b) { return sat32((i64)(i32)a - (i32)b); }
OP u32 carry3(u32 a, u32 b, u32 c, u32 d) { u64 r = (u64)a + b, s = (u64)c + d + (r >> 32); return (u32)r + (u32)s + (u32)(s >> 32); }
OP u32 borrow3(u32 a, u32 b, u32 c, u32 d) { i64 r = (i64)a - b, s = (i64)c - d + (r < 0 ? -1 : 0); return (u32)r - (u32)s - (s < 0 ? 1u : 0u); }
OP u32 madc(u32 a, u32 b, u32 c, u32 d) { u64 p = (u64)a * b, r = (u64)(u32)p + c; return (u32)r ^ ((u32)(p >> 32) + d + (u32)(r >> 32)); }
OP u32 slct_f(u32 a, u32 b, float c) { return c >= 0.0f ? a : b; }
OP u32 set_ltu(float a, float b) { return !(a >= b) ? ~0u : 0u; }
OP u32 cnot(u32 a) { return a == 0u; }
OP u32 sat_s8(i32 a) { return (u32)bound<i32>(a, -128, 127); }
OP u32 sat_u8(i32 a) { return (u32)bound<i32>(a, 0, 255); }
OP u32 sat_s16(i64 a) { return (u32)bound<i32>(a, -32768, 32767); }
OP u32 sat_u16(u32 a) { return a > 65535u ? 65535u : a; }
OP u32 sat_s32(i64 a) { return sat32(a); }
OP u32 sat_u32(i64 a) { return bound<u32>(a, 0, ~0u); }
OP u32 pack_s16(i32 a, i32 b) { return (sat_s16(a) << 16) | (sat_s16(b) & 0xffffu); }
OP u32 pack_u8(i32 a, i32 b, u32 c) { return sat_u8(a) << 8 | sat_u8(b) | c << 16; }

// Video instructions of PTX: of a byte, a half or the whole word.
OP i64 sb(u32 a, int n) { return (i8)(a >> 8 * n); } OP i64 ub(u32 a, int n) { return (u8)(a >> 8 * n); }
OP i64 sh(u32 a, int n) { return (i16)(a >> 16 * n); } OP i64 uh(u32 a, int n) { return (u16)(a >> 16 * n); }
OP u32 vadd_sat(u32 a, u32 b) { return sat32((i64)a + (i32)b); }
OP u32 vmad_hb(u32 a, u32 b, u32 c) { return (u32)(((i64)(i32)a * (i32)b + (i32)c) >> 7); }
OP u32 vadd_b(u32 a, u32 b) { return (u32)(ub(a, 1) + sh(b, 1)); }
OP u32 vsub_h(u32 a, u32 b) { return sat32(sh(a, 0) - sb(b, 3)); }
OP u32 vabs_b(u32 a, u32 b, u32 c) { return (u32)llabs(ub(a, 2) - ub(b, 0)) + c; }
OP u32 vmax_b(u32 a, u32 b, u32 c) { i64 m = sb(a, 3) > sh(b, 1) ? sb(a, 3) : sh(b, 1); return (u32)(m < (i32)c ? (i32)m : (i32)c); }
OP u32 vset_b(u32 a, u32 b, u32 c) { return (ub(a, 0) < sb(b, 2) ? 1u : 0u) + c; }
OP u32 vshl_w(u32 a, u32 b) { return (u32)uh(a, 1) << (ub(b, 0) & 31); }
OP u32 vmad_b(u32 a, u32 b, u32 c) { return (u32)(ub(a, 1) * uh(b, 1)) + c; }

// The functions __v*2 and __v*4, for each part of a word.
template <class T, class F> OP u32 parts(u32 a, u32 b, u32 c, F f) {
  u32 r = 0; const int w = 8 * (int)sizeof(T);
  for (int i = 0; i < 32; i += w) r |= ((u32)f((i64)(T)(a >> i), (i64)(T)(b >> i), (i64)(T)(c >> i)) & (u32)((1ull << w) - 1)) << i;
  return r;
}
#define EACH1(N, T, E) OP u32 N(u32 a) { return parts<T>(a, 0, 0, [](i64 x, i64, i64) -> i64 { return E; }); }
#define EACH2(N, T, E) OP u32 N(u32 a, u32 b) { return parts<T>(a, b, 0, [](i64 x, i64 y, i64) -> i64 { return E; }); }
#define EACH3(N, T, E) OP u32 N(u32 a, u32 b, u32 c) { return parts<T>(a, b, c, [](i64 x, i64 y, i64 z) -> i64 { return E; }); }
#define SAT(T) bound<T>
#define BOTH(W, I, U, LO, HI, UHI) \
  EACH2(__vadd##W, U, x + y) EACH2(__vsub##W, U, x - y) EACH2(__vaddss##W, I, (SAT(I)(x + y, LO, HI))) EACH2(__vaddus##W, U, (SAT(U)(x + y, 0, UHI))) \
  EACH2(__vsubss##W, I, (SAT(I)(x - y, LO, HI))) EACH2(__vsubus##W, U, (SAT(U)(x - y, 0, UHI))) EACH1(__vabs##W, I, x < 0 ? -x : x) \
  EACH1(__vabsss##W, I, (SAT(I)(x < 0 ? -x : x, LO, HI))) EACH1(__vneg##W, I, -x) EACH1(__vnegss##W, I, (SAT(I)(-x, LO, HI))) \
  EACH2(__vavgs##W, I, (x + y + (x + y >= 0)) >> 1) EACH2(__vavgu##W, U, (x + y + 1) >> 1) EACH2(__vhaddu##W, U, (x + y) >> 1) \
  EACH2(__vabsdiffs##W, I, x > y ? x - y : y - x) EACH2(__vabsdiffu##W, U, x > y ? x - y : y - x) \
  EACH2(__vmaxs##W, I, x > y ? x : y) EACH2(__vmaxu##W, U, x > y ? x : y) EACH2(__vmins##W, I, x < y ? x : y) EACH2(__vminu##W, U, x < y ? x : y) \
  EACH2(__vcmpeq##W, U, x == y ? -1 : 0) EACH2(__vcmpne##W, U, x != y ? -1 : 0) EACH2(__vcmpgts##W, I, x > y ? -1 : 0) EACH2(__vcmpgtu##W, U, x > y ? -1 : 0) \
  EACH2(__vcmples##W, I, x <= y ? -1 : 0) EACH2(__vcmpltu##W, U, x < y ? -1 : 0) EACH2(__vseteq##W, U, x == y) EACH2(__vsetges##W, I, x >= y) EACH2(__vsetltu##W, U, x < y) \
  OP u32 __vsadu##W(u32 a, u32 b) { u32 r = 0; for (int i = 0; i < 32; i += 8 * (int)sizeof(U)) r += (u32)abs((i32)(U)(a >> i) - (i32)(U)(b >> i)); return r; } \
  OP u32 __vsads##W(u32 a, u32 b) { u32 r = 0; for (int i = 0; i < 32; i += 8 * (int)sizeof(I)) r += (u32)abs((i32)(I)(a >> i) - (i32)(I)(b >> i)); return r; }
BOTH(2, i16, u16, -32768, 32767, 65535) BOTH(4, i8, u8, -128, 127, 255)
OP i64 lo(i64 a, i64 b) { return a < b ? a : b; } OP i64 hi(i64 a, i64 b) { return a > b ? a : b; }
EACH3(__viaddmax_s16x2, i16, hi((i16)(x + y), z)) EACH3(__viaddmin_u16x2, u16, lo((u16)(x + y), z)) EACH3(__viaddmin_s16x2_relu, i16, hi(lo((i16)(x + y), z), 0))
EACH3(__vimax3_s16x2, i16, hi(hi(x, y), z)) EACH3(__vimin3_u16x2, u16, lo(lo(x, y), z)) EACH3(__vimin3_s16x2_relu, i16, hi(lo(lo(x, y), z), 0)) EACH2(__vimax_s16x2_relu, i16, hi(hi(x, y), 0))
OP i32 __viaddmax_s32(i32 a, i32 b, i32 c) { return (i32)hi((i32)((u32)a + (u32)b), c); }
OP u32 __viaddmin_u32(u32 a, u32 b, u32 c) { return (u32)lo(a + b, c); }
OP i32 __viaddmin_s32_relu(i32 a, i32 b, i32 c) { return (i32)hi(lo((i32)((u32)a + (u32)b), c), 0); }
OP i32 __vimax3_s32(i32 a, i32 b, i32 c) { return (i32)hi(hi(a, b), c); }
OP u32 __vimin3_u32(u32 a, u32 b, u32 c) { return (u32)lo(lo(a, b), c); }
OP i32 __vimin_s32_relu(i32 a, i32 b) { return (i32)hi(lo(a, b), 0); }
OP i32 __vibmax_s32(i32 a, i32 b, bool *p) { *p = a >= b; return a > b ? a : b; }
OP u32 __vibmin_s16x2(u32 a, u32 b, bool *high, bool *low) { *high = sh(a, 1) <= sh(b, 1); *low = sh(a, 0) <= sh(b, 0); return __vmins2(a, b); }
#include "host_float.h"
