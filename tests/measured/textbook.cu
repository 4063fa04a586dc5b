// Kernels as textbooks and teaching suites write them, in grids of up to 132 blocks and in full grids, for ncu.
//
//   nvcc 13.0.88: nvcc -w -std=c++17 -O3 -arch=sm_90a -cubin textbook.cu   what is simulated (textbook.cubin.xz)
//   nvcc -w -std=c++17 -O3 -arch=sm_90a textbook.cu -o textbook; ./textbook    prints the launches
//
// Each launch is made twice; cudaProfilerStart and cudaProfilerStop are around the second, which begins with an L2 as
// the first left it. Up to six arrays are filled anew before the first: `f` real numbers in [-1, 1), `d` the same as
// doubles, `u` 32 random bits, `m` whole numbers below a given one, `o` sums of whole numbers below a given one (the
// first of each row of a sparse matrix), `0` zeros. Their sizes are in words of 4 bytes. Arguments are an array `a` to
// `f`, a whole number `i` or a real one `r`. The last column has microseconds a launch, of 20 in a row without a
// profiler.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

typedef unsigned int u32;
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

// matrix products and matrix-vector products
__global__ void gemm_row(const float *a, const float *b, float *c, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int i = 0; i < k; i++)
    s += a[y * k + i] * b[i * n + x];
  c[y * n + x] = s;
}
__global__ void gemm_column(const float *a, const float *b, float *c, int n, int k) {
  int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int i = 0; i < k; i++)
    s += a[y * k + i] * b[i * n + x];
  c[y * n + x] = s;
}
__global__ void syrk(const float *a, float *c, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    c[i * n + j] *= 0.5f;
    for (int m = 0; m < k; m++)
      c[i * n + j] += 1.25f * a[i * k + m] * a[j * k + m];
  }
}
__global__ void rows_product(const float *a, const float *x, float *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0;
    for (int j = 0; j < k; j++)
      y[i] += a[i * k + j] * x[j];
  }
}
__global__ void columns_product(const float *a, const float *x, float *y, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n) {
    float s = 0;
    for (int i = 0; i < k; i++)
      s += a[i * n + j] * x[i];
    y[j] = s;
  }
}
__global__ void gesummv(const float *a, const float *b, const float *x, float *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0, t = 0;
    for (int j = 0; j < k; j++) {
      s += a[i * k + j] * x[j];
      t += b[i * k + j] * x[j];
    }
    y[i] = 0.7f * s + 0.3f * t;
  }
}

// transposes
template <typename T> __global__ void transpose_naive(const T *a, T *c, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    c[x * h + y + i] = a[(y + i) * w + x];
}
template <typename T, int PAD> __global__ void transpose_tile(const T *a, T *c, int w, int h) {
  __shared__ T tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    tile[threadIdx.y + i][threadIdx.x] = a[(y + i) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    c[(y + i) * h + x] = tile[threadIdx.x][threadIdx.y + i];
}
__global__ void transpose_diagonal(const float *a, float *c, int w) {
  __shared__ float tile[16][17];
  int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  tile[threadIdx.y][threadIdx.x] = a[(by * 16 + threadIdx.y) * w + bx * 16 + threadIdx.x];
  __syncthreads();
  c[(bx * 16 + threadIdx.y) * w + by * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// reductions of 256 threads
__global__ void reduce_modulo(const int *a, int *c) {
  __shared__ int s[256];
  u32 t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (u32 d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    c[blockIdx.x] = s[0];
}
__global__ void reduce_interleaved(const int *a, int *c) {
  __shared__ int s[256];
  u32 t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (u32 d = 1; d < blockDim.x; d *= 2) {
    u32 i = 2 * d * t;
    if (i < blockDim.x)
      s[i] += s[i + d];
    __syncthreads();
  }
  if (t == 0)
    c[blockIdx.x] = s[0];
}
__global__ void reduce_sequential(const int *a, int *c) {
  __shared__ int s[256];
  u32 t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (u32 d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    c[blockIdx.x] = s[0];
}
__global__ void reduce_first_add(const int *a, int *c) {
  __shared__ int s[256];
  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  s[t] = a[i] + a[i + blockDim.x];
  __syncthreads();
  for (u32 d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    c[blockIdx.x] = s[0];
}
__global__ void reduce_unrolled(const float *a, float *c, int n) {
  __shared__ float s[256];
  u32 t = threadIdx.x;
  float mine = 0;
  for (u32 i = blockIdx.x * 512 + t; i < n; i += gridDim.x * 512)
    mine += a[i] + a[i + 256];
  s[t] = mine;
  __syncthreads();
  if (t < 128)
    s[t] += s[t + 128];
  __syncthreads();
  if (t < 64)
    s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    mine = s[t] + s[t + 32];
    for (int d = 16; d; d /= 2)
      mine += __shfl_down_sync(~0u, mine, d);
    if (t == 0)
      c[blockIdx.x] = mine;
  }
}

// scans
__global__ void scan_naive(const float *a, float *c, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, out = 0, in = 1;
  s[t] = t ? a[blockIdx.x * n + t - 1] : 0;
  for (int d = 1; d < n; d *= 2) {
    out = 1 - out, in = 1 - out;
    __syncthreads();
    s[out * n + t] = s[in * n + t] + (t >= d ? s[in * n + t - d] : 0);
  }
  __syncthreads();
  c[blockIdx.x * n + t] = s[out * n + t];
}
__global__ void scan_tree(const float *a, float *c, float *sums, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, d = 1, at = blockIdx.x * n;
  s[t] = a[at + t];
  s[t + n / 2] = a[at + t + n / 2];
  for (int e = n / 2; e > 0; e /= 2) {
    __syncthreads();
    if (t < e)
      s[d * (2 * t + 2) - 1] += s[d * (2 * t + 1) - 1];
    d *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = s[n - 1];
    s[n - 1] = 0;
  }
  for (int e = 1; e < n; e *= 2) {
    d /= 2;
    __syncthreads();
    if (t < e) {
      float x = s[d * (2 * t + 1) - 1];
      s[d * (2 * t + 1) - 1] = s[d * (2 * t + 2) - 1];
      s[d * (2 * t + 2) - 1] += x;
    }
  }
  __syncthreads();
  c[at + t] = s[t];
  c[at + t + n / 2] = s[t + n / 2];
}
__global__ void scan_add_sums(float *c, const float *sums) {
  __shared__ float one;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    one = sums[blockIdx.x];
  float v = c[i];
  __syncthreads();
  c[i] = v + one;
}
__global__ void scan_add_vector(uint4 *c, const u32 *sums) {
  __shared__ u32 one;
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    one = sums[blockIdx.x];
  __syncthreads();
  uint4 v = c[i];
  v.x += one, v.y += one, v.z += one, v.w += one;
  c[i] = v;
}

// discrete cosine transforms of 8 x 8
__constant__ float cosines[64] = {
    0.3536f, 0.3536f,  0.3536f,  0.3536f,  0.3536f,  0.3536f,  0.3536f,  0.3536f,  0.4904f, 0.4157f,  0.2778f,
    0.0975f, -0.0975f, -0.2778f, -0.4157f, -0.4904f, 0.4619f,  0.1913f,  -0.1913f, -0.4619f, -0.4619f, -0.1913f,
    0.1913f, 0.4619f,  0.4157f,  -0.0975f, -0.4904f, -0.2778f, 0.2778f,  0.4904f,  0.0975f, -0.4157f, 0.3536f,
    -0.3536f, -0.3536f, 0.3536f, 0.3536f,  -0.3536f, -0.3536f, 0.3536f,  0.2778f,  -0.4904f, 0.0975f, 0.4157f,
    -0.4157f, -0.0975f, 0.4904f, -0.2778f, 0.1913f,  -0.4619f, 0.4619f,  -0.1913f, -0.1913f, 0.4619f, -0.4619f,
    0.1913f, 0.0975f,  -0.2778f, 0.4157f,  -0.4904f, 0.4904f,  -0.4157f, 0.2778f,  -0.0975f};
__global__ void dct_shared(const float *a, float *c, int w) {
  __shared__ float p[64], q[64];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
  p[y * 8 + x] = a[at];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    s += cosines[y * 8 + i] * p[i * 8 + x];
  q[y * 8 + x] = s;
  __syncthreads();
  s = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    s += q[y * 8 + i] * cosines[x * 8 + i];
  c[at] = s;
}
__device__ void dct_line(float *v, int step) {
  float a = v[0] + v[7 * step], b = v[step] + v[6 * step], c = v[2 * step] + v[5 * step], d = v[3 * step] + v[4 * step];
  float e = v[0] - v[7 * step], f = v[step] - v[6 * step], g = v[2 * step] - v[5 * step], h = v[3 * step] - v[4 * step];
  v[0] = 0.3536f * (a + b + c + d);
  v[2 * step] = 0.4619f * (a - d) + 0.1913f * (b - c);
  v[4 * step] = 0.3536f * (a - b - c + d);
  v[6 * step] = 0.1913f * (a - d) - 0.4619f * (b - c);
  v[step] = 0.4904f * e + 0.4157f * f + 0.2778f * g + 0.0975f * h;
  v[3 * step] = 0.4157f * e - 0.0975f * f - 0.4904f * g - 0.2778f * h;
  v[5 * step] = 0.2778f * e - 0.4904f * f + 0.0975f * g + 0.4157f * h;
  v[7 * step] = 0.0975f * e - 0.2778f * f + 0.4157f * g - 0.4904f * h;
}
__global__ void dct_columns(const float *a, float *c, int w) {
  __shared__ float s[16][33];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 16 + y * 8) * w + blockIdx.x * 32 + x;
  for (int i = 0; i < 8; i++)
    s[y * 8 + i][x] = a[at + i * w];
  __syncthreads();
  dct_line(&s[y * 8][x], 33);
  __syncthreads();
  dct_line(&s[(y * 32 + x) / 4][(x & 3) * 8], 1);
  __syncthreads();
  for (int i = 0; i < 8; i++)
    c[at + i * w] = s[y * 8 + i][x];
}

// backpropagation through a layer of 16 hidden units
__global__ void layer_forward(const float *in, const float *weights, float *c, int hidden) {
  __shared__ float node[16], part[16][16];
  int x = threadIdx.x, y = threadIdx.y, at = (hidden + 1) * (16 * blockIdx.y + y + 1) + x + 1;
  if (x == 0)
    node[y] = in[16 * blockIdx.y + y + 1];
  __syncthreads();
  part[y][x] = weights[at];
  __syncthreads();
  part[y][x] *= node[y];
  __syncthreads();
  for (int d = 2; d <= 16; d *= 2) {
    if (y % d == 0)
      part[y][x] += part[y + d / 2][x];
    __syncthreads();
  }
  if (x == 0)
    c[blockIdx.y * hidden + y] = part[0][y];
}
__global__ void layer_adjust(const float *delta, const float *in, float *weights, float *old, int hidden) {
  int x = threadIdx.x, y = threadIdx.y, at = (hidden + 1) * (16 * blockIdx.y + y + 1) + x + 1;
  float step = 0.3f * delta[x + 1] * in[16 * blockIdx.y + y + 1] + 0.3f * old[at];
  weights[at] += step;
  old[at] = step;
  __syncthreads();
  if (y == 0 && blockIdx.y == 0) {
    float first = 0.3f * delta[x + 1] + 0.3f * old[x + 1];
    weights[x + 1] += first;
    old[x + 1] = first;
  }
}

// graphs and sparse matrices
__global__ void bfs_expand(const u32 *starts, const u32 *edges, const u8 *front, const u8 *visited, u32 *cost, u8 *next,
                           int n, int below) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && front[i] < below) {
    for (u32 e = starts[i]; e < starts[i + 1]; e++) {
      u32 to = edges[e];
      if (visited[to] >= below) {
        cost[to] = below;
        next[to] = 1;
      }
    }
  }
}
__global__ void bfs_update(const u8 *next, u8 *front, u8 *visited, u32 *over, int n, int below) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && next[i] < below) {
    front[i] = 1;
    visited[i] = 1;
    *over = 1;
  }
}
__global__ void spmv_scalar(const u32 *starts, const u32 *columns, const float *values, const float *x, float *y,
                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0;
    for (u32 e = starts[i]; e < starts[i + 1]; e++)
      s += values[e] * x[columns[e]];
    y[i] = s;
  }
}
__global__ void spmv_vector(const u32 *starts, const u32 *columns, const float *values, const float *x, float *y,
                            int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (i < n) {
    float s = 0;
    for (u32 e = starts[i] + lane; e < starts[i + 1]; e += 32)
      s += values[e] * x[columns[e]];
    for (int d = 16; d; d /= 2)
      s += __shfl_down_sync(~0u, s, d);
    if (lane == 0)
      y[i] = s;
  }
}

// a quasi-random generator: three dimensions of 31 constants
__constant__ u32 directions[3][31] = {
    {1u << 30, 1u << 29, 1u << 28, 1u << 27, 1u << 26, 1u << 25, 1u << 24, 1u << 23, 1u << 22, 1u << 21, 1u << 20,
     1u << 19, 1u << 18, 1u << 17, 1u << 16, 1u << 15, 1u << 14, 1u << 13, 1u << 12, 1u << 11, 1u << 10, 1u << 9,
     1u << 8,  1u << 7,  1u << 6,  1u << 5,  1u << 4,  1u << 3,  1u << 2,  1u << 1,  1u},
    {3u << 29, 5u << 27, 15u << 25, 17u << 23, 51u << 21, 85u << 19, 255u << 17, 257u << 15, 771u << 13, 1285u << 11,
     3855u << 9, 4369u << 7, 13107u << 5, 21845u << 3, 65535u, 7, 9, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59,
     61},
    {7u << 28, 3u << 26, 11u << 24, 29u << 22, 31u << 20, 37u << 18, 41u << 16, 43u << 14, 47u << 12, 53u << 10,
     59u << 8, 61u << 6, 67u << 4, 71u << 2, 73u, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151,
     157}};
__global__ void quasirandom(float *c, u32 seed, int n) {
  u32 step = blockDim.x * gridDim.x;
  for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += step) {
    u32 x = 0, bits = seed + at;
#pragma unroll
    for (int bit = 0; bit < 31; bit++, bits >>= 1)
      if (bits & 1)
        x ^= directions[threadIdx.y][bit];
    c[threadIdx.y * n + at] = (float)(x + 1) * 0x1p-31f;
  }
}

// streams, and many small blocks
__global__ void stream_copy(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void stream_scale(const double *a, double *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = 3.0 * a[i];
}
__global__ void stream_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}
__global__ void stream_triad(const double *a, const double *b, double *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + 0.4 * b[i];
}
__global__ void stream_copy4(const float4 *a, float4 *c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = a[i];
}
__global__ void stream_fill(float4 *c, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = make_float4(v, v, v, v);
}
__global__ void small_blocks(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] * 2.f + b[i];
}
__global__ void empty() {}

// stencils and convolutions
__global__ void stencil_2d(const float *a, float *c, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    c[y * w + x] =
        0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}
__global__ void stencil_3d(const float *a, float *c, int w, int h, int d) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, plane = w * h;
  int at = y * w + x;
  float below = a[at], here = a[at + plane];
  if (x < w - 1 && y < h - 1)
    for (int z = 1; z < d - 1; z++) {
      float above = a[at + (z + 1) * plane];
      int i = at + z * plane;
      c[i] = 0.1f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] + below + above) + 0.4f * here;
      below = here, here = above;
    }
}
__global__ void hotspot(const float *power, const float *from, float *to, int w, int h) {
  __shared__ float t[16][16], p[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 12 + tx - 2, y = blockIdx.y * 12 + ty - 2;
  bool inside = x >= 0 && y >= 0 && x < w && y < h;
  if (inside) {
    t[ty][tx] = from[y * w + x];
    p[ty][tx] = power[y * w + x];
  }
  __syncthreads();
  int n = max(ty - 1, 0), s = min(ty + 1, 15), u = max(tx - 1, 0), e = min(tx + 1, 15);
  bool done = false;
  for (int i = 0; i < 2; i++) {
    float v = 0;
    done = tx > i && ty > i && tx < 15 - i && ty < 15 - i && inside;
    if (done)
      v = t[ty][tx] + 0.1f * (p[ty][tx] + (t[s][tx] + t[n][tx] - 2 * t[ty][tx]) * 0.4f +
                              (t[ty][e] + t[ty][u] - 2 * t[ty][tx]) * 0.3f + (80.f - t[ty][tx]) * 0.05f);
    __syncthreads();
    if (done && i < 1)
      t[ty][tx] = v;
    else if (done)
      to[y * w + x] = v;
    __syncthreads();
  }
}
__constant__ float taps[17] = {0.01f, 0.02f, 0.03f, 0.05f, 0.07f, 0.09f, 0.11f, 0.12f, 0.13f,
                               0.12f, 0.11f, 0.09f, 0.07f, 0.05f, 0.03f, 0.02f, 0.01f};
__global__ void convolve_rows(const float *a, float *c, int w) {
  __shared__ float s[4][10 * 16];
  int x = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  a += y * w + x, c += y * w + x;
#pragma unroll
  for (int i = 1; i < 9; i++)
    s[threadIdx.y][threadIdx.x + i * 16] = a[i * 16];
  s[threadIdx.y][threadIdx.x] = x >= 0 ? a[0] : 0;
  s[threadIdx.y][threadIdx.x + 9 * 16] = w - x > 9 * 16 ? a[9 * 16] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 9; i++) {
    float v = 0;
#pragma unroll
    for (int j = -8; j <= 8; j++)
      v += taps[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
    c[i * 16] = v;
  }
}
__global__ void convolve_columns(const float *a, float *c, int w, int h) {
  __shared__ float s[16][10 * 8 + 1];
  int x = blockIdx.x * 16 + threadIdx.x, y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
  a += y * w + x, c += y * w + x;
#pragma unroll
  for (int i = 1; i < 9; i++)
    s[threadIdx.x][threadIdx.y + i * 8] = a[i * 8 * w];
  s[threadIdx.x][threadIdx.y] = y >= 0 ? a[0] : 0;
  s[threadIdx.x][threadIdx.y + 9 * 8] = h - y > 9 * 8 ? a[9 * 8 * w] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 9; i++) {
    float v = 0;
#pragma unroll
    for (int j = -8; j <= 8; j++)
      v += taps[8 - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
    c[i * 8 * w] = v;
  }
}
__global__ void convolve_7x7(const float *a, float *c, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int i = -3; i <= 3; i++)
    for (int j = -3; j <= 3; j++) {
      int u = min(max(x + j, 0), w - 1), v = min(max(y + i, 0), h - 1);
      s += taps[i + 3] * taps[j + 3] * a[v * w + u];
    }
  c[y * w + x] = s;
}

// histograms
__global__ void histogram_shared(const u32 *a, u32 *c, int n) {
  __shared__ u32 s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    u32 v = a[i];
    atomicAdd(s + (v & 255), 1), atomicAdd(s + (v >> 8 & 255), 1);
    atomicAdd(s + (v >> 16 & 255), 1), atomicAdd(s + (v >> 24), 1);
  }
  __syncthreads();
  atomicAdd(c + threadIdx.x, s[threadIdx.x]);
}
__global__ void histogram_global(const u32 *a, u32 *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(c + (a[i] & 1023), 1);
}
__global__ void histogram_match(const u32 *a, u32 *c, int n) {
  __shared__ u32 s[64];
  if (threadIdx.x < 64)
    s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    u32 v = a[i] & 63, same = __match_any_sync(~0u, v);
    if ((threadIdx.x & 31) == __ffs(same) - 1)
      atomicAdd(s + v, __popc(same));
  }
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(c + threadIdx.x, s[threadIdx.x]);
}

// arithmetic
__device__ float normal(float d) {
  float k = 1.f / (1.f + 0.2316419f * fabsf(d));
  float v = 0.3989423f * __expf(-0.5f * d * d) *
            (k * (0.3193815f + k * (-0.3565638f + k * (1.7814779f + k * (-1.8212560f + k * 1.3302744f)))));
  return d > 0 ? 1.f - v : v;
}
__global__ void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = fabsf(price[i]) * 25.f + 5.f, x = fabsf(strike[i]) * 99.f + 1.f, t = fabsf(years[i]) * 9.75f + 0.25f;
    float root = __fsqrt_rn(t), p = __fdividef(__logf(s / x) + 0.065f * t, 0.3f * root), q = p - 0.3f * root;
    float e = __expf(-0.02f * t);
    call[i] = s * normal(p) - x * e * normal(q);
    put[i] = x * e * (1.f - normal(q)) - s * (1.f - normal(p));
  }
}
__global__ void monte_carlo(float *c, int paths) {
  __shared__ float s[256];
  u32 x = (blockIdx.x * 256 + threadIdx.x) * 2654435761u + 1;
  float sum = 0;
  for (int i = 0; i < paths; i++) {
    x = x * 1664525u + 1013904223u;
    float u = (x >> 8) * 0x1p-24f + 1e-7f;
    x = x * 1664525u + 1013904223u;
    sum += fmaxf(0.f, 100.f * __expf(0.02f + 0.2f * sqrtf(-2.f * __logf(u)) *
                                                 __cosf(6.2831853f * (x >> 8) * 0x1p-24f)) - 100.f);
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    c[blockIdx.x] = s[0];
}
__global__ void n_body(const float4 *a, float4 *c, int n) {
  __shared__ float4 s[256];
  float4 me = a[blockIdx.x * 256 + threadIdx.x];
  float x = 0, y = 0, z = 0;
  for (int t = 0; t < n; t += 256) {
    s[threadIdx.x] = a[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; j++) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = s[j].w * r * r * r;
      x += f * dx, y += f * dy, z += f * dz;
    }
    __syncthreads();
  }
  c[blockIdx.x * 256 + threadIdx.x] = make_float4(x, y, z, me.w);
}
__global__ void k_means(const float *a, const float *centres, u32 *c, int n, int features, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float least = 3e38f;
    int best = -1;
    for (int k = 0; k < clusters; k++) {
      float d = 0;
      for (int f = 0; f < features; f++) {
        float e = a[f * n + i] - centres[k * features + f];
        d += e * e;
      }
      if (d < least)
        least = d, best = k;
    }
    c[i] = best;
  }
}
__global__ void pathfinder(const u32 *wall, const u32 *from, u32 *to, int w, int rows) {
  __shared__ u32 prev[256], result[256];
  int t = threadIdx.x, x = blockIdx.x * (256 - 2 * rows) - rows + t;
  bool inside = x >= 0 && x < w;
  if (inside)
    prev[t] = from[x];
  __syncthreads();
  bool done = false;
  for (int i = 0; i < rows; i++) {
    done = t > i && t < 255 - i && inside;
    if (done)
      result[t] = wall[i * w + x] + min(prev[t], min(prev[t - 1], prev[t + 1]));
    __syncthreads();
    if (i == rows - 1)
      break;
    if (done)
      prev[t] = result[t];
    __syncthreads();
  }
  if (done)
    to[x] = result[t];
}
__global__ void gauss_factors(const float *a, float *m, int n, int t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1 - t)
    m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}
__global__ void gauss_update(float *a, const float *m, int n, int t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n - 1 - t && j < n - t)
    a[n * (i + 1 + t) + j + t] -= m[n * (i + 1 + t) + t] * a[n * t + j + t];
}
__global__ void lu_inner(float *a, int n) {
  __shared__ float row[16][16], column[16][16];
  int x = threadIdx.x, y = threadIdx.y, gx = (blockIdx.x + 1) * 16, gy = (blockIdx.y + 1) * 16;
  row[y][x] = a[y * n + gx + x];
  column[y][x] = a[(gy + y) * n + x];
  __syncthreads();
  float s = 0;
  for (int i = 0; i < 16; i++)
    s += column[y][i] * row[i][x];
  a[(gy + y) * n + gx + x] -= s;
}
__global__ void bitonic_shared(const u32 *a, u32 *c) {
  __shared__ u32 s[512];
  u32 t = threadIdx.x;
  s[t] = a[blockIdx.x * 512 + t];
  s[t + 256] = a[blockIdx.x * 512 + t + 256];
  for (u32 size = 2; size <= 512; size *= 2)
    for (u32 d = size / 2; d; d /= 2) {
      __syncthreads();
      u32 i = 2 * t - (t & (d - 1));
      bool up = (t & (size / 2)) == 0;
      u32 p = s[i], q = s[i + d];
      if ((p > q) == up)
        s[i] = q, s[i + d] = p;
    }
  __syncthreads();
  c[blockIdx.x * 512 + t] = s[t];
  c[blockIdx.x * 512 + t + 256] = s[t + 256];
}
__global__ void bitonic_step(const u32 *a, u32 *c, int d, int size) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (d - 1));
  bool up = (t & (size / 2)) == 0;
  u32 p = a[i], q = a[i + d];
  c[i] = (p > q) == up ? q : p;
  c[i + d] = (p > q) == up ? p : q;
}

// patterns of access
__global__ void column_store(int *c, int n) {
  int at = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
  for (int j = 0; j < n; j++)
    c[at + j] = j;
}
__global__ void one_address(u32 *c, int n) {
  for (int i = 0; i < n; i++)
    atomicAdd(c, threadIdx.x + i);
}
__global__ void one_exchange(u32 *c, int n) {
  if (threadIdx.x == 0)
    for (int i = 0; i < n; i++)
      atomicCAS(c, i, blockIdx.x);
}
__global__ void gather_words(const float *a, const u32 *index, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[index[i]];
}
__global__ void gather_rows(const float *a, const u32 *index, float *c, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width, at = i % width;
  if (i < n)
    c[i] = a[index[row] * width + at];
}
__global__ void softmax_rows(const float *a, float *c, int w) {
  __shared__ float s[256];
  const float *row = a + (size_t)blockIdx.x * w;
  float most = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < w; i += 256)
    most = fmaxf(most, row[i]);
  s[threadIdx.x] = most;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  for (int i = threadIdx.x; i < w; i += 256)
    sum += __expf(row[i] - most);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  sum = 1.f / s[0];
  for (int i = threadIdx.x; i < w; i += 256)
    c[(size_t)blockIdx.x * w + i] = __expf(row[i] - most) * sum;
}

// the launches
__device__ u32 hash_of(u64 i) {
  u64 z = i + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
__global__ void filler(u32 *p, size_t n, char kind, u64 seed, u32 below) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    u32 w = hash_of((kind == 'd' ? i & ~1ull : i) + seed);
    double d = w / 2147483648.0 - 1;
    if (kind == 'f')
      p[i] = __float_as_uint((float)d);
    else if (kind == 'd')
      p[i] = i & 1 ? __double2hiint(d) : __double2loint(d);
    else
      p[i] = kind == 'u' ? w : kind == 'm' || kind == 'o' ? w % below : 0;
  }
}
struct Array {
  char kind;
  size_t words;
  u32 below;
};
struct Argument {
  char kind;
  double value;
};
struct Case {
  const char *name, *group, *size;
  const void *function;
  dim3 block, grid;
  size_t shared;
  std::vector<Array> arrays;
  std::vector<Argument> arguments;
};
static std::vector<Case> cases;
static const Argument a{'a'}, b{'b'}, c{'c'}, d{'d'}, e{'e'}, f{'f'};
static Argument I(double v) { return {'i', v}; }
static Argument R(double v) { return {'r', v}; }
static Array F(size_t n) { return {'f', n}; }
static Array D(size_t n) { return {'d', n}; }
static Array U(size_t n) { return {'u', n}; }
static Array M(size_t n, u32 below) { return {'m', n, below}; }
static Array O(size_t n, u32 below) { return {'o', n, below}; }
static Array Z(size_t n) { return {'0', n}; }

static void add(bool full, const char *group, const char *name, const void *function, dim3 block, dim3 grid,
                std::vector<Array> arrays, std::vector<Argument> arguments, size_t shared = 0) {
  cases.push_back({name, group, full ? "full" : "small", function, block, grid, shared, arrays, arguments});
}
#define K(...) (const void *)(__VA_ARGS__)
static void products(bool full) {
  int n = full ? 1024 : 176, k = full ? 512 : 256, m = full ? 65536 : 16896, w = 128, wide = full ? 384 : 128;
  add(full, "gemm", "gemm_row", K(gemm_row), dim3(16, 16), dim3(n / 16, n / 16), {F(n * k), F(k * n), Z(n * n)},
      {a, b, c, I(n), I(k)});
  add(full, "gemm", "gemm_row_32", K(gemm_row), dim3(32, 32), dim3(full ? 32 : 11, full ? 32 : 12),
      {F((full ? 1024 : 384) * k), F(k * 2 * n), Z(full ? n * n : 384 * 352)}, {a, b, c, I(full ? 1024 : 352), I(k)});
  add(full, "gemm", "gemm_column", K(gemm_column), dim3(16, 16), dim3(n / 16, n / 16), {F(n * k), F(k * n), Z(n * n)},
      {a, b, c, I(n), I(k)});
  add(full, "gemm", "gemm_column_32", K(gemm_column), dim3(32, 8), dim3(full ? 32 : 6, full ? 128 : 22),
      {F(1024 * k), F(k * 1024), Z(1024 * 1024)}, {a, b, c, I(full ? 1024 : 176), I(k)});
  add(full, "gemm", "syrk", K(syrk), dim3(32, 8), dim3(full ? 16 : 6, full ? 64 : 22), {F(512 * k), Z(512 * 512)},
      {a, b, I(full ? 512 : 192), I(k / 2)});
  add(full, "matvec", "rows_product", K(rows_product), dim3(256), dim3(m / 256), {F((size_t)m * w), F(w), Z(m)},
      {a, b, c, I(m), I(w)});
  add(full, "matvec", "columns_product", K(columns_product), dim3(256), dim3(m / 256),
      {F((size_t)m * wide), F(wide), Z(m)}, {a, b, c, I(m), I(wide)});
  add(full, "matvec", "gesummv", K(gesummv), dim3(128), dim3(m / 256), {F(m * w / 2), F(m * w / 2), F(w), Z(m)},
      {a, b, c, d, I(m / 2), I(w)});
}
static void transposes(bool full) {
  int w = full ? 2048 : 352, h = full ? 2048 : 384, n = w * h;
  dim3 t(32, 8), g(w / 32, h / 32);
  add(full, "transpose", "transpose_naive", K(transpose_naive<float>), t, g, {F(n), Z(n)}, {a, b, I(w), I(h)});
  add(full, "transpose", "transpose_naive_d", K(transpose_naive<double>), t, g, {D(2 * n), Z(2 * n)},
      {a, b, I(w), I(h)});
  add(full, "transpose", "transpose_tile", K(transpose_tile<float, 0>), t, g, {F(n), Z(n)}, {a, b, I(w), I(h)});
  add(full, "transpose", "transpose_padded", K(transpose_tile<float, 1>), t, g, {F(n), Z(n)}, {a, b, I(w), I(h)});
  add(full, "transpose", "transpose_padded_d", K(transpose_tile<double, 1>), t, g, {D(2 * n), Z(2 * n)},
      {a, b, I(w), I(h)});
  int side = full ? 2048 : 176;
  add(full, "transpose", "transpose_diagonal", K(transpose_diagonal), dim3(16, 16), dim3(side / 16, side / 16),
      {F(side * side), Z(side * side)}, {a, b, I(side)});
}
static void trees(bool full) {
  int g = full ? 16384 : 132;
  add(full, "reduce", "reduce_modulo", K(reduce_modulo), dim3(256), dim3(g), {U(g * 256), Z(g)}, {a, b});
  add(full, "reduce", "reduce_interleaved", K(reduce_interleaved), dim3(256), dim3(g), {U(g * 256), Z(g)}, {a, b});
  add(full, "reduce", "reduce_sequential", K(reduce_sequential), dim3(256), dim3(g), {U(g * 256), Z(g)}, {a, b});
  add(full, "reduce", "reduce_first_add", K(reduce_first_add), dim3(256), dim3(g), {U(g * 512), Z(g)}, {a, b});
  g = full ? 1056 : 64;
  add(full, "reduce", "reduce_unrolled", K(reduce_unrolled), dim3(256), dim3(g), {F(g * 8192), Z(g)},
      {a, b, I(g * 8192)});
  g = full ? 8192 : 132;
  add(full, "scan", "scan_naive", K(scan_naive), dim3(512), dim3(g), {F(g * 512), Z(g * 512)}, {a, b, I(512)}, 4096);
  add(full, "scan", "scan_tree", K(scan_tree), dim3(256), dim3(g), {F(g * 512), Z(g * 512), Z(g)}, {a, b, c, I(512)},
      2048);
  add(full, "scan", "scan_add_sums", K(scan_add_sums), dim3(512), dim3(g), {F(g * 512), F(g)}, {a, b});
  add(full, "scan", "scan_add_vector", K(scan_add_vector), dim3(256), dim3(g), {U(g * 1024), U(g)}, {a, b});
  add(full, "sort", "bitonic_shared", K(bitonic_shared), dim3(256), dim3(g / 4), {U(g * 128), Z(g * 128)}, {a, b});
  g = full ? 8192 : 128;
  add(full, "sort", "bitonic_step", K(bitonic_step), dim3(256), dim3(g), {U(g * 512), Z(g * 512)},
      {a, b, I(4096), I(8192)});
}
static void transforms(bool full) {
  int x = full ? 128 : 11, y = full ? 128 : 12;
  add(full, "dct", "dct_shared", K(dct_shared), dim3(8, 8), dim3(x, y), {F(x * y * 64), Z(x * y * 64)},
      {a, b, I(x * 8)});
  x = full ? 64 : 11, y = full ? 128 : 12;
  add(full, "dct", "dct_columns", K(dct_columns), dim3(32, 2), dim3(x, y), {F(x * y * 512), Z(x * y * 512)},
      {a, b, I(x * 32)});
  int g = full ? 4096 : 128, words = (g * 16 + 2) * 17 + 32;
  add(full, "backprop", "layer_forward", K(layer_forward), dim3(16, 16), dim3(1, g),
      {F(g * 16 + 2), F(words), Z(g * 16)}, {a, b, c, I(16)});
  add(full, "backprop", "layer_adjust", K(layer_adjust), dim3(16, 16), dim3(1, g),
      {F(32), F(g * 16 + 2), F(words), F(words)}, {a, b, c, d, I(16)});
  g = full ? 1056 : 43;
  add(full, "quasirandom", "quasirandom", K(quasirandom), dim3(128, 3), dim3(g), {Z(3 * g * 1024)},
      {a, I(0), I(g * 1024)});
}
static void graphs(bool full) {
  int g = full ? 2048 : 128, n = g * 256;
  std::vector<Array> graph{O(n + 1, 13), M(n * 7, n), U(n / 4), U(n / 4), Z(n), Z(n / 4)};
  add(full, "graph", "bfs_early", K(bfs_expand), dim3(256), dim3(g), graph, {a, b, c, d, e, f, I(n), I(3)});
  add(full, "graph", "bfs_middle", K(bfs_expand), dim3(256), dim3(g), graph, {a, b, c, d, e, f, I(n), I(80)});
  add(full, "graph", "bfs_update", K(bfs_update), dim3(256), dim3(g), {U(n / 4), Z(n / 4), Z(n / 4), Z(1)},
      {a, b, c, d, I(n), I(80)});
  add(full, "sparse", "spmv_scalar", K(spmv_scalar), dim3(128), dim3(g), {O(g * 128 + 1, 33), M(g * 128 * 18, g * 128),
      F(g * 128 * 18), F(g * 128), Z(g * 128)}, {a, b, c, d, e, I(g * 128)});
  int rows = g * 4;
  add(full, "sparse", "spmv_vector", K(spmv_vector), dim3(128), dim3(g), {O(rows + 1, 257), M(rows * 140, 65536),
      F(rows * 140), F(65536), Z(rows)}, {a, b, c, d, e, I(rows)});
}
static void streams(bool full) {
  size_t g = full ? 65536 : 128, n = g * 256;
  add(full, "stream", "stream_copy", K(stream_copy), dim3(256), dim3(g), {F(n), Z(n)}, {a, b, I(n)});
  add(full, "stream", "stream_scale", K(stream_scale), dim3(256), dim3(g), {D(2 * n), Z(2 * n)}, {a, b, I(n)});
  add(full, "stream", "stream_add", K(stream_add), dim3(256), dim3(g), {F(n), F(n), Z(n)}, {a, b, c, I(n)});
  add(full, "stream", "stream_triad", K(stream_triad), dim3(256), dim3(g), {D(2 * n), D(2 * n), Z(2 * n)},
      {a, b, c, I(n)});
  add(full, "stream", "stream_fill", K(stream_fill), dim3(256), dim3(g / 2), {Z(2 * n)}, {a, R(0.5), I(n / 2)});
  g = full ? 1056 : 132;
  n = full ? g * 256 * 20 : g * 256 * 2;
  add(full, "stream", "stream_copy4", K(stream_copy4), dim3(256), dim3(g), {F(4 * n), Z(4 * n)}, {a, b, I(n)});
  g = full ? 4096 : 64, n = g * 256;
  add(full, "stream", "stream_add_l2", K(stream_add), dim3(256), dim3(g), {F(n), F(n), Z(n)}, {a, b, c, I(n)});
  g = full ? 16384 : 132;
  add(full, "small blocks", "small_blocks_32", K(small_blocks), dim3(32), dim3(g), {F(g * 32), F(g * 32), Z(g * 32)},
      {a, b, c, I(g * 32)});
  add(full, "small blocks", "small_blocks_64", K(small_blocks), dim3(64), dim3(g), {F(g * 64), F(g * 64), Z(g * 64)},
      {a, b, c, I(g * 64)});
  add(full, "small blocks", "small_blocks_128", K(small_blocks), dim3(128), dim3(full ? 1056 : 132),
      {F(135168), F(135168), Z(135168)}, {a, b, c, I(135168)});
  add(full, "empty", "empty", K(empty), dim3(256), dim3(full ? 1056 : 1), {Z(1)}, {});
  add(full, "empty", "empty_32", K(empty), dim3(32), dim3(full ? 16384 : 132), {Z(1)}, {});
}
static void images(bool full) {
  int x = full ? 64 : 11, y = full ? 64 : 12;
  add(full, "stencil", "stencil_2d", K(stencil_2d), dim3(32, 8), dim3(x, y * (full ? 4 : 1)),
      {F(x * 32 * y * 32), Z(x * 32 * y * 32)}, {a, b, I(x * 32), I(y * (full ? 32 : 8))});
  int w = full ? 514 : 130, h = full ? 258 : 66, deep = full ? 34 : 34;
  add(full, "stencil", "stencil_3d", K(stencil_3d), dim3(32, 4), dim3((w - 2) / 32, (h - 2) / 4),
      {F((size_t)w * h * deep), Z((size_t)w * h * deep)}, {a, b, I(w), I(h), I(deep)});
  int side = full ? 1024 : 132;
  add(full, "stencil", "hotspot", K(hotspot), dim3(16, 16), dim3((side + 11) / 12, (side + 11) / 12),
      {F(side * side), F(side * side), Z(side * side)}, {a, b, c, I(side), I(side)});
  w = full ? 2048 : 384, h = full ? 2048 : 128;
  add(full, "convolution", "convolve_rows", K(convolve_rows), dim3(16, 4), dim3(w / 128, h / 4), {F(w * h), Z(w * h)},
      {a, b, I(w)});
  add(full, "convolution", "convolve_columns", K(convolve_columns), dim3(16, 8), dim3(w / 16, h / 64),
      {F(w * h), Z(w * h)}, {a, b, I(w), I(h)});
  w = full ? 1024 : 176, h = full ? 1024 : 176;
  add(full, "convolution", "convolve_7x7", K(convolve_7x7), dim3(16, 16), dim3(w / 16, h / 16), {F(w * h), Z(w * h)},
      {a, b, I(w), I(h)});
}
static void counts(bool full) {
  int g = full ? 1056 : 132, n = g * 256 * (full ? 16 : 4);
  add(full, "histogram", "histogram_shared", K(histogram_shared), dim3(256), dim3(g), {U(n), Z(256)}, {a, b, I(n)});
  add(full, "histogram", "histogram_global", K(histogram_global), dim3(256), dim3(full ? 4096 : 132),
      {U(4096 * 256), Z(1024)}, {a, b, I(full ? 4096 * 256 : 132 * 256)});
  add(full, "histogram", "histogram_match", K(histogram_match), dim3(256), dim3(g), {U(n), Z(64)}, {a, b, I(n)});
  add(full, "contention", "one_address", K(one_address), dim3(256), dim3(full ? 1056 : 32), {Z(1)}, {a, I(2)});
  add(full, "contention", "one_exchange", K(one_exchange), dim3(32), dim3(full ? 1056 : 32), {Z(1)}, {a, I(4)});
  add(full, "columns", "column_store", K(column_store), dim3(full ? 128 : 32), dim3(full ? 528 : 1),
      {Z((full ? 528 * 128 : 32) * 64)}, {a, I(32)});
  n = full ? 1 << 20 : 33792;
  add(full, "gather", "gather_words", K(gather_words), dim3(256), dim3(n / 256), {F(1 << 22), M(n, 1 << 22), Z(n)},
      {a, b, c, I(n)});
  add(full, "gather", "gather_sectors", K(gather_rows), dim3(256), dim3(n / 256), {F(1 << 22), M(n / 8, 1 << 19), Z(n)},
      {a, b, c, I(n), I(8)});
  add(full, "gather", "gather_lines", K(gather_rows), dim3(256), dim3(n / 256), {F(1 << 22), M(n / 32, 1 << 17), Z(n)},
      {a, b, c, I(n), I(32)});
  add(full, "gather", "gather_far", K(gather_words), dim3(256), dim3(n / 256), {F(1 << 25), M(n, 1 << 25), Z(n)},
      {a, b, c, I(n)});
}
static void arithmetic(bool full) {
  int g = full ? 4096 : 132, n = g * 256;
  add(full, "arithmetic", "black_scholes", K(black_scholes), dim3(128), dim3(2 * g), {F(n), F(n), F(n), Z(n), Z(n)},
      {a, b, c, d, e, I(n)});
  add(full, "arithmetic", "k_means", K(k_means), dim3(256), dim3(g / 4), {F(n / 4 * 34), F(34 * 5), Z(n / 4)},
      {a, b, c, I(n / 4), I(34), I(5)});
  g = full ? 1056 : 132;
  add(full, "arithmetic", "monte_carlo", K(monte_carlo), dim3(256), dim3(g), {Z(g)}, {a, I(32)});
  add(full, "arithmetic", "n_body", K(n_body), dim3(256), dim3(full ? 264 : 66), {F(264 * 1024), Z(264 * 1024)},
      {a, b, I(2048)});
  g = full ? 2048 : 132;
  add(full, "stencil", "pathfinder", K(pathfinder), dim3(256), dim3(g),
      {M(g * 216 * 20, 10), M(g * 216, 10), Z(g * 216)}, {a, b, c, I(g * 216), I(20)});
  int side = full ? 1024 : 192;
  add(full, "elimination", "gauss_factors", K(gauss_factors), dim3(256), dim3(side / 256 + 1),
      {F(side * side), Z(side * side)},
      {a, b, I(side), I(2)});
  add(full, "elimination", "gauss_update", K(gauss_update), dim3(16, 16), dim3(full ? side / 16 : 11, side / 16),
      {F(side * side), F(side * side)}, {a, b, I(side), I(2)});
  add(full, "elimination", "lu_inner", K(lu_inner), dim3(16, 16), dim3(side / 16 - 1, side / 16 - 1), {F(side * side)},
      {a, I(side)});
  g = full ? 2048 : 132;
  add(full, "softmax", "softmax_rows", K(softmax_rows), dim3(256), dim3(g), {F(g * 1024), Z(g * 1024)},
      {a, b, I(1024)});
}

static const size_t LARGEST = (size_t)1 << 28;
static char *pool[6];
static void fill(const Case &one) {
  for (size_t i = 0; i < one.arrays.size(); i++) {
    const Array &array = one.arrays[i];
    if (array.words * 4 > LARGEST) {
      fprintf(stderr, "%s: too large\n", one.name);
      exit(1);
    }
    filler<<<528, 256>>>((u32 *)pool[i], array.words, array.kind, i + 1, array.below);
    if (array.kind == 'o') {
      std::vector<u32> words(array.words);
      CK(cudaMemcpy(words.data(), pool[i], 4 * array.words, cudaMemcpyDeviceToHost));
      u32 sum = 0;
      for (u32 &word : words) {
        u32 row = word;
        word = sum;
        sum += row;
      }
      CK(cudaMemcpy(pool[i], words.data(), 4 * array.words, cudaMemcpyHostToDevice));
      if (one.arrays[i + 1].words < words.back())
        fprintf(stderr, "%s: %u elements of %zu\n", one.name, words.back(), one.arrays[i + 1].words);
    }
  }
}
static std::string text_of(const Case &one) {
  std::string text;
  char word[64];
  for (const Array &array : one.arrays) {
    snprintf(word, 64, "%s%c:%zu:%u", text.empty() ? "" : " ", array.kind, array.words, array.below);
    text += word;
  }
  text += ",";
  for (size_t i = 0; i < one.arguments.size(); i++) {
    const Argument &argument = one.arguments[i];
    bool number = argument.kind == 'i' || argument.kind == 'r';
    snprintf(word, 64, number ? "%s%c%.9g" : "%s%c", i ? " " : "", argument.kind, argument.value);
    text += word;
  }
  return text;
}
static void launch(const Case &one) {
  u64 store[16];
  void *pointers[16];
  for (size_t i = 0; i < one.arguments.size(); i++) {
    const Argument &argument = one.arguments[i];
    int whole = (int)argument.value;
    float real = (float)argument.value;
    if (argument.kind == 'i')
      memcpy(&store[i], &whole, 4);
    else if (argument.kind == 'r')
      memcpy(&store[i], &real, 4);
    else
      store[i] = (u64)pool[argument.kind - 'a'];
    pointers[i] = &store[i];
  }
  CK(cudaLaunchKernel(one.function, one.grid, one.block, pointers, one.shared, 0));
}
int main(int argc, char **argv) {
  bool timed = argc < 2;
  for (char *&each : pool)
    CK(cudaMalloc(&each, LARGEST));
  for (int full = 0; full < 2; full++) {
    products(full), transposes(full), trees(full), transforms(full), graphs(full);
    streams(full), images(full), counts(full), arithmetic(full);
  }
  cudaEvent_t begin, end;
  CK(cudaEventCreate(&begin));
  CK(cudaEventCreate(&end));
  printf("kernel,group,size,symbol,registers,static_shared,dynamic_shared,grid_x,grid_y,block_x,block_y,arrays,"
         "arguments,microseconds\n");
  for (const Case &one : cases) {
    fill(one);
    launch(one);
    CK(cudaDeviceSynchronize());
    CK(cudaProfilerStart());
    launch(one);
    CK(cudaDeviceSynchronize());
    CK(cudaProfilerStop());
    float milliseconds = 0;
    if (timed) {
      CK(cudaEventRecord(begin));
      for (int i = 0; i < 20; i++)
        launch(one);
      CK(cudaEventRecord(end));
      CK(cudaEventSynchronize(end));
      CK(cudaEventElapsedTime(&milliseconds, begin, end));
    }
    cudaFuncAttributes of{};
    const char *symbol = "";
    CK(cudaFuncGetAttributes(&of, one.function));
    CK(cudaFuncGetName(&symbol, one.function));
    printf("%s,%s,%s,%s,%d,%zu,%zu,%u,%u,%u,%u,%s,%.3f\n", one.name, one.group, one.size, symbol, of.numRegs,
           of.sharedSizeBytes, one.shared, one.grid.x, one.grid.y, one.block.x, one.block.y, text_of(one).c_str(),
           milliseconds * 50);
  }
  CK(cudaDeviceSynchronize());
  return 0;
}
