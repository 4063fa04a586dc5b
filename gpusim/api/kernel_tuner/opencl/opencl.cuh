// What OpenCL C has and CUDA C++ lacks, for kernels that opencl/translation.py has made CUDA C++ of.
// Functions follow the OpenCL C specification 1.2, chapter 6.12; native_ and half_ are the card's approximations.
#define __OPENCL_VERSION__ 120
#define __OPENCL_C_VERSION__ 120
#define CL_VERSION_1_0 100
#define CL_VERSION_1_1 110
#define CL_VERSION_1_2 120
#define __ENDIAN_LITTLE__ 1
#define cl_khr_fp64 1
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#define _CL static __device__ __forceinline__
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// Work items; what fits an int is computed in 32 bits, as the card does
_CL uint _cl_axis(uint d, uint x, uint y, uint z, uint other) { return d == 0 ? x : d == 1 ? y : d == 2 ? z : other; }
_CL uint _cl_lane(uint d) { return _cl_axis(d, threadIdx.x, threadIdx.y, threadIdx.z, 0); }
_CL uint _cl_block(uint d) { return _cl_axis(d, blockIdx.x, blockIdx.y, blockIdx.z, 0); }
_CL uint _cl_lanes(uint d) { return _cl_axis(d, blockDim.x, blockDim.y, blockDim.z, 1); }
_CL uint _cl_blocks(uint d) { return _cl_axis(d, gridDim.x, gridDim.y, gridDim.z, 1); }
_CL size_t get_local_id(uint d) { return (int)_cl_lane(d); }
_CL size_t get_group_id(uint d) { return (int)_cl_block(d); }
_CL size_t get_local_size(uint d) { return (int)_cl_lanes(d); }
_CL size_t get_enqueued_local_size(uint d) { return (int)_cl_lanes(d); }
_CL size_t get_num_groups(uint d) { return (int)_cl_blocks(d); }
_CL size_t get_global_offset(uint) { return 0; }
_CL size_t get_global_size(uint d) { return (int)(_cl_blocks(d) * _cl_lanes(d)); }
_CL size_t get_global_id(uint d) { return (int)(_cl_block(d) * _cl_lanes(d) + _cl_lane(d)); }

// Synchronisation
#define barrier(flags) __syncthreads()
#define work_group_barrier(...) __syncthreads()
_CL void mem_fence(int flags) {
    if (flags & CLK_GLOBAL_MEM_FENCE) __threadfence(); else __threadfence_block();
}
#define read_mem_fence mem_fence
#define write_mem_fence mem_fence

// Vectors: members x to w, s0 to sf, lo and hi, and of four also xy and zw
template <class T> struct _cl_same { typedef T type; };
template <bool, class T> struct _cl_if { };
template <class T> struct _cl_if<true, T> { typedef T type; };
template <class T> struct _cl_number { static const bool yes = false; };
template <class T, int N> struct _cl_vec;
template <class T> struct _cl_bits { typedef int type; };
template <> struct _cl_bits<char> { typedef char type; };
template <> struct _cl_bits<uchar> { typedef char type; };
template <> struct _cl_bits<short> { typedef short type; };
template <> struct _cl_bits<ushort> { typedef short type; };
template <> struct _cl_bits<long> { typedef long type; };
template <> struct _cl_bits<ulong> { typedef long type; };
template <> struct _cl_bits<double> { typedef long type; };

#define _CL_MAKE(N) \
    _cl_vec() = default; \
    template <class S, class = typename _cl_if<_cl_number<S>::yes, S>::type> \
    __device__ __forceinline__ _cl_vec(S all) { for (int i = 0; i < N; i++) at[i] = (T)all; } \
    template <class A, class B, class... R> __device__ __forceinline__ _cl_vec(A a, B b, R... rest) { \
        _cl_fill<0>(at, a, b, rest...); \
    }
template <int I, class T> _CL void _cl_fill(T *) { }
template <int I, class T, class S, int M, class... R> _CL void _cl_fill(T *at, _cl_vec<S, M> first, R... rest);
template <int I, class T, class S, class... R> _CL void _cl_fill(T *at, S first, R... rest) {
    at[I] = (T)first;
    _cl_fill<I + 1>(at, rest...);
}
template <int I, class T, class S, int M, class... R> _CL void _cl_fill(T *at, _cl_vec<S, M> first, R... rest) {
    for (int i = 0; i < M; i++) at[I + i] = first.at[i];
    _cl_fill<I + M>(at, rest...);
}
template <class T> struct alignas(2 * sizeof(T)) _cl_vec<T, 2> {
    union { struct { T x, y; }; struct { T s0, s1; }; struct { T lo, hi; }; T at[2]; };
    _CL_MAKE(2)
};
template <class T> struct alignas(4 * sizeof(T)) _cl_vec<T, 3> {
    union { struct { T x, y, z; }; struct { T s0, s1, s2; }; _cl_vec<T, 2> xy; T at[3]; };
    _CL_MAKE(3)
};
template <class T> struct alignas(4 * sizeof(T)) _cl_vec<T, 4> {
    union {
        struct { T x, y, z, w; }; struct { T s0, s1, s2, s3; };
        struct { _cl_vec<T, 2> xy, zw; }; struct { _cl_vec<T, 2> lo, hi; }; T at[4];
    };
    _CL_MAKE(4)
};
template <class T> struct alignas(8 * sizeof(T)) _cl_vec<T, 8> {
    union { struct { T s0, s1, s2, s3, s4, s5, s6, s7; }; struct { _cl_vec<T, 4> lo, hi; }; T at[8]; };
    _CL_MAKE(8)
};
template <class T> struct alignas(16 * sizeof(T)) _cl_vec<T, 16> {
    union {
        struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
        struct { _cl_vec<T, 8> lo, hi; }; T at[16];
    };
    _CL_MAKE(16)
};
template <class T, int N> using _cl_mask = _cl_vec<typename _cl_bits<T>::type, N>;

#define _CL_SCALAR template <class T, int N, class S, class = typename _cl_if<_cl_number<S>::yes, S>::type>
#define _CL_OPERATOR(op) \
    template <class T, int N> _CL _cl_vec<T, N> operator op(_cl_vec<T, N> a, _cl_vec<T, N> b) { \
        for (int i = 0; i < N; i++) a.at[i] = a.at[i] op b.at[i]; \
        return a; \
    } \
    _CL_SCALAR _CL _cl_vec<T, N> operator op(_cl_vec<T, N> a, S b) { return a op _cl_vec<T, N>(b); } \
    _CL_SCALAR _CL _cl_vec<T, N> operator op(S a, _cl_vec<T, N> b) { return _cl_vec<T, N>(a) op b; } \
    template <class T, int N, class S> _CL _cl_vec<T, N> &operator op##=(_cl_vec<T, N> &a, S b) { return a = a op b; }
#define _CL_COMPARE(op) \
    template <class T, int N> _CL _cl_mask<T, N> operator op(_cl_vec<T, N> a, _cl_vec<T, N> b) { \
        _cl_mask<T, N> found; \
        for (int i = 0; i < N; i++) found.at[i] = a.at[i] op b.at[i] ? -1 : 0; \
        return found; \
    } \
    _CL_SCALAR _CL _cl_mask<T, N> operator op(_cl_vec<T, N> a, S b) { return a op _cl_vec<T, N>(b); } \
    _CL_SCALAR _CL _cl_mask<T, N> operator op(S a, _cl_vec<T, N> b) { return _cl_vec<T, N>(a) op b; }
#define _CL_SIGN(op) \
    template <class T, int N> _CL _cl_vec<T, N> operator op(_cl_vec<T, N> a) { \
        for (int i = 0; i < N; i++) a.at[i] = op a.at[i]; \
        return a; \
    }
_CL_OPERATOR(+) _CL_OPERATOR(-) _CL_OPERATOR(*) _CL_OPERATOR(/) _CL_OPERATOR(%)
_CL_OPERATOR(&) _CL_OPERATOR(|) _CL_OPERATOR(^) _CL_OPERATOR(<<) _CL_OPERATOR(>>)
_CL_COMPARE(==) _CL_COMPARE(!=) _CL_COMPARE(<) _CL_COMPARE(<=) _CL_COMPARE(>) _CL_COMPARE(>=)
_CL_SIGN(+) _CL_SIGN(-) _CL_SIGN(~)

// Functions of each element, of one, two and three arguments; a number is one for all elements
#define _CL_EACH1(f) template <class T, int N> _CL _cl_vec<T, N> f(_cl_vec<T, N> a) { \
        for (int i = 0; i < N; i++) a.at[i] = f(a.at[i]); \
        return a; \
    }
#define _CL_EACH2(f) template <class T, int N> _CL _cl_vec<T, N> f(_cl_vec<T, N> a, _cl_vec<T, N> b) { \
        for (int i = 0; i < N; i++) a.at[i] = f(a.at[i], b.at[i]); \
        return a; \
    } \
    _CL_SCALAR _CL _cl_vec<T, N> f(_cl_vec<T, N> a, S b) { return f(a, _cl_vec<T, N>(b)); } \
    _CL_SCALAR _CL _cl_vec<T, N> f(S a, _cl_vec<T, N> b) { return f(_cl_vec<T, N>(a), b); }
#define _CL_EACH3(f) template <class T, int N> \
    _CL _cl_vec<T, N> f(_cl_vec<T, N> a, _cl_vec<T, N> b, _cl_vec<T, N> c) { \
        for (int i = 0; i < N; i++) a.at[i] = f(a.at[i], b.at[i], c.at[i]); \
        return a; \
    } \
    _CL_SCALAR _CL _cl_vec<T, N> f(_cl_vec<T, N> a, _cl_vec<T, N> b, S c) { return f(a, b, _cl_vec<T, N>(c)); } \
    _CL_SCALAR _CL _cl_vec<T, N> f(_cl_vec<T, N> a, S b, _cl_vec<T, N> c) { return f(a, _cl_vec<T, N>(b), c); } \
    _CL_SCALAR _CL _cl_vec<T, N> f(S a, _cl_vec<T, N> b, _cl_vec<T, N> c) { return f(_cl_vec<T, N>(a), b, c); } \
    _CL_SCALAR _CL _cl_vec<T, N> f(_cl_vec<T, N> a, S b, S c) { return f(a, _cl_vec<T, N>(b), _cl_vec<T, N>(c)); }

// Numbers
#define _CL_TYPE(T) template <> struct _cl_number<T> { static const bool yes = true; };
_CL_TYPE(bool) _CL_TYPE(char) _CL_TYPE(signed char) _CL_TYPE(uchar) _CL_TYPE(short) _CL_TYPE(ushort) _CL_TYPE(int)
_CL_TYPE(uint) _CL_TYPE(long) _CL_TYPE(ulong) _CL_TYPE(long long) _CL_TYPE(unsigned long long)
_CL_TYPE(float) _CL_TYPE(double)
#define _CL_T template <class T> _CL
#define _CL_N typename _cl_same<T>::type
_CL float mad(float a, float b, float c) { return fmaf(a, b, c); }
_CL double mad(double a, double b, double c) { return ::fma(a, b, c); }
_CL int mul24(int a, int b) { return __mul24(a, b); }
_CL uint mul24(uint a, uint b) { return __umul24(a, b); }
_CL int mad24(int a, int b, int c) { return __mul24(a, b) + c; }
_CL uint mad24(uint a, uint b, uint c) { return __umul24(a, b) + c; }
_CL int mul_hi(int a, int b) { return __mulhi(a, b); }
_CL uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
_CL long mul_hi(long a, long b) { return __mul64hi(a, b); }
_CL ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }
_CL_T T mad_hi(T a, T b, T c) { return mul_hi(a, b) + c; }
_CL int hadd(int a, int b) { return __hadd(a, b); }
_CL uint hadd(uint a, uint b) { return __uhadd(a, b); }
_CL int rhadd(int a, int b) { return __rhadd(a, b); }
_CL uint rhadd(uint a, uint b) { return __urhadd(a, b); }
_CL uint rotate(uint a, uint b) { return __funnelshift_l(a, a, b); }
_CL int rotate(int a, int b) { return (int)__funnelshift_l(a, a, b); }
_CL ulong rotate(ulong a, ulong b) { return a << (b & 63) | a >> (-b & 63); }
_CL int popcount(int a) { return __popc(a); }
_CL uint popcount(uint a) { return __popc(a); }
_CL long popcount(long a) { return __popcll(a); }
_CL ulong popcount(ulong a) { return __popcll(a); }
_CL int clz(int a) { return __clz(a); }
_CL uint clz(uint a) { return __clz(a); }
_CL long clz(long a) { return __clzll(a); }
_CL ulong clz(ulong a) { return __clzll(a); }
_CL uint abs(uint a) { return a; }
_CL uint abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
_CL uint abs_diff(uint a, uint b) { return a > b ? a - b : b - a; }
_CL int add_sat(int a, int b) { long s = (long)a + b; return s > 0x7fffffff ? 0x7fffffff : s < -0x7fffffffL - 1 ? -0x7fffffff - 1 : (int)s; }
_CL uint add_sat(uint a, uint b) { return a > ~b ? ~0u : a + b; }
_CL int sub_sat(int a, int b) { long s = (long)a - b; return s > 0x7fffffff ? 0x7fffffff : s < -0x7fffffffL - 1 ? -0x7fffffff - 1 : (int)s; }
_CL uint sub_sat(uint a, uint b) { return a > b ? a - b : 0; }
_CL_T T clamp(T a, _CL_N low, _CL_N high) { return a < low ? low : a > high ? high : a; }
_CL_T T mix(T a, _CL_N b, _CL_N share) { return a + (b - a) * share; }
_CL float step(float edge, float a) { return a < edge ? 0.0f : 1.0f; }
_CL double step(double edge, double a) { return a < edge ? 0.0 : 1.0; }
_CL float smoothstep(float low, float high, float a) {
    float t = clamp((a - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
_CL float sign(float a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a == 0 ? a : 0.0f; }
_CL double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? a : 0.0; }
_CL float degrees(float a) { return a * 57.29577951308232f; }
_CL float radians(float a) { return a * 0.017453292519943295f; }
_CL float maxmag(float a, float b) { return fabsf(a) > fabsf(b) ? a : fabsf(b) > fabsf(a) ? b : fmaxf(a, b); }
_CL float minmag(float a, float b) { return fabsf(a) < fabsf(b) ? a : fabsf(b) < fabsf(a) ? b : fminf(a, b); }
_CL float pown(float a, int b) { return powf(a, (float)b); }
_CL double pown(double a, int b) { return ::pow(a, (double)b); }
_CL float powr(float a, float b) { return powf(a, b); }
_CL double powr(double a, double b) { return ::pow(a, b); }
_CL float rootn(float a, int b) { return a < 0 && b & 1 ? -powf(-a, 1.0f / b) : powf(a, 1.0f / b); }
_CL float fract(float a, float *whole) { *whole = floorf(a); return fminf(a - *whole, 0x1.fffffep-1f); }
_CL float sincos(float a, float *cosine) { float sine; ::sincosf(a, &sine, cosine); return sine; }
_CL_T T select(T a, _CL_N b, int c) { return c ? b : a; }
_CL_T T bitselect(T a, T b, T c) { return (a & ~c) | (b & c); }
#define _CL_FAST(name, value) \
    _CL float native_##name(float a) { return value; } \
    _CL float half_##name(float a) { return value; } \
    _CL_EACH1(native_##name) _CL_EACH1(half_##name)
#define _CL_PTX(name) ({ float _found; asm(name ".approx.ftz.f32 %0, %1;" : "=f"(_found) : "f"(a)); _found; })
_CL_FAST(sin, __sinf(a)) _CL_FAST(cos, __cosf(a)) _CL_FAST(tan, __tanf(a)) _CL_FAST(exp, __expf(a))
_CL_FAST(exp10, __exp10f(a)) _CL_FAST(log, __logf(a)) _CL_FAST(log2, __log2f(a)) _CL_FAST(log10, __log10f(a))
_CL_FAST(exp2, _CL_PTX("ex2")) _CL_FAST(sqrt, _CL_PTX("sqrt")) _CL_FAST(rsqrt, _CL_PTX("rsqrt"))
_CL_FAST(recip, _CL_PTX("rcp"))
#define _CL_FAST2(name, value) \
    _CL float native_##name(float a, float b) { return value; } \
    _CL float half_##name(float a, float b) { return value; } \
    _CL_EACH2(native_##name) _CL_EACH2(half_##name)
_CL_FAST2(divide, __fdividef(a, b)) _CL_FAST2(powr, __powf(a, b))
_CL_EACH1(sin) _CL_EACH1(cos) _CL_EACH1(tan) _CL_EACH1(asin) _CL_EACH1(acos) _CL_EACH1(atan) _CL_EACH1(sinh)
_CL_EACH1(cosh) _CL_EACH1(tanh) _CL_EACH1(exp) _CL_EACH1(exp2) _CL_EACH1(exp10) _CL_EACH1(expm1) _CL_EACH1(log)
_CL_EACH1(log2) _CL_EACH1(log10) _CL_EACH1(log1p) _CL_EACH1(sqrt) _CL_EACH1(rsqrt) _CL_EACH1(cbrt) _CL_EACH1(fabs)
_CL_EACH1(floor) _CL_EACH1(ceil) _CL_EACH1(trunc) _CL_EACH1(round) _CL_EACH1(rint) _CL_EACH1(sign) _CL_EACH1(degrees)
_CL_EACH1(radians) _CL_EACH1(abs) _CL_EACH1(popcount) _CL_EACH1(clz) _CL_EACH1(erf) _CL_EACH1(erfc)
_CL_EACH2(min) _CL_EACH2(max) _CL_EACH2(fmin) _CL_EACH2(fmax) _CL_EACH2(pow) _CL_EACH2(powr) _CL_EACH2(fmod)
_CL_EACH2(atan2) _CL_EACH2(hypot) _CL_EACH2(copysign) _CL_EACH2(fdim) _CL_EACH2(step) _CL_EACH2(mul24)
_CL_EACH2(mul_hi) _CL_EACH2(rotate) _CL_EACH2(add_sat) _CL_EACH2(sub_sat) _CL_EACH2(hadd) _CL_EACH2(rhadd)
_CL_EACH3(mad) _CL_EACH3(fma) _CL_EACH3(mad24) _CL_EACH3(mad_hi) _CL_EACH3(clamp) _CL_EACH3(mix) _CL_EACH3(smoothstep)
template <class T, int N> _CL _cl_vec<T, N> select(_cl_vec<T, N> a, _cl_vec<T, N> b, _cl_mask<T, N> c) {
    for (int i = 0; i < N; i++) a.at[i] = c.at[i] < 0 ? b.at[i] : a.at[i];
    return a;
}
template <class T, int N> _CL int any(_cl_vec<T, N> a) {
    for (int i = 0; i < N; i++) if (a.at[i] < 0) return 1;
    return 0;
}
template <class T, int N> _CL int all(_cl_vec<T, N> a) {
    for (int i = 0; i < N; i++) if (a.at[i] >= 0) return 0;
    return 1;
}

// Geometry
_CL float dot(float a, float b) { return a * b; }
_CL double dot(double a, double b) { return a * b; }
template <class T, int N> _CL T dot(_cl_vec<T, N> a, _cl_vec<T, N> b) {
    T sum = a.at[0] * b.at[0];
    for (int i = 1; i < N; i++) sum += a.at[i] * b.at[i];
    return sum;
}
template <class T> _CL _cl_vec<T, 3> cross(_cl_vec<T, 3> a, _cl_vec<T, 3> b) {
    return _cl_vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
_CL float length(float a) { return fabsf(a); }
template <class T, int N> _CL T length(_cl_vec<T, N> a) { return sqrt(dot(a, a)); }
template <class T> _CL auto distance(T a, T b) { return length(a - b); }
template <class T, int N> _CL _cl_vec<T, N> normalize(_cl_vec<T, N> a) { return a * rsqrt(dot(a, a)); }
template <int N> _CL float fast_length(_cl_vec<float, N> a) { return half_sqrt(dot(a, a)); }
template <int N> _CL float fast_distance(_cl_vec<float, N> a, _cl_vec<float, N> b) { return fast_length(a - b); }
template <int N> _CL _cl_vec<float, N> fast_normalize(_cl_vec<float, N> a) { return a * half_rsqrt(dot(a, a)); }

// Atomic functions
#define _CL_ATOMIC(name, function) \
    template <class T> _CL T atomic_##name(volatile T *at, _CL_N by) { return function((T *)at, by); } \
    template <class T> _CL T atom_##name(volatile T *at, _CL_N by) { return function((T *)at, by); }
_CL unsigned long long *_cl_wide(ulong *at) { return (unsigned long long *)at; }
_CL ulong atomicAdd(ulong *at, ulong by) { return ::atomicAdd(_cl_wide(at), (unsigned long long)by); }
_CL ulong atomicExch(ulong *at, ulong by) { return ::atomicExch(_cl_wide(at), (unsigned long long)by); }
_CL ulong atomicCAS(ulong *at, ulong was, ulong to) {
    return ::atomicCAS(_cl_wide(at), (unsigned long long)was, (unsigned long long)to);
}
_CL long atomicAdd(long *at, long by) { return (long)atomicAdd((ulong *)at, (ulong)by); }
_CL_T T _cl_subtract(T *at, T by) { return atomicAdd(at, (T)-by); }
_CL_ATOMIC(add, atomicAdd) _CL_ATOMIC(sub, _cl_subtract) _CL_ATOMIC(xchg, atomicExch) _CL_ATOMIC(min, atomicMin)
_CL_ATOMIC(max, atomicMax) _CL_ATOMIC(and, atomicAnd) _CL_ATOMIC(or, atomicOr) _CL_ATOMIC(xor, atomicXor)
_CL_T T atomic_inc(volatile T *at) { return atomicAdd((T *)at, (T)1); }
_CL_T T atomic_dec(volatile T *at) { return _cl_subtract((T *)at, (T)1); }
_CL_T T atomic_cmpxchg(volatile T *at, _CL_N was, _CL_N to) { return atomicCAS((T *)at, was, to); }
#define atom_inc atomic_inc
#define atom_dec atomic_dec
#define atom_cmpxchg atomic_cmpxchg

// Conversions, and vectors in arrays of their elements
template <class To, class T> struct _cl_converted { _CL To of(T a) { return (To)a; } };
template <class To, class T, int N> struct _cl_converted<_cl_vec<To, N>, _cl_vec<T, N>> {
    static __device__ __forceinline__ _cl_vec<To, N> of(_cl_vec<T, N> a) {
        _cl_vec<To, N> made;
        for (int i = 0; i < N; i++) made.at[i] = (To)a.at[i];
        return made;
    }
};
template <class To, class T> _CL To _cl_convert(T a) { return _cl_converted<To, T>::of(a); }
template <class To, class T> _CL To _cl_as(T a) {
    static_assert(sizeof(To) == sizeof(T), "as_: types of one size");
    union { T a; To b; } both = {a};
    return both.b;
}
template <int N, class T> _CL _cl_vec<T, N> _cl_load(size_t at, const T *from) {
    _cl_vec<T, N> made;
    for (int i = 0; i < N; i++) made.at[i] = from[at * N + i];
    return made;
}
template <int N, class T> _CL void _cl_store(_cl_vec<T, N> what, size_t at, T *to) {
    for (int i = 0; i < N; i++) to[at * N + i] = what.at[i];
}
#define vload2 _cl_load<2>
#define vload3 _cl_load<3>
#define vload4 _cl_load<4>
#define vload8 _cl_load<8>
#define vload16 _cl_load<16>
#define vstore2 _cl_store<2>
#define vstore3 _cl_store<3>
#define vstore4 _cl_store<4>
#define vstore8 _cl_store<8>
#define vstore16 _cl_store<16>
template <class To, class T> _CL To _cl_saturated(T a) {
    const bool is_signed = (To)-1 < (To)0;
    const int bits = 8 * sizeof(To);
    const To most = is_signed ? (To)((1ull << (bits - 1)) - 1) : (To)-1, least = is_signed ? (To)(1ull << (bits - 1)) : (To)0;
    if (a < (T)0) return is_signed && a > least ? (To)a : least; // C++ compares numbers of either sign without one
    return a >= most ? most : (To)a;
}

// Constants
#define MAXFLOAT 3.402823466e+38f
#define HUGE_VALF __int_as_float(0x7f800000)
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_E_F 2.71828182845904523536f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_E 2.71828182845904523536
#define M_LN2 0.69314718055994530942
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#endif
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#endif
