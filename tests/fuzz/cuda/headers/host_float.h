// CUDA's floating-point functions for g++: IEEE's, exact, in all four directions; halves and bfloat16 by rounding exact values.
#pragma once
template <class T> static __attribute__((noinline)) T rounded(int mode, int op, T a_, T b_, T c_) {
  volatile T a = a_, b = b_, c = c_, r;  // volatile, so that nothing moves across fesetround
  fesetround(mode);
  switch (op) { case 0: r = a + b; break; case 1: r = a - b; break; case 2: r = a * b; break; case 3: r = a / b; break;
    case 4: r = std::sqrt(a); break; case 5: r = std::fma(a, b, c); break; default: r = std::nearbyint(a); }
  fesetround(FE_TONEAREST);
  return r;
}
template <class T, class F> static __attribute__((noinline)) T converted(int mode, F x_) { volatile F x = x_; volatile T r; fesetround(mode); r = (T)x; fesetround(FE_TONEAREST); return r; }
template <class I, class F> static I to_integer(int mode, F x, bool wide) {
  if (x != x) return wide ? (I)1 << (8 * sizeof(I) - 1) : (I)0;
  F r = rounded<F>(mode, 9, x, 0, 0), limit = std::ldexp((F)1, 8 * sizeof(I) - ((I)-1 < (I)0));
  I most = (I)-1 < (I)0 ? (I)(((u64)1 << (8 * sizeof(I) - 1)) - 1) : (I)-1;
  return r >= limit ? most : (I)-1 < (I)0 ? (r < -limit ? (I)(-most - 1) : (I)r) : r <= 0 ? (I)0 : (I)r;
}
#define MODES(X) X(rn, FE_TONEAREST) X(rz, FE_TOWARDZERO) X(rd, FE_DOWNWARD) X(ru, FE_UPWARD)
#define REALS(L, T, FMA, M, R) \
  OP T __##L##add_##M(T a, T b) { return rounded<T>(R, 0, a, b, 0); } OP T __##L##sub_##M(T a, T b) { return rounded<T>(R, 1, a, b, 0); } \
  OP T __##L##mul_##M(T a, T b) { return rounded<T>(R, 2, a, b, 0); } OP T __##L##div_##M(T a, T b) { return rounded<T>(R, 3, a, b, 0); } \
  OP T __##L##rcp_##M(T a) { return rounded<T>(R, 3, 1, a, 0); } OP T __##L##sqrt_##M(T a) { return rounded<T>(R, 4, a, 0, 0); } \
  OP T FMA##_##M(T a, T b, T c) { return rounded<T>(R, 5, a, b, c); }
#define TO(N, I, M, R) OP I __float2##N##_##M(float x) { return to_integer<I>(R, x, sizeof(I) == 8); } OP I __double2##N##_##M(double x) { return to_integer<I>(R, x, true); } \
  OP float __##N##2float_##M(I x) { return converted<float>(R, x); }
#define ALL(M, R) REALS(f, float, __fmaf, M, R) REALS(d, double, __fma, M, R) TO(int, i32, M, R) TO(uint, u32, M, R) TO(ll, i64, M, R) TO(ull, u64, M, R) \
  OP float __double2float_##M(double x) { return converted<float>(R, x); } OP double __ll2double_##M(i64 x) { return converted<double>(R, x); } OP double __ull2double_##M(u64 x) { return converted<double>(R, x); }
MODES(ALL)
OP float __saturatef(float x) { return x != x || x <= 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }
OP float fsat(float a, float b) { return __saturatef(a + b); }
OP float fmsat(float a, float b, float c) { return __saturatef(__fmaf_rz(a, b, c)); }
OP float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
OP float fadd_ftz(float a, float b) { return flushed(flushed(a) + flushed(b)); }
OP float fmul_ftz(float a, float b) { a = flushed(a), b = flushed(b); double p = (double)a * b; return std::fabs(p) < 0x1p-126 ? std::copysign(0.0f, (float)p) : (float)p; }
OP u32 f2u8(float a) { return (u32)to_integer<u8>(FE_TONEAREST, a, false); }
OP u32 f2s8(float a) { return (u32)(i32)to_integer<i8>(FE_TOWARDZERO, a, false); }
OP u32 f2s16(float a) { return (u32)(i32)to_integer<i16>(FE_DOWNWARD, a, false); }
OP u32 d2u16(double a) { return (u32)to_integer<u16>(FE_UPWARD, a, true); }

// A small format: `digits` of precision, exponents from `least`; its value is in a double.
typedef __float128 quad;
template <int digits, int least, int most> struct Small {
  u16 code;
  static constexpr int fraction = digits - 1, width = 15 - fraction;
  double value() const {
    int e = code >> fraction & ((1 << width) - 1), f = code & ((1 << fraction) - 1); double r;
    if (e == (1 << width) - 1) r = f ? NAN : INFINITY;
    else r = std::ldexp((double)(e ? f | 1 << fraction : f), (e ? e : 1) - 1 + least - fraction);
    return code >> 15 ? -r : r;
  }
  static Small of(double x) {  // of a value that the format has
    int e; double a = std::fabs(x); u16 s = (u16)(std::signbit(x) ? 0x8000 : 0);
    if (x != x) return {0x7fff};
    if (std::isinf(x)) return {(u16)(s | ((1 << width) - 1) << fraction)};
    if (a == 0) return {s};
    std::frexp(a, &e); e = e - 1 > least ? e - 1 : least;
    return {(u16)(s + (u16)((e - least) << fraction) + (u16)(std::ldexp(a, fraction - e)))};
  }
  static Small round(quad x, int mode) {
    double d = (double)x; int e;
    if (x != x || x == 0 || x - x != 0) return of(d);
    bool down = x < 0; quad a = down ? -x : x;
    std::frexp(a > (quad)1e300 ? 1e300 : a < (quad)1e-300 ? 1e-300 : (double)a, &e); e = (e - 1 > least ? e - 1 : least) - fraction;
    while (e > least - fraction && a < (quad)std::ldexp(1.0, e + fraction)) e--;
    if (a >= (quad)std::ldexp(1.0, most + 2)) a = (quad)std::ldexp(1.0, most + 2), e = most + 2 - fraction;
    quad scaled = a / (quad)std::ldexp(1.0, e); i64 n = (i64)scaled; quad rest = scaled - (quad)n;
    bool up = mode == FE_TONEAREST ? rest > (quad)0.5 || (rest == (quad)0.5 && (n & 1)) : rest > 0 && mode == (down ? FE_DOWNWARD : FE_UPWARD);
    double r = std::ldexp((double)(n + up), e), greatest = std::ldexp(2.0 - std::ldexp(1.0, -fraction), most);
    if (r > greatest) r = mode == FE_TONEAREST || mode == (down ? FE_DOWNWARD : FE_UPWARD) ? INFINITY : greatest;
    return of(down ? -r : r);
  }
};
typedef Small<11, -14, 15> hh; typedef Small<8, -126, 127> bb;
template <class T> struct Two { T x, y; };
typedef Two<hh> h2; typedef Two<bb> b2;
OP quad odd_sum(quad p, quad c) {  // rounded to odd, which rounds once more without a mistake
  quad s = p + c; if (s != s || std::isinf((double)s)) return s;
  quad b = s - p, rest = (p - (s - b)) + (c - b); u128 v = bits<u128>(s);
  if (rest != 0 && !(v & 1)) v += (rest > 0) == (s > 0) ? 1 : -1;
  return bits<quad>(v);
}
#define N_ FE_TONEAREST
template <int P, int L, int M> OP Small<P, L, M> sm_fma(Small<P, L, M> a, Small<P, L, M> b, Small<P, L, M> c) {
  double p = a.value() * b.value(), v = c.value();
  if (p != p || v != v || std::isinf(p) || std::isinf(v) || p == 0 || v == 0) return Small<P, L, M>::round(p == 0 && v != 0 ? (quad)v : v == 0 && p != 0 ? (quad)p : (quad)(p + v), N_);
  quad s = odd_sum((quad)p, (quad)v); return Small<P, L, M>::round(s, N_);
}
#define SM template <int P, int L, int M> OP
#define SS Small<P, L, M>
SM SS __hadd_rn(SS a, SS b) { double x = a.value(), y = b.value(); return x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(y) ? SS::of(x + y) : SS::round(odd_sum((quad)x, (quad)y), N_); }
SM SS __hneg(SS a) { a.code ^= 0x8000; return a; }
SM SS __habs(SS a) { a.code &= 0x7fff; return a; }
SM SS __hsub_rn(SS a, SS b) { return __hadd_rn(a, __hneg(b)); }
SM SS __hmul_rn(SS a, SS b) { double p = a.value() * b.value(); return SS::round((quad)p, N_); }
SM SS __hfma(SS a, SS b, SS c) { return sm_fma(a, b, c); }
SM SS sm_sat(SS a) { double x = a.value(); return x != x || x <= 0 ? SS::of(0.0) : x > 1 ? SS::of(1.0) : a; }
SM SS sm_relu(SS a) { double x = a.value(); return x != x ? a : x <= 0 ? SS::of(0.0) : a; }
SM SS __hadd_sat(SS a, SS b) { return sm_sat(__hadd_rn(a, b)); }
SM SS __hmul_sat(SS a, SS b) { return sm_sat(__hmul_rn(a, b)); }
SM SS __hfma_sat(SS a, SS b, SS c) { return sm_sat(sm_fma(a, b, c)); }
SM SS __hfma_relu(SS a, SS b, SS c) { return sm_relu(sm_fma(a, b, c)); }
SM bool sm_less(SS a, SS b) { double x = a.value(), y = b.value(); return x < y || (x == y && std::signbit(x) && !std::signbit(y)); }
SM bool sm_nan(SS a) { double x = a.value(); return x != x; }
SM SS __hmin(SS a, SS b) { return sm_nan(a) ? (sm_nan(b) ? SS::of(NAN) : b) : sm_nan(b) || sm_less(a, b) ? a : b; }
SM SS __hmax(SS a, SS b) { return sm_nan(a) ? (sm_nan(b) ? SS::of(NAN) : b) : sm_nan(b) || sm_less(b, a) ? a : b; }
SM SS __hmin_nan(SS a, SS b) { return sm_nan(a) || sm_nan(b) ? SS::of(NAN) : __hmin(a, b); }
SM SS __hmax_nan(SS a, SS b) { return sm_nan(a) || sm_nan(b) ? SS::of(NAN) : __hmax(a, b); }
#define COMPARE(N, E) SM bool N(SS a, SS b) { double x = a.value(), y = b.value(); return E; }
COMPARE(__hlt, x < y) COMPARE(__hle, x <= y) COMPARE(__heq, x == y) COMPARE(__hltu, !(x >= y)) COMPARE(__hneu, x != y) COMPARE(__hgeu, !(x < y))
#define WHOLE(N, E) OP hh N(hh a) { double x = a.value(); return hh::of(E); }
WHOLE(hfloor, std::floor(x)) WHOLE(hceil, std::ceil(x)) WHOLE(htrunc, std::trunc(x)) WHOLE(hrint, std::nearbyint(x))
#define PAIR2(N, F) template <class T> OP Two<T> N(Two<T> a, Two<T> b) { return {F(a.x, b.x), F(a.y, b.y)}; }
#define PAIR3(N, F) template <class T> OP Two<T> N(Two<T> a, Two<T> b, Two<T> c) { return {F(a.x, b.x, c.x), F(a.y, b.y, c.y)}; }
PAIR2(__hadd2_rn, __hadd_rn) PAIR2(__hsub2_rn, __hsub_rn) PAIR2(__hmul2_rn, __hmul_rn) PAIR2(__hmin2, __hmin) PAIR2(__hmax2, __hmax) PAIR2(__hmin2_nan, __hmin_nan) PAIR2(__hadd2_sat, __hadd_sat)
PAIR3(__hfma2, __hfma) PAIR3(__hfma2_sat, __hfma_sat) PAIR3(__hfma2_relu, __hfma_relu)
template <class T> OP Two<T> __hneg2(Two<T> a) { return {__hneg(a.x), __hneg(a.y)}; }
template <class T> OP Two<T> __habs2(Two<T> a) { return {__habs(a.x), __habs(a.y)}; }
template <class T> OP u32 __hlt2_mask(Two<T> a, Two<T> b) { return (__hlt(a.x, b.x) ? 0xffffu : 0u) | (__hlt(a.y, b.y) ? 0xffff0000u : 0u); }
template <class T> OP u32 __heq2_mask(Two<T> a, Two<T> b) { return (__heq(a.x, b.x) ? 0xffffu : 0u) | (__heq(a.y, b.y) ? 0xffff0000u : 0u); }
template <class T> OP u32 __hgeu2_mask(Two<T> a, Two<T> b) { return (__hgeu(a.x, b.x) ? 0xffffu : 0u) | (__hgeu(a.y, b.y) ? 0xffff0000u : 0u); }
template <class T> OP bool __hbgt2(Two<T> a, Two<T> b) { return __hlt(b.x, a.x) && __hlt(b.y, a.y); }
OP h2 __halves2half2(hh a, hh b) { return {a, b}; } OP b2 __halves2bfloat162(bb a, bb b) { return {a, b}; }
OP hh __low2half(h2 a) { return a.x; } OP hh __high2half(h2 a) { return a.y; } OP bb __low2bfloat16(b2 a) { return a.x; } OP bb __high2bfloat16(b2 a) { return a.y; }
template <class T> OP Two<T> __lowhigh2highlow(Two<T> a) { return {a.y, a.x}; }
OP u16 __half_as_ushort(hh a) { return a.code; } OP hh __ushort_as_half(u16 a) { return {a}; } OP u16 __bfloat16_as_ushort(bb a) { return a.code; } OP bb __ushort_as_bfloat16(u16 a) { return {a}; }
OP float __half2float(hh a) { return (float)a.value(); } OP float __bfloat162float(bb a) { return (float)a.value(); }
OP hh __double2half(double a) { return hh::round((quad)a, N_); } OP bb __double2bfloat16(double a) { return bb::round((quad)a, N_); }
#define HALF(M, R) OP hh __float2half_##M(float a) { return hh::round((quad)a, R); } OP bb __float2bfloat16_##M(float a) { return bb::round((quad)a, R); } \
  OP hh __int2half_##M(i32 a) { return hh::round((quad)a, R); } OP hh __uint2half_##M(u32 a) { return hh::round((quad)a, R); } OP hh __ll2half_##M(i64 a) { return hh::round((quad)a, R); } OP hh __short2half_##M(i16 a) { return hh::round((quad)a, R); } \
  OP bb __int2bfloat16_##M(i32 a) { return bb::round((quad)a, R); } OP bb __uint2bfloat16_##M(u32 a) { return bb::round((quad)a, R); } OP bb __ull2bfloat16_##M(u64 a) { return bb::round((quad)a, R); } \
  OP i32 __half2int_##M(hh a) { return to_integer<i32>(R, (float)a.value(), false); } OP u32 __half2uint_##M(hh a) { return to_integer<u32>(R, (float)a.value(), false); } OP i64 __half2ll_##M(hh a) { return to_integer<i64>(R, (float)a.value(), true); } OP i16 __half2short_##M(hh a) { return to_integer<i16>(R, (float)a.value(), false); } \
  OP i32 __bfloat162int_##M(bb a) { return to_integer<i32>(R, (float)a.value(), false); } OP u32 __bfloat162uint_##M(bb a) { return to_integer<u32>(R, (float)a.value(), false); } OP u64 __bfloat162ull_##M(bb a) { return to_integer<u64>(R, (float)a.value(), true); }
MODES(HALF)
