// Textbook kernels, each with one well-known cause of its speed. Compiled by nvcc 13.0: -arch=sm_90 -cubin -lineinfo.
#define N 2112  // side of the matrices: 66 tiles of 32

extern "C" __global__ void transpose_naive(const float *in, float *out) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[x * N + y + j] = in[(y + j) * N + x];
}

extern "C" __global__ void transpose_tile(const float *in, float *out) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * N + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_padded(const float *in, float *out) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * N + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A warp computes the softmax of a row of 512 numbers, which it reads three times.
extern "C" __global__ void softmax(const float *in, float *out) {
  int row = blockIdx.x * 8 + threadIdx.y;
  float most = -INFINITY, sum = 0;
  for (int k = threadIdx.x; k < 512; k += 32)
    most = fmaxf(most, in[row * 512 + k]);
  for (int d = 16; d; d /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  for (int k = threadIdx.x; k < 512; k += 32)
    sum += expf(in[row * 512 + k] - most);
  for (int d = 16; d; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  for (int k = threadIdx.x; k < 512; k += 32)
    out[row * 512 + k] = expf(in[row * 512 + k] - most) / sum;
}

__constant__ int filter[49];

// Sums of 49 neighbours, each cut off at limits; beyond the border are the pixels at the border.
extern "C" __global__ void convolve(const unsigned char *in, int *out) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, sum = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      int value = in[min(max(y + j, 0), N - 1) * N + min(max(x + i, 0), N - 1)];
      sum += min(max(value, filter[(j + 3) * 7 + i + 3]), 200);
    }
  out[y * N + x] = sum;
}

// A thread writes a row of 32 numbers: a warp's lanes lie 256 bytes apart.
extern "C" __global__ void columns(float *out) {
  for (int j = 0; j < 32; j++)
    out[(blockIdx.x * blockDim.x + threadIdx.x) * 64 + j] = j;
}

extern "C" __global__ void sum_global(const float *in, float *sum) {
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void sum_shared(const float *in, float *sums) {
  __shared__ float sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  for (int k = 0; k < 4; k++)
    atomicAdd(&sum, in[(blockIdx.x * 4 + k) * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0)
    sums[blockIdx.x] = sum;
}

// All threads of a block count in one word.
extern "C" __global__ void count_all(int *counts) {
  __shared__ int count;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  for (int k = 0; k < 64; k++)
    atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0)
    counts[blockIdx.x] = count;
}

// The largest of all, found by all threads in one word.
extern "C" __global__ void most_shared(const int *in, int *most) {
  __shared__ int own;
  if (threadIdx.x == 0)
    own = 0;
  __syncthreads();
  for (int k = 0; k < 16; k++)
    atomicMax(&own, in[(blockIdx.x * 16 + k) * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0)
    most[blockIdx.x] = own;
}

// A ticket for each thread.
extern "C" __global__ void tickets(unsigned *next, unsigned *own) {
  own[blockIdx.x * blockDim.x + threadIdx.x] = atomicInc(next, ~0u);
}

// 64 sums, for which a thread has 32 registers.
extern "C" __global__ void __launch_bounds__(1024, 2) spill(const float *in, float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sums[64];
#pragma unroll
  for (int k = 0; k < 64; k++)
    sums[k] = k;
  for (int i = 0; i < 4; i++) {
    float x = in[i * 1024 + threadIdx.x];
#pragma unroll
    for (int k = 0; k < 64; k++)
      sums[k] = sums[k] * x + sums[(k + 1) % 64];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; k++)
    sum += sums[k] * sums[k];
  out[t] = sum;
}

__constant__ float table[1024];

// Lanes read a table in constant memory, each at a place of its own.
extern "C" __global__ void lookup(const int *in, float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, at = in[t];
  float sum = 0;
  for (int k = 0; k < 32; k++) {
    at = (at * 5 + 1) & 1023;
    sum += table[at];
  }
  out[t] = sum;
}

// Eight chains of products and sums: a polynomial's, at the peak of single precision.
extern "C" __global__ void polynomial(const float *in, float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[threadIdx.x], sum[8] = {x, x, x, x, x, x, x, x};
#pragma unroll 16
  for (int k = 0; k < 256; k++)
#pragma unroll
    for (int j = 0; j < 8; j++)
      sum[j] = sum[j] * x + 1.5f;
  out[t] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

// One chain: a warp by itself waits for each result.
extern "C" __global__ void chain(const float *in, float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[threadIdx.x], sum = x;
#pragma unroll 16
  for (int k = 0; k < 256; k++)
    sum = sum * x + 1.5f;
  out[t] = sum;
}

extern "C" __global__ void axpy(float a, const float4 *x, float4 *y) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = x[t], q = y[t];
  y[t] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
}

// Threads follow chains of indices: each load waits for the one before.
extern "C" __global__ void chase(const int *in, int *out) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 64; k++)
    at = in[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// C = A B of n by n matrices, a tile of 128 by 128 in each block of 256 threads, 8 by 8 in each thread.
extern "C" __global__ void __launch_bounds__(256) product(const float *a, const float *b, float *c, int n) {
  __shared__ __align__(16) float as[8][132], bs[8][128];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  a += blockIdx.y * 128 * n, b += blockIdx.x * 128;
  float sum[8][8] = {};
  float4 next_a = *(const float4 *)&a[threadIdx.x / 2 * n + threadIdx.x % 2 * 4];
  float4 next_b = *(const float4 *)&b[threadIdx.x / 32 * n + threadIdx.x % 32 * 4];
  for (int k = 0; k < n; k += 8) {
    __syncthreads();
    as[threadIdx.x % 2 * 4][threadIdx.x / 2] = next_a.x;
    as[threadIdx.x % 2 * 4 + 1][threadIdx.x / 2] = next_a.y;
    as[threadIdx.x % 2 * 4 + 2][threadIdx.x / 2] = next_a.z;
    as[threadIdx.x % 2 * 4 + 3][threadIdx.x / 2] = next_a.w;
    *(float4 *)&bs[threadIdx.x / 32][threadIdx.x % 32 * 4] = next_b;
    __syncthreads();
    if (k + 8 < n) {
      next_a = *(const float4 *)&a[threadIdx.x / 2 * n + k + 8 + threadIdx.x % 2 * 4];
      next_b = *(const float4 *)&b[(k + 8 + threadIdx.x / 32) * n + threadIdx.x % 32 * 4];
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      float p[8], q[8];
      *(float4 *)&p[0] = *(float4 *)&as[i][y * 4];
      *(float4 *)&p[4] = *(float4 *)&as[i][64 + y * 4];
      *(float4 *)&q[0] = *(float4 *)&bs[i][x * 4];
      *(float4 *)&q[4] = *(float4 *)&bs[i][64 + x * 4];
#pragma unroll
      for (int r = 0; r < 8; r++)
#pragma unroll
        for (int s = 0; s < 8; s++)
          sum[r][s] += p[r] * q[s];
    }
  }
#pragma unroll
  for (int r = 0; r < 8; r++)
#pragma unroll
    for (int s = 0; s < 8; s += 4)
      *(float4 *)&c[(blockIdx.y * 128 + r / 4 * 64 + y * 4 + r % 4) * n + blockIdx.x * 128 + s / 4 * 64 + x * 4] =
          make_float4(sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]);
}
