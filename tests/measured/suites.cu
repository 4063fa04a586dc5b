// Seventy-five kernels as users write them, timed on an H200: matrix products that differ from those of
// workloads/measured/whole in how they load, buffer and block, and kernels like those of public suites.
//
//   nvcc 13.0.88: nvcc -w -std=c++17 -O3 -arch=sm_90 -cubin suites.cu   the code that is simulated (suites.cubin.xz)
//   nvcc -w -std=c++17 -O3 -arch=sm_90 suites.cu -o suites; ./suites    prints gpusim/published/h200_suites.csv
//
// A launch is one block (solo), one on each of 132 SMs (persm), as many as fit (resident), or a whole problem (full). A
// row has the size of arrays a, b and c in words, what a and b hold (`f` real numbers in [-1, 1), `d` the same as
// doubles, `u` 32 random bits, `0` zeros), and the arguments: an array, `i` a whole number, `f` and `d` a real one, `r`
// the clocks. Cycles are from the first warp's entry to the last one's exit: of a block, the median over blocks, and of
// an SM, the median over SMs; then the median of 7 launches, 5 of whole problems, behind a first one.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "../../workloads/measured/whole/kernels.cu"

typedef unsigned long long u64;
typedef unsigned char u8;
#define CK(x)                                                                                                          \
  do {                                                                                                                 \
    cudaError_t e_ = x;                                                                                                \
    if (e_) {                                                                                                          \
      fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_));                                                         \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)
static Rec *drec;
static char *pool;
static const size_t MAXREC = (size_t)4 << 20;
static std::vector<Rec> hrec;
static cudaEvent_t e0, e1;
static double med(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  size_t n = v.size();
  return n & 1 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}
__constant__ float ctab[256];
__global__ void row_walk(const float *p, float *o, int n, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int j = 0; j < n; j++)
    s += p[(size_t)i * n + j];
  o[i] = s;
  KREC_END
}
__global__ void col_walk(const float *p, float *o, int n, int w, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int j = 0; j < n; j++)
    s += p[(size_t)j * w + i];
  o[i] = s;
  KREC_END
}
__global__ void conv2d(const float *p, float *o, int w, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float *r = p + (size_t)y * w + x;
  o[(size_t)y * w + x] = 0.2f * r[0] + 0.5f * r[1] - 0.8f * r[2] - 0.3f * r[w] + 0.6f * r[w + 1] - 0.9f * r[w + 2] +
                         0.4f * r[2 * w] + 0.7f * r[2 * w + 1] + 0.1f * r[2 * w + 2];
  KREC_END
}
__global__ void conv3d(const float *p, float *o, int w, int plane, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int z = 1; z < 9; z++) {
    const float *r = p + (size_t)z * plane + (y + 1) * w + x + 1;
    o[(size_t)z * plane + (y + 1) * w + x + 1] =
        0.5f * r[0] + 0.1f * (r[1] + r[-1]) + 0.2f * (r[w] + r[-w]) + 0.3f * (r[plane] + r[-plane]);
  }
  KREC_END
}
__global__ void jacobi2d(const float *p, float *o, int w, int h, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    o[(size_t)y * w + x] = 0.2f * (p[(size_t)y * w + x] + p[(size_t)y * w + x - 1] + p[(size_t)y * w + x + 1] +
                                   p[(size_t)(y - 1) * w + x] + p[(size_t)(y + 1) * w + x]);
  KREC_END
}
__global__ void __launch_bounds__(256) hotspot(const float *p, const float *q, float *o, int w, int h, Rec *rec) {
  KREC_BEGIN __shared__ float t[16][16], u[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = min(max((int)blockIdx.x * 14 + tx - 1, 0), w - 1), y = min(max((int)blockIdx.y * 14 + ty - 1, 0), h - 1);
  t[ty][tx] = p[(size_t)y * w + x];
  float pw = q[(size_t)y * w + x];
  __syncthreads();
  for (int it = 0; it < 2; it++) {
    bool in = tx > it && tx < 15 - it && ty > it && ty < 15 - it;
    float v = 0;
    if (in)
      v = t[ty][tx] + 0.3f * (pw + (t[ty + 1][tx] + t[ty - 1][tx] - 2.f * t[ty][tx]) * 0.7f +
                              (t[ty][tx + 1] + t[ty][tx - 1] - 2.f * t[ty][tx]) * 0.2f + (80.f - t[ty][tx]) * 0.1f);
    __syncthreads();
    if (in)
      t[ty][tx] = v;
    __syncthreads();
  }
  if (tx > 1 && tx < 14 && ty > 1 && ty < 14)
    o[(size_t)y * w + x] = t[ty][tx];
  KREC_END
}
__global__ void __launch_bounds__(256) path_dp(const int *p, int *o, int w, int rows, Rec *rec) {
  KREC_BEGIN __shared__ int s[256], r[256];
  int t = threadIdx.x;
  int x = min((int)blockIdx.x * 240 + t, w - 1);
  s[t] = p[x] & 1023;
  __syncthreads();
  for (int i = 0; i < rows; i++) {
    bool in = t > i && t < 255 - i;
    int v = 0;
    if (in) {
      int m = min(s[t - 1], min(s[t], s[t + 1]));
      v = m + (p[(size_t)(i + 1) * w + x] & 1023);
      r[t] = v;
    }
    __syncthreads();
    if (in)
      s[t] = r[t];
    __syncthreads();
  }
  if (t >= 8 && t < 248)
    o[x] = s[t];
  KREC_END
}
__global__ void __launch_bounds__(256) layer_fwd(const float *p, const float *q, float *o, int hid, Rec *rec) {
  KREC_BEGIN __shared__ float in[16], wm[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int idx = (hid + 1) * 16 * blockIdx.x + (hid + 1) * ty + tx + 1 + hid + 1;
  if (tx == 0)
    in[ty] = q[16 * blockIdx.x + ty + 1];
  __syncthreads();
  wm[ty][tx] = p[idx];
  __syncthreads();
  wm[ty][tx] *= in[ty];
  __syncthreads();
  for (int i = 1; i <= 4; i++) {
    int pw = 1 << i;
    if (ty % pw == 0)
      wm[ty][tx] += wm[ty + pw / 2][tx];
    __syncthreads();
  }
  if (tx == 0)
    o[blockIdx.x * 16 + ty] = wm[tx][ty];
  KREC_END
}
__global__ void bfs_step(const u32 *idx, const u32 *visited, u32 *cost, int nmask, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((visited[i] & 3) == 0) {
    int d = visited[i] >> 28;
    for (int e = 0; e < d; e++) {
      u32 n = idx[i * 16 + e] & nmask;
      if (visited[n] & 4)
        cost[n] = i;
    }
  }
  KREC_END
}
__global__ void __launch_bounds__(256) kmeans(const float *p, const float *c, int *o, int np, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  float best = 3e38f;
  int bi = 0;
  for (int k = 0; k < 8; k++) {
    float d = 0;
    for (int f = 0; f < 8; f++) {
      float t = p[(size_t)f * np + i] - c[k * 8 + f];
      d += t * t;
    }
    if (d < best) {
      best = d;
      bi = k;
    }
  }
  o[i] = bi;
  KREC_END
}
__global__ void __launch_bounds__(32) lud_diag(const float *p, float *o, Rec *rec) {
  KREC_BEGIN __shared__ float s[16][16];
  int t = threadIdx.x;
  if (t < 16)
    for (int i = 0; i < 16; i++)
      s[i][t] = p[blockIdx.x * 256 + i * 16 + t] + (i == t ? 16.f : 0.f);
  __syncwarp();
  for (int i = 0; i < 15; i++) {
    if (t > i && t < 16) {
      for (int j = 0; j < i; j++)
        s[t][i] -= s[t][j] * s[j][i];
      s[t][i] /= s[i][i];
    }
    __syncwarp();
    if (t > i && t < 16)
      for (int j = 0; j < i + 1; j++)
        s[i + 1][t] -= s[i + 1][j] * s[j][t];
    __syncwarp();
  }
  if (t < 16)
    for (int i = 0; i < 16; i++)
      o[blockIdx.x * 256 + i * 16 + t] = s[i][t];
  KREC_END
}
__global__ void __launch_bounds__(32) nw_tile(const int *p, int *o, Rec *rec) {
  KREC_BEGIN __shared__ int s[33][33], r[32][32];
  int t = threadIdx.x;
  const int *b = p + blockIdx.x * 1024;
  for (int i = 0; i < 32; i++)
    r[i][t] = b[i * 32 + t] & 15;
  s[t + 1][0] = -t;
  s[0][t + 1] = -t;
  if (t == 0)
    s[0][0] = 0;
  __syncthreads();
  for (int m = 0; m < 63; m++) {
    int x = t + 1, y = m - t + 1;
    if (y >= 1 && y <= 32)
      s[y][x] = max(s[y - 1][x - 1] + r[y - 1][x - 1], max(s[y][x - 1] - 10, s[y - 1][x] - 10));
    __syncthreads();
  }
  for (int i = 0; i < 32; i++)
    o[blockIdx.x * 1024 + i * 32 + t] = s[i + 1][t + 1];
  KREC_END
}
__global__ void fan2(const float *p, const float *m, float *o, int w, int k, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  o[(size_t)y * w + x] = p[(size_t)y * w + x] - m[y] * p[(size_t)k * w + x];
  KREC_END
}
__global__ void nn_dist(const float2 *p, float *o, float a, float b, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  float2 v = p[i];
  o[i] = sqrtf((a - v.x) * (a - v.x) + (b - v.y) * (b - v.y));
  KREC_END
}
__global__ void __launch_bounds__(256) nbody(const float4 *p, float4 *o, int tiles, Rec *rec) {
  KREC_BEGIN __shared__ float4 s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < tiles; t++) {
    s[threadIdx.x] = p[t * 256 + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; j++) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float f = s[j].w * r * r * r;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    __syncthreads();
  }
  o[i] = make_float4(ax, ay, az, 0);
  KREC_END
}
__device__ float cnd(float d) {
  float k = 1.f / (1.f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * __expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.f - c : c;
}
__global__ void __launch_bounds__(128) blackscholes(const float *p, const float *q, float *o, int n, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 128 + threadIdx.x;
  float S = fabsf(p[i]) * 25.f + 5.f, X = fabsf(q[i]) * 99.f + 1.f, T = fabsf(q[i + n]) * 9.75f + 0.25f;
  float sq = sqrtf(T);
  float d1 = (logf(S / X) + (0.02f + 0.5f * 0.3f * 0.3f) * T) / (0.3f * sq), d2 = d1 - 0.3f * sq;
  float c1 = cnd(d1), c2 = cnd(d2), e = expf(-0.02f * T);
  o[i] = S * c1 - X * e * c2;
  o[i + n] = X * e * (1.f - c2) - S * (1.f - c1);
  KREC_END
}
__global__ void __launch_bounds__(256) mc_xor(u32 *o, int n, Rec *rec) {
  KREC_BEGIN u32 s = blockIdx.x * 256 + threadIdx.x + 1;
  s *= 2654435761u;
  int hit = 0;
  for (int i = 0; i < n; i++) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    float x = (s & 0xffff) * (1.f / 65536), y = (s >> 16) * (1.f / 65536);
    hit += x * x + y * y < 1.f;
  }
  o[blockIdx.x * 256 + threadIdx.x] = hit;
  KREC_END
}
__global__ void __launch_bounds__(256) mandel(const float *p, int *o, int mx, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  float cx = p[i] * 1.5f - 0.5f, cy = p[i ^ 1], x = 0, y = 0;
  int k = 0;
  while (k < mx && x * x + y * y < 4.f) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    k++;
  }
  o[i] = k;
  KREC_END
}
__global__ void spmv_scalar(const float *v, const u32 *idx, float *o, int mask, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * blockDim.x + threadIdx.x;
  int len = idx[i * 16] >> 28;
  float s = 0;
  for (int j = 0; j < len; j++)
    s += v[i * 16 + j] * v[idx[i * 16 + j] & mask];
  o[i] = s;
  KREC_END
}
__global__ void spmv_vector(const float *v, const u32 *idx, float *o, int mask, int len, Rec *rec) {
  KREC_BEGIN int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
  float s = 0;
  for (int j = l; j < len; j += 32)
    s += v[row * len + j] * v[idx[row * len + j] & mask];
  for (int d = 16; d; d >>= 1)
    s += __shfl_down_sync(~0u, s, d);
  if (l == 0)
    o[row] = s;
  KREC_END
}
__global__ void __launch_bounds__(256) hist_global(const u32 *p, u32 *o, Rec *rec) {
  KREC_BEGIN const u32 *b = p + blockIdx.x * 1024;
  for (int i = 0; i < 4; i++)
    atomicAdd(o + (b[i * 256 + threadIdx.x] & 1023), 1u);
  KREC_END
}
__global__ void __launch_bounds__(256) reduce_atomic(const float *p, float *o, Rec *rec) {
  KREC_BEGIN __shared__ float s[256];
  int t = threadIdx.x;
  const float *b = p + (size_t)blockIdx.x * 1024;
  s[t] = b[t] + b[t + 256] + b[t + 512] + b[t + 768];
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(o, s[0]);
  KREC_END
}
__global__ void __launch_bounds__(256) scan_blel(const float *p, float *o, Rec *rec) {
  KREC_BEGIN __shared__ float s[512];
  int t = threadIdx.x;
  s[2 * t] = p[blockIdx.x * 512 + 2 * t];
  s[2 * t + 1] = p[blockIdx.x * 512 + 2 * t + 1];
  int off = 1;
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
      s[b] += s[a];
    }
    off *= 2;
  }
  if (t == 0)
    s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    off >>= 1;
    __syncthreads();
    if (t < d) {
      int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
      float x = s[a];
      s[a] = s[b];
      s[b] += x;
    }
  }
  __syncthreads();
  o[blockIdx.x * 512 + 2 * t] = s[2 * t];
  o[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
  KREC_END
}
__global__ void __launch_bounds__(128) fft256(const float2 *p, float2 *o, Rec *rec) {
  KREC_BEGIN __shared__ float2 s[256];
  int t = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    int i = t + k * 128;
    s[__brev(i) >> 24] = p[blockIdx.x * 256 + i];
  }
  for (int h = 1; h < 256; h *= 2) {
    __syncthreads();
    int k = t % h, i = (t / h) * 2 * h + k;
    float sn, cs;
    sincospif(-(float)k / h, &sn, &cs);
    float2 a = s[i], b = s[i + h];
    float2 w = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
    s[i] = make_float2(a.x + w.x, a.y + w.y);
    s[i + h] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  o[blockIdx.x * 256 + t] = s[t];
  o[blockIdx.x * 256 + t + 128] = s[t + 128];
  KREC_END
}
__global__ void bilateral(const float *p, float *o, int w, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float c = p[(size_t)(y + 2) * w + x + 2], s = 0, n = 0;
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++) {
      float v = p[(size_t)(y + j) * w + x + i];
      float e = __expf(-((v - c) * (v - c) * 8.f + ((i - 2) * (i - 2) + (j - 2) * (j - 2)) * 0.1f));
      s += v * e;
      n += e;
    }
  o[(size_t)y * w + x] = s / n;
  KREC_END
}
__global__ void sobel_u8(const u8 *p, u8 *o, int w, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const u8 *r = p + (size_t)y * w + x;
  int gx = r[2] - r[0] + 2 * (r[w + 2] - r[w]) + r[2 * w + 2] - r[2 * w];
  int gy = r[2 * w] - r[0] + 2 * (r[2 * w + 1] - r[1]) + r[2 * w + 2] - r[2];
  int g = abs(gx) + abs(gy);
  o[(size_t)y * w + x] = min(g, 255);
  KREC_END
}
__global__ void __launch_bounds__(64) dct8(const float *p, float *o, Rec *rec) {
  KREC_BEGIN __shared__ float s[8][9], c[8][8];
  int x = threadIdx.x & 7, y = threadIdx.x >> 3;
  c[y][x] = ctab[y * 8 + x];
  s[y][x] = p[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  float a = 0;
  for (int k = 0; k < 8; k++)
    a += c[y][k] * s[k][x];
  __syncthreads();
  s[y][x] = a;
  __syncthreads();
  a = 0;
  for (int k = 0; k < 8; k++)
    a += s[y][k] * c[x][k];
  o[blockIdx.x * 64 + threadIdx.x] = a;
  KREC_END
}
__global__ void table_const(const u32 *p, float *o, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  u32 v = p[i];
  float s = 0;
  for (int k = 0; k < 8; k++) {
    s = s * 0.5f + ctab[(v >> (k * 3)) & 7];
  }
  o[i] = s;
  KREC_END
}
__global__ void fnv_hash(const u32 *p, u32 *o, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  u32 h = 2166136261u;
  for (int k = 0; k < 16; k++) {
    u32 v = p[(size_t)k * gridDim.x * 256 + i];
    for (int b = 0; b < 4; b++) {
      h ^= v & 255;
      h *= 16777619u;
      v >>= 8;
    }
  }
  o[i] = h;
  KREC_END
}
__global__ void __launch_bounds__(256) matvec_warp(const float4 *p, const float4 *v, float *o, int n4, Rec *rec) {
  KREC_BEGIN int row = blockIdx.x * 8 + (threadIdx.x >> 5), l = threadIdx.x & 31;
  float s = 0;
  for (int j = l; j < n4; j += 32) {
    float4 a = p[(size_t)row * n4 + j], b = v[j];
    s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  for (int d = 16; d; d >>= 1)
    s += __shfl_xor_sync(~0u, s, d);
  if (l == 0)
    o[row] = s;
  KREC_END
}
__global__ void saxpy4(const float4 *p, const float4 *q, float4 *o, float a, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  float4 x = p[i], y = q[i];
  o[i] = make_float4(a * x.x + y.x, a * x.y + y.y, a * x.z + y.z, a * x.w + y.w);
  KREC_END
}
__global__ void syrk(const float *p, float *o, int n, int k, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int j = 0; j < k; j++)
    s += p[(size_t)y * k + j] * p[(size_t)x * k + j];
  o[(size_t)y * n + x] = s;
  KREC_END
}
__global__ void fdtd(const float *ex, const float *hz, float *ey, int w, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  size_t i = (size_t)(y + 1) * w + x;
  ey[i] = ex[i] - 0.5f * (hz[i] - hz[i - w]) - 0.7f * (hz[i + 1] - hz[i]);
  KREC_END
}
__global__ void daxpy(const double *p, const double *q, double *o, double a, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  o[i] = a * p[i] + q[i];
  KREC_END
}
__global__ void __launch_bounds__(256) radix_count(const u32 *p, u32 *o, Rec *rec) {
  KREC_BEGIN int l = threadIdx.x & 31, wp = threadIdx.x >> 5;
  __shared__ u32 s[8][16];
  u32 mine = 0;
  for (int i = 0; i < 8; i++) {
    u32 d = p[blockIdx.x * 2048 + i * 256 + threadIdx.x] & 15;
    for (int b = 0; b < 16; b++) {
      u32 m = __ballot_sync(~0u, d == b);
      if (l == b)
        mine += __popc(m);
    }
  }
  if (l < 16)
    s[wp][l] = mine;
  __syncthreads();
  if (threadIdx.x < 16) {
    u32 t = 0;
    for (int i = 0; i < 8; i++)
      t += s[i][threadIdx.x];
    o[blockIdx.x * 16 + threadIdx.x] = t;
  }
  KREC_END
}
__global__ void __launch_bounds__(256) compact(const float *p, float *o, u32 *n, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x & 31;
  float v = p[i];
  u32 m = __ballot_sync(~0u, v > 0);
  u32 b = 0;
  if (l == 0)
    b = atomicAdd(n, __popc(m));
  b = __shfl_sync(~0u, b, 0);
  if (v > 0)
    o[b + __popc(m & ((1u << l) - 1))] = v;
  KREC_END
}
__global__ void divmod(const u32 *p, u32 *o, u32 d, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  u32 v = p[i], s = 0;
  for (int k = 0; k < 8; k++) {
    s += v % d;
    v = v / (d - k) + s;
  }
  o[i] = s;
  KREC_END
}
__global__ void __launch_bounds__(128) local_sort(const float *p, float *o, int n, Rec *rec) {
  KREC_BEGIN float a[16];
  int i = blockIdx.x * 128 + threadIdx.x;
  for (int k = 0; k < n; k++) {
    float v = p[(size_t)k * gridDim.x * 128 + i];
    int j = k;
    while (j > 0 && a[j - 1] > v) {
      a[j] = a[j - 1];
      j--;
    }
    a[j] = v;
  }
  o[i] = a[n / 2];
  KREC_END
}
__global__ void __launch_bounds__(128) lava(const float4 *p, const float *q, float4 *o, int nn, Rec *rec) {
  KREC_BEGIN __shared__ float4 b[128];
  __shared__ float c[128];
  int t = threadIdx.x;
  float4 me = p[blockIdx.x * 128 + t];
  float4 f = make_float4(0, 0, 0, 0);
  for (int k = 0; k < nn; k++) {
    int nb = (blockIdx.x + k) % gridDim.x;
    b[t] = p[nb * 128 + t];
    c[t] = q[nb * 128 + t];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      float r2 = me.w + b[j].w - (me.x * b[j].x + me.y * b[j].y + me.z * b[j].z);
      float v = expf(-0.5f * r2);
      float fs = 2 * v;
      f.w += c[j] * v;
      f.x += c[j] * fs * (me.x - b[j].x);
      f.y += c[j] * fs * (me.y - b[j].y);
      f.z += c[j] * fs * (me.z - b[j].z);
    }
    __syncthreads();
  }
  o[blockIdx.x * 128 + t] = f;
  KREC_END
}
__global__ void half_poly(const u32 *p, u32 *o, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  u32 w = p[i] & 0x3bff3bff;
  __half2 x = *(__half2 *)&w;
  __half2 s = x;
  for (int k = 0; k < 32; k++)
    s = __hfma2(s, x, x);
  o[i] = *(u32 *)&s;
  KREC_END
}
__global__ void __launch_bounds__(256) warp_scan(const int *p, int *o, Rec *rec) {
  KREC_BEGIN __shared__ int s[8];
  int t = threadIdx.x, l = t & 31;
  int v = p[blockIdx.x * 256 + t] & 255;
  for (int d = 1; d < 32; d *= 2) {
    int u = __shfl_up_sync(~0u, v, d);
    if (l >= d)
      v += u;
  }
  if (l == 31)
    s[t >> 5] = v;
  __syncthreads();
  if (t < 8) {
    int w = s[t];
    for (int d = 1; d < 8; d *= 2) {
      int u = __shfl_up_sync(255u, w, d, 8);
      if (t >= d)
        w += u;
    }
    s[t] = w;
  }
  __syncthreads();
  if (t >= 32)
    v += s[(t >> 5) - 1];
  o[blockIdx.x * 256 + t] = v;
  KREC_END
}
__global__ void gather(const float *p, const u32 *idx, float *o, u32 mask, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 1024 + threadIdx.x;
  for (int k = 0; k < 4; k++)
    o[i + k * 256] = p[idx[i + k * 256] & mask];
  KREC_END
}
__global__ void scatter(const float *p, const u32 *idx, float *o, u32 mask, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 1024 + threadIdx.x;
  for (int k = 0; k < 4; k++)
    o[idx[i + k * 256] & mask] = p[i + k * 256];
  KREC_END
}
__global__ void __launch_bounds__(256) srad(const float *p, float *o, float *c, int w, Rec *rec) {
  KREC_BEGIN int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  size_t i = (size_t)(y + 1) * w + x + 1;
  float j = p[i] * 0.4f + 1.f;
  float dn = p[i - w] - j, ds = p[i + w] - j, dw = p[i - 1] - j, de = p[i + 1] - j;
  float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j), l = (dn + ds + dw + de) / j;
  float num = 0.5f * g2 - 0.0625f * l * l, den = 1.f + 0.25f * l;
  float q = num / (den * den);
  den = (q - 0.05f) / (0.05f * 1.05f);
  float cc = 1.f / (1.f + den);
  cc = cc < 0 ? 0 : cc > 1 ? 1 : cc;
  c[i] = cc;
  o[i] = dn * ds;
  KREC_END
}
__global__ void __launch_bounds__(256) corr_std(const double *p, double *o, int n, int w, Rec *rec) {
  KREC_BEGIN int i = blockIdx.x * 256 + threadIdx.x;
  double m = 0, v = 0;
  for (int j = 0; j < n; j++) {
    double t = p[(size_t)j * w + i];
    m += t;
    v += t * t;
  }
  m /= n;
  v = sqrt(v / n - m * m);
  o[i] = v <= 0.005 ? 1.0 : v;
  KREC_END
}
__global__ void __launch_bounds__(256) smem_conf(const float *p, float *o, int st, Rec *rec) {
  KREC_BEGIN __shared__ float s[2048];
  int t = threadIdx.x;
  for (int k = 0; k < 8; k++)
    s[t + k * 256] = p[blockIdx.x * 2048 + t + k * 256];
  __syncthreads();
  float a = 0;
  for (int k = 0; k < 16; k++)
    a += s[(t * st + k) & 2047];
  o[blockIdx.x * 256 + t] = a;
  KREC_END
}
struct Arg {
  char k;
  double v;
};
struct Case {
  std::string name;
  const void *f;
  dim3 block;
  char ka, kb;
  std::function<dim3(int)> grid;
  std::function<std::array<size_t, 3>(dim3)> words;
  std::function<std::vector<Arg>(dim3)> args;
  std::vector<int> solo;
};
__global__ void filler(u32 *p, size_t n, char kind, u32 seed) {
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    u64 z = (i + seed) + 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    if (kind == 'f')
      ((float *)p)[i] = (float)((double)(u32)z / 2147483648.0 - 1.0);
    else if (kind == 'u')
      p[i] = (u32)z;
    else if (kind == 'd') {
      if (!(i & 1))
        ((double *)p)[i >> 1] = (double)(u32)z / 2147483648.0 - 1.0;
    } else
      p[i] = 0;
  }
}
int main(int argc, char **argv) {

  {
    CK(cudaSetDevice(0));
    CK(cudaMalloc(&drec, sizeof(Rec) * MAXREC));
    CK(cudaMalloc(&pool, (size_t)4 << 30));
    CK(cudaEventCreate(&e0));
    CK(cudaEventCreate(&e1));
  }
  std::vector<Case> cs;
  auto g1 = [](int full) { return [full](int nb) { return dim3(nb < 0 ? full : nb, 1, 1); }; };
  auto g2 = [](int fx, int fy) {
    return [fx, fy](int nb) { return nb < 0 ? dim3(fx, fy) : nb == 1 ? dim3(1, 1) : dim3(12, nb / 12); };
  };
  typedef std::vector<Arg> A;
  typedef std::array<size_t, 3> W;
#define ADD(nm, f, bx, by, ka, kb, g, w, a)                                                                            \
  cs.push_back({nm,                                                                                                    \
                (const void *)f,                                                                                       \
                dim3(bx, by),                                                                                          \
                ka,                                                                                                    \
                kb,                                                                                                    \
                g,                                                                                                     \
                [=](dim3 d) -> W {                                                                                     \
                  size_t n = (size_t)d.x * d.y;                                                                        \
                  (void)n;                                                                                             \
                  return w;                                                                                            \
                },                                                                                                     \
                [=](dim3 d) -> A {                                                                                     \
                  int n = d.x * d.y;                                                                                   \
                  (void)n;                                                                                             \
                  return a;                                                                                            \
                },                                                                                                     \
                {}})
#define WW(x, y, z) (W{(size_t)(x), (size_t)(y), (size_t)(z)})
#define AA(...) (A{__VA_ARGS__})
  Arg a{'a', 0}, b{'b', 0}, c{'c', 0}, r{'r', 0};
  auto I = [](double v) { return Arg{'i', v}; };
  auto F = [](double v) { return Arg{'f', v}; };
  auto D = [](double v) { return Arg{'d', v}; };
  ADD("row_walk", row_walk, 128, 1, 'f', '0', g1(4224), WW(n * 128 * 64, 1, n * 128), AA(a, c, I(64), r));
  ADD("col_walk", col_walk, 128, 1, 'f', '0', g1(4224), WW(n * 128 * 64, 1, n * 128), AA(a, c, I(64), I(n * 128), r));
  ADD("conv2d", conv2d, 16, 16, 'f', '0', g2(128, 128),
      WW((d.y * 16 + 2) * (d.x * 16 + 2), 1, (d.y * 16 + 2) * (d.x * 16 + 2)), AA(a, c, I(d.x * 16 + 2), r));
  ADD("conv3d", conv3d, 32, 8, 'f', '0', g2(16, 64),
      WW((d.y * 8 + 2) * (d.x * 32 + 2) * 10, 1, (d.y * 8 + 2) * (d.x * 32 + 2) * 10),
      AA(a, c, I(d.x * 32 + 2), I((d.y * 8 + 2) * (d.x * 32 + 2)), r));
  ADD("jacobi2d", jacobi2d, 32, 8, 'f', '0', g2(64, 256), WW(d.y * 8 * d.x * 32, 1, d.y * 8 * d.x * 32),
      AA(a, c, I(d.x * 32), I(d.y * 8), r));
  ADD("hotspot", hotspot, 16, 16, 'f', 'f', g2(64, 64),
      WW((d.y * 14 + 2) * (d.x * 14 + 2), (d.y * 14 + 2) * (d.x * 14 + 2), (d.y * 14 + 2) * (d.x * 14 + 2)),
      AA(a, b, c, I(d.x * 14 + 2), I(d.y * 14 + 2), r));
  ADD("path_dp", path_dp, 256, 1, 'u', '0', g1(4096), WW((n * 240 + 16) * 9, 1, n * 240 + 16),
      AA(a, c, I(n * 240 + 16), I(8), r));
  ADD("layer_fwd", layer_fwd, 16, 16, 'f', 'f', g1(4096), WW(17 * 16 * (n + 2), 16 * n + 32, 16 * n),
      AA(a, b, c, I(16), r));
  ADD("bfs_step", bfs_step, 256, 1, 'u', 'u', g1(1024), WW(n * 256 * 16, n * 256, n * 256), AA(a, b, c, I(255), r));
  ADD("bfs_wide", bfs_step, 256, 1, 'u', 'u', g1(1024), WW(n * 256 * 16, 262144, 262144), AA(a, b, c, I(262143), r));
  ADD("kmeans", kmeans, 256, 1, 'f', 'f', g1(2048), WW(n * 256 * 8, 64, n * 256), AA(a, b, c, I(n * 256), r));
  ADD("lud_diag", lud_diag, 32, 1, 'f', '0', g1(4224), WW(n * 256, 1, n * 256), AA(a, c, r));
  ADD("nw_tile", nw_tile, 32, 1, 'u', '0', g1(4224), WW(n * 1024, 1, n * 1024), AA(a, c, r));
  ADD("fan2", fan2, 16, 16, 'f', 'f', g2(64, 64), WW(d.x * 16 * d.y * 16, d.y * 16, d.x * 16 * d.y * 16),
      AA(a, b, c, I(d.x * 16), I(3), r));
  ADD("nn_dist", nn_dist, 256, 1, 'f', '0', g1(8192), WW(n * 512, 1, n * 256), AA(a, c, F(0.3), F(0.6), r));
  ADD("nbody", nbody, 256, 1, 'f', '0', g1(1056), WW(n * 1024 + 4 * 1024, 1, n * 1024), AA(a, c, I(4), r));
  ADD("blackscholes", blackscholes, 128, 1, 'f', 'f', g1(8192), WW(n * 128, n * 256, n * 256),
      AA(a, b, c, I(n * 128), r));
  ADD("mc_xor", mc_xor, 256, 1, '0', '0', g1(4224), WW(1, 1, n * 256), AA(c, I(64), r));
  ADD("mandel", mandel, 256, 1, 'f', '0', g1(4224), WW(n * 256, 1, n * 256), AA(a, c, I(64), r));
  ADD("spmv_scalar", spmv_scalar, 128, 1, 'f', 'u', g1(2048), WW(n * 128 * 16, n * 128 * 16, n * 128),
      AA(a, b, c, I(2047), r));
  ADD("spmv_vector", spmv_vector, 128, 1, 'f', 'u', g1(4096), WW(n * 4 * 128 + 65536, n * 4 * 128, n * 4),
      AA(a, b, c, I(65535), I(128), r));
  ADD("hist_global", hist_global, 256, 1, 'u', '0', g1(4096), WW(n * 1024, 1, 1024), AA(a, c, r));
  ADD("reduce_atomic", reduce_atomic, 256, 1, 'f', '0', g1(8192), WW(n * 1024, 1, 1), AA(a, c, r));
  ADD("scan_blel", scan_blel, 256, 1, 'f', '0', g1(8192), WW(n * 512, 1, n * 512), AA(a, c, r));
  ADD("fft256", fft256, 128, 1, 'f', '0', g1(8192), WW(n * 512, 1, n * 512), AA(a, c, r));
  ADD("bilateral", bilateral, 16, 16, 'f', '0', g2(64, 64),
      WW((d.y * 16 + 4) * (d.x * 16 + 4), 1, (d.y * 16 + 4) * (d.x * 16 + 4)), AA(a, c, I(d.x * 16 + 4), r));
  ADD("sobel_u8", sobel_u8, 32, 8, 'u', '0', g2(64, 256),
      WW((d.y * 8 + 2) * (d.x * 8 + 1) + 8, 1, (d.y * 8 + 2) * (d.x * 8 + 1) + 8), AA(a, c, I(d.x * 32 + 4), r));
  ADD("dct8", dct8, 64, 1, 'f', '0', g1(16384), WW(n * 64, 1, n * 64), AA(a, c, r));
  ADD("table_const", table_const, 256, 1, 'u', '0', g1(4096), WW(n * 256, 1, n * 256), AA(a, c, r));
  ADD("fnv_hash", fnv_hash, 256, 1, 'u', '0', g1(2048), WW(n * 256 * 16, 1, n * 256), AA(a, c, r));
  ADD("matvec_warp", matvec_warp, 256, 1, 'f', 'f', g1(1024), WW(n * 8 * 1024, 1024, n * 8), AA(a, b, c, I(256), r));
  ADD("saxpy4", saxpy4, 256, 1, 'f', 'f', g1(8192), WW(n * 1024, n * 1024, n * 1024), AA(a, b, c, F(1.5), r));
  ADD("syrk", syrk, 16, 16, 'f', '0', g2(32, 32), WW(16 * (d.x > d.y ? d.x : d.y) * 256, 1, d.x * 16 * d.y * 16),
      AA(a, c, I(d.x * 16), I(256), r));
  ADD("fdtd", fdtd, 32, 8, 'f', 'f', g2(64, 256),
      WW((d.y * 8 + 2) * (d.x * 32 + 1), (d.y * 8 + 2) * (d.x * 32 + 1), (d.y * 8 + 2) * (d.x * 32 + 1)),
      AA(a, b, c, I(d.x * 32 + 1), r));
  ADD("daxpy", daxpy, 256, 1, 'd', 'd', g1(8192), WW(n * 512, n * 512, n * 512), AA(a, b, c, D(1.5), r));
  ADD("radix_count", radix_count, 256, 1, 'u', '0', g1(2048), WW(n * 2048, 1, n * 16), AA(a, c, r));
  ADD("compact", compact, 256, 1, 'f', '0', g1(8192), WW(n * 256, 4, n * 256), AA(a, c, b, r));
  ADD("divmod", divmod, 256, 1, 'u', '0', g1(4096), WW(n * 256, 1, n * 256), AA(a, c, I(97), r));
  ADD("local_sort", local_sort, 128, 1, 'f', '0', g1(1056), WW(n * 128 * 16, 1, n * 128), AA(a, c, I(16), r));
  ADD("lava", lava, 128, 1, 'f', 'f', g1(1024), WW(n * 512, n * 128, n * 512), AA(a, b, c, I(4), r));
  ADD("half_poly", half_poly, 256, 1, 'u', '0', g1(4096), WW(n * 256, 1, n * 256), AA(a, c, r));
  ADD("warp_scan", warp_scan, 256, 1, 'u', '0', g1(8192), WW(n * 256, 1, n * 256), AA(a, c, r));
  ADD("gather", gather, 256, 1, 'f', 'u', g1(2048), WW(1048576, n * 1024, n * 1024), AA(a, b, c, I(1048575), r));
  ADD("scatter", scatter, 256, 1, 'f', 'u', g1(2048), WW(n * 1024, n * 1024, 1048576), AA(a, b, c, I(1048575), r));
  ADD("srad", srad, 16, 16, 'f', '0', g2(64, 64),
      WW((d.y * 16 + 2) * (d.x * 16 + 2), (d.y * 16 + 2) * (d.x * 16 + 2), (d.y * 16 + 2) * (d.x * 16 + 2)),
      AA(a, b, c, I(d.x * 16 + 2), r));
  ADD("corr_std", corr_std, 256, 1, 'd', '0', g1(264), WW(n * 512 * 32, 1, n * 512), AA(a, c, I(32), I(n * 256), r));
  ADD("smem_conf2", smem_conf, 256, 1, 'f', '0', g1(4096), WW(n * 2048, 1, n * 256), AA(a, c, I(2), r));
  ADD("smem_conf8", smem_conf, 256, 1, 'f', '0', g1(4096), WW(n * 2048, 1, n * 256), AA(a, c, I(8), r));
  ADD("reduce_shfl", reduce_shfl, 256, 1, 'f', '0', g1(16384), WW(n * 2048, 1, n), AA(a, c, r));
  ADD("poly_ilp1", poly<1>, 256, 1, 'f', '0', g1(8192), WW(n * 2048, 1, n * 2048), AA(a, c, r));
  ADD("poly_ilp4", poly<4>, 256, 1, 'f', '0', g1(8192), WW(n * 2048, 1, n * 2048), AA(a, c, r));
  ADD("transpose_pad", transpose_smem<1>, 256, 1, 'f', '0', g1(16384), WW(n * 1024, 1, n * 1024),
      AA(a, c,
         I(n == 1       ? 1
           : n >= 16384 ? 128
                        : 12),
         I(n == 1       ? 1
           : n >= 16384 ? 128
                        : n / 12),
         r));
  auto gm = [&](const char *nm, const void *f, int BM, int BN, int th, bool TA, bool TB, bool dbl) {
    int e = dbl ? 2 : 1;
    cs.push_back(
        {nm,
         f,
         dim3(th, 1),
         dbl ? 'd' : 'f',
         dbl ? 'd' : 'f',
         [=](int nb) {
           return nb < 0 ? dim3((4096 + BN - 1) / BN, (4096 + BM - 1) / BM) : nb == 1 ? dim3(1, 1) : dim3(12, nb / 12);
         },
         [=](dim3 d) -> W {
           size_t K = d.x * BN >= 4000 ? 1024 : 256;
           return W{(size_t)d.y * BM * K * e, (size_t)d.x * BN * K * e, (size_t)d.x * BN * d.y * BM * e};
         },
         [=](dim3 d) -> A {
           int K = d.x * BN >= 4000 ? 1024 : 256, M = d.y * BM, N = d.x * BN;
           return A{a,
                    b,
                    c,
                    Arg{'i', (double)K},
                    Arg{'i', (double)(TA ? M : K)},
                    Arg{'i', (double)(TB ? K : N)},
                    Arg{'i', (double)N},
                    r};
         },
         {}});
  };
#define GS(nm, BM, BK, TM, V, P, DBF, TA, TB, GV)                                                                      \
  gm(nm, (const void *)gemm_blk<float, BM, BM, BK, TM, TM, V, P, DBF, TA, TB, GV>, BM, BM, 256, TA, TB, false)
#define GD(nm, BM, BK, TM, V, P, DBF, TA, TB, GV)                                                                      \
  gm(nm, (const void *)gemm_blk<double, BM, BM, BK, TM, TM, V, P, DBF, TA, TB, GV>, BM, BM, 256, TA, TB, true)
  gm("naive_u1", (const void *)sgemm_naive<1>, 16, 16, 256, false, false, false);
  gm("naive_u8", (const void *)sgemm_naive<8>, 16, 16, 256, false, false, false);
  gm("tile32", (const void *)sgemm_tile<32>, 32, 32, 1024, false, false, false);
  GS("s64_v2", 64, 16, 4, 2, 0, 0, false, false, 1);
  GS("s64_v4", 64, 16, 4, 4, 0, 0, false, false, 1);
  GS("s64_v1_pre", 64, 16, 4, 1, 1, 0, false, false, 1);
  GS("s64_v2_pre", 64, 16, 4, 2, 1, 0, false, false, 1);
  GS("s64_v2_db", 64, 16, 4, 2, 1, 1, false, false, 1);
  GS("s64_v4_db", 64, 16, 4, 4, 1, 1, false, false, 1);
  GS("s96_v1", 96, 16, 6, 1, 0, 0, false, false, 1);
  GS("s96_v2_pre", 96, 16, 6, 2, 1, 0, false, false, 1);
  GS("s96_v2_db", 96, 16, 6, 2, 1, 1, false, false, 1);
  GS("s128_v1", 128, 8, 8, 1, 0, 0, false, false, 1);
  GS("s128_v2", 128, 8, 8, 2, 0, 0, false, false, 1);
  GS("s128_v2_pre", 128, 8, 8, 2, 1, 0, false, false, 1);
  GS("s128_v4_pre", 128, 8, 8, 4, 1, 0, false, false, 1);
  GS("s128_v1_db", 128, 8, 8, 1, 1, 1, false, false, 1);
  GS("s128_v4_db", 128, 8, 8, 4, 1, 1, false, false, 1);
  GS("s128_v4_db_g4", 128, 8, 8, 4, 1, 1, false, false, 4);
  GS("s128_v4_TN", 128, 8, 8, 4, 1, 0, true, false, 1);
  GD("d64_v2", 64, 16, 4, 2, 0, 0, false, false, 1);
  GD("d64_v1_pre", 64, 16, 4, 1, 1, 0, false, false, 1);
  GD("d64_v2_db", 64, 16, 4, 2, 1, 1, false, false, 1);
  {
    std::vector<float> t(256);
    for (int i = 0; i < 256; i++)
      t[i] = (float)i * 0.01f - 1.f;
    {
      CK(cudaMemcpyToSymbol(ctab, t.data(), 1024));
      std::vector<float> cc(65);
      for (int i = 0; i < 65; i++)
        cc[i] = 1.0f / (1 + i) * (i & 1 ? -1.f : 1.f);
      CK(cudaMemcpyToSymbol(pc, cc.data(), 65 * 4));
    }
  }
  printf("kernel,symbol,regs,smem,cfg,gx,gy,bx,by,ka,kb,wa,wb,wc,args,occ,block,span,first,ms\n");
  for (auto &k : cs) {
    cudaFuncAttributes at;
    int occ = 0;
    const char *sym = "";
    CK(cudaFuncGetAttributes(&at, k.f));
    int th = k.block.x * k.block.y;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occ, k.f, th, 0));
    CK(cudaFuncGetName(&sym, k.f));
    char *pa = pool;
    char *pb = pool + ((size_t)1 << 30);
    char *pcb = pool + ((size_t)2 << 30);
    for (int cfg = 0; cfg < 4; cfg++) {
      int nb = cfg == 0 ? 1 : cfg == 1 ? 132 : cfg == 2 ? 132 * occ : -1;
      dim3 g = k.grid(nb);
      int nblk = g.x * g.y, nw = th / 32;
      auto w = k.words(g);
      auto av = k.args(g);
      if (w[0] * 4 > ((size_t)1 << 30) || w[1] * 4 > ((size_t)1 << 30) || w[2] * 4 > ((size_t)2 << 30)) {
        fprintf(stderr, "%s too big\n", k.name.c_str());
        return 1;
      }
      filler<<<528, 256>>>((u32 *)pa, w[0], k.ka, 1);
      filler<<<528, 256>>>((u32 *)pb, w[1], k.kb, 2);
      filler<<<528, 256>>>((u32 *)pcb, w[2], '0', 3);
      std::vector<u64> store(av.size());
      std::vector<void *> ptr;
      std::string text;
      for (size_t i = 0; i < av.size(); i++) {
        char buf[64];
        switch (av[i].k) {
        case 'a':
          store[i] = (u64)pa;
          break;
        case 'b':
          store[i] = (u64)pb;
          break;
        case 'c':
          store[i] = (u64)pcb;
          break;
        case 'r':
          store[i] = (u64)drec;
          break;
        case 'i': {
          int v = (int)av[i].v;
          memcpy(&store[i], &v, 4);
          break;
        }
        case 'f': {
          float v = (float)av[i].v;
          memcpy(&store[i], &v, 4);
          break;
        }
        case 'd':
          memcpy(&store[i], &av[i].v, 8);
        }
        ptr.push_back(&store[i]);
        snprintf(buf, 64, "%s%c%g", i ? " " : "", av[i].k, av[i].v);
        if (av[i].k == 'i')
          snprintf(buf, 64, "%si%d", i ? " " : "", (int)av[i].v);
        text += buf;
      }
      int reps = cfg == 3 ? 5 : 7;
      std::vector<double> bl, sp, ms;
      double firstc = 0;
      for (int q = 0; q <= reps; q++) {
        CK(cudaMemset(drec, 0xff, sizeof(Rec) * (size_t)nblk * nw));
        CK(cudaDeviceSynchronize());
        CK(cudaEventRecord(e0));
        CK(cudaLaunchKernel(k.f, g, k.block, ptr.data(), 0, 0));
        CK(cudaEventRecord(e1));
        CK(cudaEventSynchronize(e1));
        float m;
        CK(cudaEventElapsedTime(&m, e0, e1));
        hrec.resize((size_t)nblk * nw);
        CK(cudaMemcpy(hrec.data(), drec, sizeof(Rec) * hrec.size(), cudaMemcpyDeviceToHost));
        std::map<u32, std::pair<long long, long long>> s;
        std::vector<double> bc;
        for (int bb = 0; bb < nblk; bb++) {
          long long lo = hrec[(size_t)bb * nw].t0, hi = hrec[(size_t)bb * nw].t1;
          for (int ww = 1; ww < nw; ww++) {
            lo = std::min(lo, hrec[(size_t)bb * nw + ww].t0);
            hi = std::max(hi, hrec[(size_t)bb * nw + ww].t1);
          }
          bc.push_back(hi - lo);
          u32 sm = hrec[(size_t)bb * nw].smid;
          auto it = s.find(sm);
          if (it == s.end())
            s[sm] = {lo, hi};
          else {
            it->second.first = std::min(it->second.first, lo);
            it->second.second = std::max(it->second.second, hi);
          }
        }
        if (q == 0) {
          firstc = med(bc);
          continue;
        }
        std::vector<double> ss;
        for (auto &x : s)
          ss.push_back(x.second.second - x.second.first);
        bl.push_back(med(bc));
        sp.push_back(med(ss));
        ms.push_back(m);
      }
      const char *cn[] = {"solo", "persm", "resident", "full"};
      printf("%s,%s,%d,%zu,%s,%d,%d,%d,%d,%c,%c,%zu,%zu,%zu,%s,%d,%.1f,%.1f,%.0f,%.5f\n", k.name.c_str(), sym,
             at.numRegs, at.sharedSizeBytes, cn[cfg], g.x, g.y, k.block.x, k.block.y, k.ka, k.kb, w[0], w[1], w[2],
             text.c_str(), occ, med(bl), med(sp), firstc, med(ms));
      fflush(stdout);
    }
  }
  fprintf(stderr, "done\n");
  return 0;
}
