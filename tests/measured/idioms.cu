// Idioms of CUDA C, a kernel for each kind: tests/idioms.py has their launches.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace cg = cooperative_groups;
using u32 = unsigned int;
using u64 = unsigned long long;

extern "C" __global__ void sums(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void divisions(const int* a, const int* b, int* c, u32* d, long long* e, u64* f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] / b[i] + a[i] % b[i];
    d[i] = (u32)a[i] / (u32)(b[i]);
    e[i] = (long long)a[i] * 1234567891011LL / ((long long)b[i]);
    f[i] = (u64)e[i] % (u64)(b[i] + 7);
  }
}

extern "C" __global__ void float_divisions(const float* a, const float* b, float* c, double* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] / b[i] + sqrtf(a[i]) + rsqrtf(b[i]) + 1.f / b[i];
    d[i] = (double)a[i] / (double)b[i] + sqrt((double)a[i]) + rsqrt((double)b[i]);
  }
}

extern "C" __global__ void functions(const float* a, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = a[i];
    c[i] = sinf(x) + cosf(x) + tanf(x) + expf(x) + logf(x) + powf(x, 1.7f) + atan2f(x, 2.f) + tanhf(x) +
           erff(x) + asinf(x) + acosf(x) + sinhf(x) + log1pf(x) + expm1f(x) + cbrtf(x) + exp2f(x) + log2f(x) +
           log10f(x) + fmodf(x, 3.f) + remainderf(x, 2.f) + hypotf(x, 1.f) + lgammaf(x) + tgammaf(x) +
           j0f(x) + normcdff(x) + rintf(x) + floorf(x) + ceilf(x) + truncf(x) + roundf(x) + ldexpf(x, 3) +
           erfinvf(x);
  }
}

extern "C" __global__ void double_functions(const double* a, double* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double x = a[i];
    c[i] = sin(x) + cos(x) + exp(x) + log(x) + pow(x, 1.7) + atan2(x, 2.) + tanh(x) + erf(x) + asin(x) +
           cbrt(x) + floor(x) + ceil(x) + rint(x) + trunc(x) + fma(x, x, x) + fmax(x, 1.) + fmin(x, 2.) +
           fabs(x) + fmod(x, 3.) + lgamma(x);
  }
}

extern "C" __global__ void conversions(const float* a, int8_t* b, uint8_t* c, int16_t* d, uint16_t* e, long long* f,
                                u64* g, double* h, int* o, u32* p, int n) {
  int i = threadIdx.x;
  if (i < n) {
    float x = a[i];
    b[i] = x;
    c[i] = x;
    d[i] = x;
    e[i] = x;
    f[i] = x;
    g[i] = x;
    h[i] = x;
    o[i] = x;
    p[i] = x;
    o[i + n] = __float2int_rn(x);
    o[i + 2 * n] = __float2int_ru(x);
    o[i + 3 * n] = __float2int_rd(x);
    p[i + n] = __double2uint_rn(h[i] * 3);
    f[i + n] = __double2ll_rd(h[i] * 7);
    h[i + n] = (double)f[i] + (double)g[i] + (double)o[i] + (double)p[i];
    ((float*)h)[i + 8 * n] =
        (float)f[i] + (float)g[i] + (float)d[i] + (float)c[i] + __ll2float_rz(f[i]) + __uint2float_ru(p[i]);
  }
}

extern "C" __global__ void halves(const __half* a, const __half2* b, __half* c, __half2* d, float* f, int n) {
  int i = threadIdx.x;
  if (i < n) {
    c[i] = a[i] * a[i + 1] + a[i + 2];
    d[i] = __hfma2(b[i], b[i + 1], b[i + 2]);
    d[i + n] = __hadd2(b[i], b[i]) / b[i + 3];
    c[i + n] = hexp(a[i]) + hlog(a[i]) + hsin(a[i]) + hsqrt(a[i]) + hrcp(a[i]) + hrsqrt(a[i]) + htrunc(a[i]) +
               hfloor(a[i]) + hceil(a[i]) + hrint(a[i]);
    f[i] = __half2float(a[i]) + __low2float(b[i]);
    c[i + 2 * n] = __float2half_rz(f[i]);
    if (a[i] < a[i + 1]) c[i + 3 * n] = __hmax(a[i], a[i + 1]);
    if (__hbgt2(b[i], b[i + 1])) d[i + 3 * n] = __hmin2(b[i], b[i + 2]);
    c[i + 4 * n] = __int2half_rn(i);
    f[i + n] = __half2int_rz(a[i]);
    d[i + 4 * n] = __habs2(__hneg2(b[i]));
    d[i + 5 * n] = __hfma2_relu(b[i], b[i + 1], b[i + 2]);
    d[i + 6 * n] = __hfma2_sat(b[i], b[i + 1], b[i + 2]);
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
extern "C" __global__ void brain_floats(const __nv_bfloat16* a, const __nv_bfloat162* b, __nv_bfloat16* c,
                                __nv_bfloat162* d, float* f, int n) {
  int i = threadIdx.x;
  if (i < n) {
    c[i] = a[i] * a[i + 1] + a[i + 2];
    d[i] = __hfma2(b[i], b[i + 1], b[i + 2]);
    d[i + n] = __hmul2(b[i], b[i + 1]);
    f[i] = __bfloat162float(a[i]);
    c[i + n] = __float2bfloat16(f[i]);
    if (a[i] < a[i + 1]) c[i + 2 * n] = __hmax(a[i], a[i + 1]);
    d[i + 2 * n] = __floats2bfloat162_rn(f[i], f[i + 1]);
  }
}

#endif
extern "C" __global__ void across_lanes(const int* a, int* o, u32* p, float* f, double* d, u64* l, int n) {
  int i = threadIdx.x;
  int x = a[i];
  o[i] = __shfl_sync(~0u, x, i + 1) + __shfl_up_sync(~0u, x, 2) + __shfl_down_sync(~0u, x, 3, 16) +
         __shfl_xor_sync(~0u, x, 5);
  p[i] = __ballot_sync(~0u, x > 3) + __any_sync(~0u, x > 3) + __all_sync(~0u, x > 2) +
         __match_any_sync(~0u, x) + __activemask() + __popc(x) + __clz(x) + __ffs(x) + __brev(x);
  int pred;
  p[i + n] = __match_all_sync(~0u, x, &pred) + pred;
  l[i] = __match_any_sync(~0u, l[i]);
#if __CUDA_ARCH__ >= 800
  o[i + n] = __reduce_add_sync(~0u, x) + __reduce_min_sync(~0u, x) + __reduce_max_sync(~0u, x);
  p[i + 2 * n] = __reduce_and_sync(~0u, (u32)x) + __reduce_or_sync(~0u, (u32)x) +
                 __reduce_xor_sync(~0u, (u32)x) + __reduce_max_sync(~0u, (u32)x);
#endif
  f[i] = __shfl_sync(0xff, f[i], 0, 8);
  d[i] = __shfl_down_sync(~0u, d[i], 4);
  if (x & 1) {
    __syncwarp(__activemask());
    o[i + 2 * n] = x;
  }
}

extern "C" __global__ void bit_tricks(const u32* a, u32* o, u64* l, int n) {
  int i = threadIdx.x;
  u32 x = a[i], y = a[i + 1];
  o[i] = __byte_perm(x, y, 0x5140) + __funnelshift_l(x, y, i) + __funnelshift_rc(x, y, i) +
         __dp4a((int)x, (int)y, 3) + __umulhi(x, y) + __mulhi((int)x, (int)y) + __usad(x, y, 3) +
         __sad((int)x, (int)y, 3u) + __rhadd((int)x, (int)y) + __vadd2(x, y) + __vabsdiffu4(x, y) +
         __vmaxs2(x, y) + __vcmpgtu4(x, y) + __viaddmax_s32(x, y, 3) + __vimax3_s32(x, y, 4) +
         __dp2a_lo((int)x, (int)y, 2) + __vibmax_s32(x, y, (bool*)l) + __vsub4(x, y) + __vavgu4(x, y) +
         __vminu4(x, y);
  l[i] = __brevll(l[i]) + __popcll(l[i]) + __clzll(l[i]) + (l[i] << i) + (l[i] >> i) +
         ((long long)l[i] >> 3) + __umul64hi(l[i], x) + __ffsll(l[i]) + (u64)x * y;
}

extern "C" __global__ void local_array(const float* a, float* o, int n) {
  float t[32];
  int i = threadIdx.x;
  for (int j = 0; j < 32; j++) t[j] = a[j * 32 + i];
  for (int k = 0; k < n; k++) {
    int j = ((int)a[k]) & 31;
    t[j] += t[(j * 7 + k) & 31];
  }
  float s = 0;
  for (int j = 0; j < 32; j++) s += t[(j + n) & 31] * j;
  o[i] = s;
}

__constant__ float ct[64];
__constant__ int ci[64];
__device__ float dg[128];
__device__ int counter;
extern "C" __global__ void constants(const int* a, float* o, int n) {
  int i = threadIdx.x;
  o[i] = ct[a[i] & 63] + ct[n] + ci[blockIdx.x] + dg[i];
  if (i == 0) counter++;
  dg[i] = o[i];
}

__device__ __noinline__ int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void recursion(const int* a, int* o) {
  int i = threadIdx.x;
  o[i] = fib(a[i] & 7);
}

typedef float (*fp)(float);
__device__ __noinline__ float f1(float x) {
  return x * 2;
}

__device__ __noinline__ float f2(float x) {
  return x * x + 1;
}

__device__ fp tabf[2] = {f1, f2};
extern "C" __global__ void function_pointers(const float* a, float* o) {
  int i = threadIdx.x;
  o[i] = tabf[i & 1](a[i]);
}

extern "C" __global__ void jump_table(const int* a, int* o, int n) {
  int i = threadIdx.x;
  int x = a[i], r = 0;
  for (int k = 0; k < n; k++) {
    switch (x & 7) {
      case 0:
        r += x;
        x = x * 3 + 1;
        break;
      case 1:
        r ^= k;
        x >>= 1;
        break;
      case 2:
        r -= 7;
        x += k;
        break;
      case 3:
        r *= 3;
        x ^= r;
        break;
      case 4:
        r |= x;
        x -= 2;
        break;
      case 5:
        r &= ~x;
        x *= 5;
        break;
      case 6:
        if (r > 100) goto out;
        r += 9;
        x /= 3;
        break;
      default:
        r = x - r;
        x += 13;
    }
  }
out:
  o[i] = r;
}

extern "C" __global__ void scan(const int* a, int* o, int n) {
  extern __shared__ int s[];
  int i = threadIdx.x;
  s[i] = a[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int v = i >= d ? s[i - d] : 0;
    __syncthreads();
    s[i] += v;
    __syncthreads();
  }
  o[blockIdx.x * blockDim.x + i] = s[i];
}

extern "C" __global__ void counting_barriers(const int* a, int* o) {
  int i = threadIdx.x;
  o[i] = __syncthreads_count(a[i] > 3) + __syncthreads_and(a[i] > 1) + __syncthreads_or(a[i] > 7);
}

extern "C" __global__ void thread_groups(const float* a, float* o) {
  cg::thread_block b = cg::this_thread_block();
  auto t = cg::tiled_partition<8>(b);
  float x = a[b.thread_rank()];
  for (int d = 4; d; d /= 2) x += t.shfl_down(x, d);
  if (t.thread_rank() == 0) o[b.thread_rank() / 8] = x;
  auto c = cg::coalesced_threads();
  if (threadIdx.x & 1) {
    auto e = cg::coalesced_threads();
    o[100 + threadIdx.x] = e.shfl(x, 0);
  }
  b.sync();
}

struct S3 {
  float x, y, z;
};
struct S16 {
  float4 v;
  int k;
};
extern "C" __global__ void structures(const S3* a, S3* b, S16 p, const S16* q, S16* r, int n) {
  int i = threadIdx.x;
  if (i < n) {
    S3 t = a[i];
    t.x += p.v.x;
    t.y *= p.k;
    b[i] = t;
    r[i] = q[i];
    r[i].k += 3;
  }
}

extern "C" __global__ void vectors(const float4* a, float4* b, const int2* c, int2* d, const double2* e,
                               double2* f, const uchar4* g, uchar4* h, const short2* k, short2* l, int n) {
  int i = threadIdx.x;
  float4 t = a[i];
  t.w = -t.x;
  b[i] = t;
  int2 u = c[i];
  u.x = min(u.x, u.y);
  d[i] = u;
  double2 v = e[i];
  v.x = max(v.x, v.y);
  f[i] = v;
  uchar4 w = g[i];
  w.x += w.y;
  h[i] = w;
  short2 s = k[i];
  s.x = abs(s.y);
  l[i] = s;
}

template <int N, typename T>
__device__ T red(T* p) {
  T s = 0;
  for (int i = 0; i < N; i++) s += p[i * N];
  return s;
}

extern "C" __global__ void templates(float* a, double* b, int* c) {
  int i = threadIdx.x;
  a[i] = red<4>(a + i) + red<9>(a + 2 * i);
  b[i] = red<5>(b + i);
  c[i] = red<7>(c + i);
}

extern "C" __global__ void lu(double* a, int n, int k) {
  int i = blockIdx.y * blockDim.y + threadIdx.y + k + 1, j = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
  if (i < n && j < n) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
}

extern "C" __global__ void nbody(const float4* p, float4* acc, int n) {
  __shared__ float4 s[128];
  float4 me = p[blockIdx.x * 128 + threadIdx.x];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 128) {
    s[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 128; j++) {
      float4 q = s[j];
      float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
      float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = rsqrtf(r2);
      float f = q.w * inv * inv * inv;
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    __syncthreads();
  }
  acc[blockIdx.x * 128 + threadIdx.x] = make_float4(ax, ay, az, 0);
}

extern "C" __global__ void fft(float2* a, int n, int s) {
  int i = threadIdx.x;
  float sn, cs;
  __sincosf(-6.2831853f * i / n, &sn, &cs);
  float2 x = a[i], y = a[i + n / 2];
  float tr = y.x * cs - y.y * sn, ti = y.x * sn + y.y * cs;
  a[i] = make_float2(x.x + tr, x.y + ti);
  a[i + n / 2] = make_float2(x.x - tr, x.y - ti);
  sincosf(a[i].x, &sn, &cs);
  a[i + s].x = sn;
  a[i + s].y = cs;
}

extern "C" __global__ void bitonic(u32* a, int j, int k) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, x = i ^ j;
  if (x > i) {
    u32 p = a[i], q = a[x];
    if ((p > q) == ((i & k) == 0)) {
      a[i] = q;
      a[x] = p;
    }
  }
}

extern "C" __global__ void hash_table(const u32* a, u64* keys, u32* vals, int n) {
  int i = threadIdx.x;
  u64 k = a[i] * 0x9E3779B97F4A7C15ull;
  u32 h = k >> 40;
  while (true) {
    u64 old = atomicCAS(keys + (h & 1023), 0ull, k);
    if (old == 0 || old == k) {
      atomicAdd(vals + (h & 1023), 1u);
      break;
    }
    h++;
  }
}

extern "C" __global__ void random_numbers(u32* o, float* f, int n) {
  int i = threadIdx.x;
  u32 s0 = i * 747796405u + 2891336453u;
  for (int k = 0; k < n; k++) {
    s0 = s0 * 1664525u + 1013904223u;
    u32 w = ((s0 >> ((s0 >> 28) + 4)) ^ s0) * 277803737u;
    w = (w >> 22) ^ w;
    o[i] ^= w;
    f[i] += w * 2.3283064e-10f;
  }
}

extern "C" __global__ void wide_integers(const long long* a, long long* o, int n) {
  int i = threadIdx.x;
  long long x = a[i], y = a[i + 1];
  o[i] = x * y + (x < y ? x : y) - (x > 0) + (x ^ y) + (x & ~y) + llabs(x) + max(x, y);
  o[i + n] = x == y ? 3 : x != 0;
}

extern "C" __global__ void float_comparisons(const float* a, float* o, int n) {
  int i = threadIdx.x;
  float x = a[i], y = a[i + 1];
  o[i] = fminf(x, y) + fmaxf(x, -y) + fabsf(x) + copysignf(x, y) + (x < y) + (x >= y) + isnan(x) + isinf(y) +
         signbit(x) + __saturatef(x) + (x == y ? 1.f : 2.f) + fdimf(x, y) + nextafterf(x, y) +
         __fadd_rz(x, y) + __fmul_ru(x, y) + __fmaf_rd(x, y, x) + __fdividef(x, y) + __expf(x) + __logf(y) +
         __powf(x, y) + __tanf(x) + __frcp_rn(x) + __fsqrt_ru(x) + __fdiv_rn(x, y);
}

extern "C" __global__ void double_comparisons(const double* a, double* o, int n) {
  int i = threadIdx.x;
  double x = a[i], y = a[i + 1];
  o[i] = (x < y) + (x >= y) + isnan(x) + isinf(y) + __dadd_rz(x, y) + __dmul_ru(x, y) + __fma_rd(x, y, x) +
         copysign(x, y) + __hiloint2double(3, 4) + __double2hiint(x) + (x == y);
}

extern "C" __global__ void bytes_and_shorts(const int8_t* a, const int16_t* b, int* o, uint8_t* c, int n) {
  int i = threadIdx.x;
  o[i] = a[i] * b[i] + a[i + 1];
  c[i] = a[i] > b[i] ? a[i] : c[i + 1] >> 2;
  c[i + n] = b[i];
  ((int16_t*)c)[i + n] = a[i] << 3;
}

extern "C" __global__ void mandelbrot(u32* o, int w, float s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float cr = x * s - 2, ci = y * s - 1, zr = 0, zi = 0;
  int k = 0;
  while (k < 256 && zr * zr + zi * zi < 4) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    k++;
  }
  o[y * w + x] = k;
}

extern "C" __global__ void traps(const float* __restrict__ a, float* __restrict__ o, int n) {
  a = (const float*)__builtin_assume_aligned(a, 16);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    o[i] = a[i] * a[i];
    if (o[i] < 0) __trap();
  }
}

extern "C" __global__ void dynamic_shared(double* o) {
  extern __shared__ double sd[];
  int i = threadIdx.x;
  sd[i] = i;
  __syncthreads();
  o[i] = sd[blockDim.x - 1 - i];
  ((float4*)sd)[i] = make_float4(1, 2, 3, 4);
  o[i + 1] = ((uint8_t*)sd)[i];
}

extern "C" __global__ void memory_orders(int* a, int* o) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(a));
  asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(o), "r"(v));
  asm volatile("atom.add.acq_rel.gpu.global.s32 %0, [%1], 3;" : "=r"(v) : "l"(a));
  asm volatile("red.release.cta.global.add.u32 [%0], 2;" ::"l"(o));
  asm volatile("fence.acq_rel.gpu;");
  asm volatile("fence.sc.cta;");
  o[1] = v;
}
