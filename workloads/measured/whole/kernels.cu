// The whole kernels that were timed on an H200; kernels.cubin is their machine code. Each warp's first lane stores
// the clock at entry and exit, its SM and its block in `rec`.
// nvcc -w -std=c++17 -O3 -arch=sm_90 -cubin -o kernels.cubin kernels.cu (13.0.88)
#include <cstddef>

typedef unsigned int u32;

struct Rec { long long t0, t1; u32 smid, blk; };

__device__ __forceinline__ long long clk() {
  long long c;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory");
  return c;
}
__device__ __forceinline__ u32 smid() {
  u32 s;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
  return s;
}

#define KREC_BEGIN long long t0_ = clk();
#define KREC_END                                                             \
  {                                                                          \
    long long t1_ = clk();                                                   \
    int bid_ = blockIdx.y * gridDim.x + blockIdx.x;                          \
    int tid_ = threadIdx.y * blockDim.x + threadIdx.x;                       \
    if ((tid_ & 31) == 0) {                                                  \
      Rec &q = rec[bid_ * ((blockDim.x * blockDim.y) >> 5) + (tid_ >> 5)];   \
      q.t0 = t0_;                                                            \
      q.t1 = t1_;                                                            \
      q.smid = smid();                                                       \
      q.blk = bid_;                                                          \
    }                                                                        \
  }

template <typename T, int V> struct VecT;
template <> struct VecT<float, 1> { typedef float t; };
template <> struct VecT<float, 2> { typedef float2 t; };
template <> struct VecT<float, 4> { typedef float4 t; };
template <> struct VecT<double, 1> { typedef double t; };
template <> struct VecT<double, 2> { typedef double2 t; };

__device__ __forceinline__ float fma_(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fma_(double a, double b, double c) { return fma(a, b, c); }

// C(M,N) = A(M,K) B(K,N), row by row; one element for each thread, blocks of 16x16
template <int UNR>
__global__ void __launch_bounds__(256)
sgemm_naive(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
            int K, int lda, int ldb, int ldc, Rec *rec) {
  KREC_BEGIN
  int col = blockIdx.x * 16 + (threadIdx.x & 15), row = blockIdx.y * 16 + (threadIdx.x >> 4);
  float s = 0;
#pragma unroll UNR
  for (int k = 0; k < K; k++) s = fmaf(A[(size_t)row * lda + k], B[(size_t)k * ldb + col], s);
  C[(size_t)row * ldc + col] = s;
  KREC_END
}

// the same with tiles of A and B in shared memory
template <int TS>
__global__ void __launch_bounds__(TS * TS)
sgemm_tile(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
           int K, int lda, int ldb, int ldc, Rec *rec) {
  KREC_BEGIN
  __shared__ float As[TS][TS], Bs[TS][TS];
  int tx = threadIdx.x % TS, ty = threadIdx.x / TS;
  int col = blockIdx.x * TS + tx, row = blockIdx.y * TS + ty;
  float s = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += TS) {
    As[ty][tx] = A[(size_t)row * lda + k0 + tx];
    Bs[ty][tx] = B[(size_t)(k0 + ty) * ldb + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TS; k++) s = fmaf(As[ty][k], Bs[k][tx], s);
    __syncthreads();
  }
  C[(size_t)row * ldc + col] = s;
  KREC_END
}

// 256 threads as 16x16, TM x TN results for each; operands from shared memory in groups of VEC, from global memory of
// GV; PRE loads the next tiles into registers beforehand, DB has two tiles of each; A or B transposed (TA, TB)
template <typename T, int BM, int BN, int BK, int TM, int TN, int VEC, int PRE, int DB, bool TA, bool TB, int GV>
__global__ void __launch_bounds__(256)
gemm_blk(const T *__restrict__ A, const T *__restrict__ B, T *__restrict__ C,
         int K, int lda, int ldb, int ldc, Rec *rec) {
  KREC_BEGIN
  constexpr int PADE = 16 / sizeof(T), PA = TA ? 0 : PADE, PB = TB ? PADE : 0;
  constexpr int NB = DB ? 2 : 1;
  constexpr int EA = BM * BK / 256, EB = BN * BK / 256;
  static_assert(EA * 256 == BM * BK && EB * 256 == BN * BK && BM == 16 * TM && BN == 16 * TN && TM % VEC == 0 &&
                TN % VEC == 0, "shape");
  __shared__ __align__(16) T As[NB][BK][BM + PA];
  __shared__ __align__(16) T Bs[NB][BK][BN + PB];
  const int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4;
  const size_t m0 = (size_t)blockIdx.y * BM, n0 = (size_t)blockIdx.x * BN;
  T ra[EA], rb[EB], acc[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) acc[i][j] = T(0);
  typedef typename VecT<T, GV>::t GT;
  typedef typename VecT<T, VEC>::t VT;
  auto gload = [&](int kt) {
#pragma unroll
    for (int e = 0; e < EA / GV; e++) {
      int idx = tid + e * 256;
      if (!TA) {
        int k = (idx % (BK / GV)) * GV, m = idx / (BK / GV);
        *(GT *)&ra[e * GV] = *(const GT *)&A[(m0 + m) * lda + kt + k];
      } else {
        int m = (idx % (BM / GV)) * GV, k = idx / (BM / GV);
        *(GT *)&ra[e * GV] = *(const GT *)&A[(size_t)(kt + k) * lda + m0 + m];
      }
    }
#pragma unroll
    for (int e = 0; e < EB / GV; e++) {
      int idx = tid + e * 256;
      if (TB) {
        int k = (idx % (BK / GV)) * GV, n = idx / (BK / GV);
        *(GT *)&rb[e * GV] = *(const GT *)&B[(n0 + n) * ldb + kt + k];
      } else {
        int n = (idx % (BN / GV)) * GV, k = idx / (BN / GV);
        *(GT *)&rb[e * GV] = *(const GT *)&B[(size_t)(kt + k) * ldb + n0 + n];
      }
    }
  };
  auto sstore = [&](int b) {
#pragma unroll
    for (int e = 0; e < EA / GV; e++) {
      int idx = tid + e * 256;
      if (!TA) {
        int k = (idx % (BK / GV)) * GV, m = idx / (BK / GV);
#pragma unroll
        for (int g = 0; g < GV; g++) As[b][k + g][m] = ra[e * GV + g];
      } else {
        int m = (idx % (BM / GV)) * GV, k = idx / (BM / GV);
        *(GT *)&As[b][k][m] = *(GT *)&ra[e * GV];
      }
    }
#pragma unroll
    for (int e = 0; e < EB / GV; e++) {
      int idx = tid + e * 256;
      if (TB) {
        int k = (idx % (BK / GV)) * GV, n = idx / (BK / GV);
#pragma unroll
        for (int g = 0; g < GV; g++) Bs[b][k + g][n] = rb[e * GV + g];
      } else {
        int n = (idx % (BN / GV)) * GV, k = idx / (BN / GV);
        *(GT *)&Bs[b][k][n] = *(GT *)&rb[e * GV];
      }
    }
  };
  auto comp = [&](int b) {
#pragma unroll
    for (int k = 0; k < BK; k++) {
      T a[TM], bb[TN];
#pragma unroll
      for (int i = 0; i < TM; i += VEC) *(VT *)&a[i] = *(const VT *)&As[b][k][(i / VEC) * 16 * VEC + ty * VEC];
#pragma unroll
      for (int j = 0; j < TN; j += VEC) *(VT *)&bb[j] = *(const VT *)&Bs[b][k][(j / VEC) * 16 * VEC + tx * VEC];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] = fma_(a[i], bb[j], acc[i][j]);
    }
  };
  if (DB) {
    gload(0);
    sstore(0);
    __syncthreads();
    int b = 0;
#pragma unroll 1
    for (int kt = 0; kt < K; kt += BK) {
      bool nx = kt + BK < K;
      if (nx) gload(kt + BK);
      comp(b);
      if (nx) {
        sstore(b ^ 1);
        __syncthreads();
      }
      b ^= 1;
    }
  } else if (PRE) {
    gload(0);
#pragma unroll 1
    for (int kt = 0; kt < K; kt += BK) {
      sstore(0);
      __syncthreads();
      if (kt + BK < K) gload(kt + BK);
      comp(0);
      __syncthreads();
    }
  } else {
#pragma unroll 1
    for (int kt = 0; kt < K; kt += BK) {
      gload(kt);
      sstore(0);
      __syncthreads();
      comp(0);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++)
      C[(m0 + (i / VEC) * 16 * VEC + ty * VEC + i % VEC) * ldc + n0 + (j / VEC) * 16 * VEC + tx * VEC + j % VEC] =
          acc[i][j];
  KREC_END
}

// the sum of 2048 floats in a block
__global__ void __launch_bounds__(256) reduce_shfl(const float *__restrict__ in, float *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  __shared__ float s[8];
  int t = threadIdx.x;
  const float *p = in + (size_t)blockIdx.x * 2048;
  float v = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) v += p[t + i * 256];
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if ((t & 31) == 0) s[t >> 5] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 8 ? s[t] : 0.f;
#pragma unroll
    for (int o = 4; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (t == 0) out[blockIdx.x] = v;
  }
  KREC_END
}

// a stencil of three points in one dimension, 1024 results for each block
__global__ void __launch_bounds__(256)
stencil3(const float *__restrict__ in, float *__restrict__ out, float a, float b, float c, Rec *rec) {
  KREC_BEGIN
  int base = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int g = base + i * 256;
    out[g] = a * in[g] + b * in[g + 1] + c * in[g + 2];
  }
  KREC_END
}

// transpose of tiles of 32x32 through shared memory, nbx x nby of them
template <int PADN>
__global__ void __launch_bounds__(256)
transpose_smem(const float *__restrict__ in, float *__restrict__ out, int nbx, int nby, Rec *rec) {
  KREC_BEGIN
  __shared__ float s[32][32 + PADN];
  int bx = blockIdx.x % nbx, by = blockIdx.x / nbx, tx = threadIdx.x & 31, ty = threadIdx.x >> 5;
#pragma unroll
  for (int j = 0; j < 32; j += 8) s[ty + j][tx] = in[(size_t)(by * 32 + ty + j) * (nbx * 32) + bx * 32 + tx];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(size_t)(bx * 32 + ty + j) * (nby * 32) + by * 32 + tx] = s[tx][ty + j];
  KREC_END
}

__device__ __forceinline__ float wmax(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}
__device__ __forceinline__ float wsum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
// softmax of a row of 1024 in each block
__global__ void __launch_bounds__(256) softmax_row(const float *__restrict__ in, float *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  __shared__ float sm[8], ss[8];
  int t = threadIdx.x;
  const float *p = in + (size_t)blockIdx.x * 1024;
  float x[4];
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = p[t + i * 256];
  float m = wmax(fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])));
  if ((t & 31) == 0) sm[t >> 5] = m;
  __syncthreads();
  m = sm[0];
#pragma unroll
  for (int i = 1; i < 8; i++) m = fmaxf(m, sm[i]);
  float s = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    x[i] = __expf(x[i] - m);
    s += x[i];
  }
  s = wsum(s);
  if ((t & 31) == 0) ss[t >> 5] = s;
  __syncthreads();
  s = ss[0];
#pragma unroll
  for (int i = 1; i < 8; i++) s += ss[i];
  float r = __frcp_rn(s);
#pragma unroll
  for (int i = 0; i < 4; i++) out[(size_t)blockIdx.x * 1024 + t + i * 256] = x[i] * r;
  KREC_END
}

// inclusive scan of 512 in each block, by Hillis and Steele's method with two buffers
__global__ void __launch_bounds__(512) scan_hs(const float *__restrict__ in, float *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  __shared__ float s[2][512];
  int t = threadIdx.x;
  s[0][t] = in[blockIdx.x * 512 + t];
  __syncthreads();
  int b = 0;
#pragma unroll 1
  for (int o = 1; o < 512; o <<= 1) {
    float v = s[b][t];
    if (t >= o) v += s[b][t - o];
    s[b ^ 1][t] = v;
    b ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[b][t];
  KREC_END
}

// histogram of 4096 keys in each block: 256 bins, atomic additions in shared memory
__global__ void __launch_bounds__(256) hist_smem(const u32 *__restrict__ in, u32 *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  __shared__ u32 h[256];
  int t = threadIdx.x;
  h[t] = 0;
  __syncthreads();
  const u32 *p = in + (size_t)blockIdx.x * 4096;
#pragma unroll 4
  for (int i = 0; i < 16; i++) atomicAdd(&h[p[t + i * 256] & 255], 1u);
  __syncthreads();
  out[(size_t)blockIdx.x * 256 + t] = h[t];
  KREC_END
}

__constant__ float pc[65];
// a polynomial of degree 64 by Horner's rule at 8 points for each thread, ILP of them at a time
template <int ILP>
__global__ void __launch_bounds__(256) poly(const float *__restrict__ in, float *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  size_t base = (size_t)blockIdx.x * 2048 + threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 8; i += ILP) {
    float x[ILP], s[ILP];
#pragma unroll
    for (int k = 0; k < ILP; k++) {
      x[k] = in[base + (i + k) * 256];
      s[k] = pc[64];
    }
#pragma unroll
    for (int d = 63; d >= 0; d--)
#pragma unroll
      for (int k = 0; k < ILP; k++) s[k] = fmaf(s[k], x[k], pc[d]);
#pragma unroll
    for (int k = 0; k < ILP; k++) out[base + (i + k) * 256] = s[k];
  }
  KREC_END
}

// bitonic sort of 1024 keys in the shared memory of each block
__global__ void __launch_bounds__(512) bitonic(const u32 *__restrict__ in, u32 *__restrict__ out, Rec *rec) {
  KREC_BEGIN
  __shared__ u32 s[1024];
  int t = threadIdx.x;
  s[t] = in[(size_t)blockIdx.x * 1024 + t];
  s[t + 512] = in[(size_t)blockIdx.x * 1024 + t + 512];
  __syncthreads();
#pragma unroll 1
  for (int k = 2; k <= 1024; k <<= 1)
#pragma unroll 1
    for (int j = k >> 1; j > 0; j >>= 1) {
      int i = 2 * t - (t & (j - 1));
      u32 a = s[i], b = s[i + j];
      bool up = (i & k) == 0;
      if ((a > b) == up) {
        s[i] = b;
        s[i + j] = a;
      }
      __syncthreads();
    }
  out[(size_t)blockIdx.x * 1024 + t] = s[t];
  out[(size_t)blockIdx.x * 1024 + t + 512] = s[t + 512];
  KREC_END
}

// z = a x + y, 1024 elements for each block
__global__ void __launch_bounds__(256)
saxpy(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, float a, Rec *rec) {
  KREC_BEGIN
  size_t b = (size_t)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; i++) z[b + i * 256] = fmaf(a, x[b + i * 256], y[b + i * 256]);
  KREC_END
}

#define GEMM(T, ...) \
  template __global__ void __VA_ARGS__(const T *, const T *, T *, int, int, int, int, Rec *);
GEMM(float, sgemm_naive<4>)
GEMM(float, sgemm_tile<16>)
GEMM(float, gemm_blk<float, 64, 64, 16, 4, 4, 1, 0, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 64, 64, 16, 4, 4, 4, 1, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 96, 96, 16, 6, 6, 2, 0, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 96, 96, 16, 6, 6, 1, 1, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 128, 128, 8, 8, 8, 4, 0, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 128, 128, 8, 8, 8, 1, 1, 0, false, false, 1>)
GEMM(float, gemm_blk<float, 128, 128, 8, 8, 8, 2, 1, 1, false, false, 1>)
GEMM(float, gemm_blk<float, 128, 128, 8, 8, 8, 4, 1, 0, false, true, 1>)
GEMM(double, gemm_blk<double, 64, 64, 16, 4, 4, 1, 0, 0, false, false, 1>)
GEMM(double, gemm_blk<double, 64, 64, 16, 4, 4, 2, 1, 0, false, false, 1>)
template __global__ void transpose_smem<0>(const float *, float *, int, int, Rec *);
template __global__ void poly<2>(const float *, float *, Rec *);
