// C = A B of row-major matrices, whose sizes are multiples of the tile's.
// A block computes a tile of C, a thread THREAD_M x THREAD_N of its elements. Names in capitals that no line here
// defines are tunable parameters, which the compiler is given.
#define THREADS_X (TILE_N / THREAD_N)
#define THREADS_Y (TILE_M / THREAD_M)
#define THREADS (THREADS_X * THREADS_Y)
#define LOADS_A (TILE_M * TILE_K / VECTOR / THREADS)
#define LOADS_B (TILE_K * TILE_N / VECTOR / THREADS)

#if VECTOR == 4
typedef float4 Pack;
#else
typedef float Pack;
#endif

// Element `each` of a thread's: packs of neighbouring threads lie side by side, so that a warp reads without gaps.
__device__ int place(int thread, int threads, int each) {
  return (each / VECTOR * threads + thread) * VECTOR + each % VECTOR;
}

__device__ void load(Pack *packs, int loads, const float *from, int stride, int columns) {
#pragma unroll
  for (int i = 0; i < loads; i++) {
    int at = (i * THREADS + threadIdx.y * THREADS_X + threadIdx.x) * VECTOR;
    packs[i] = *(const Pack *)(from + at / columns * stride + at % columns);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) sgemm(const float *a, const float *b, float *c, int n, int k) {
  __shared__ __align__(16) float as[TILE_K][TILE_M + PAD], bs[TILE_K][TILE_N];
  const int thread = threadIdx.y * THREADS_X + threadIdx.x;
  const float *tile_a = a + blockIdx.y * TILE_M * k, *tile_b = b + blockIdx.x * TILE_N;
  __align__(16) float sums[THREAD_M][THREAD_N] = {};
  Pack next_a[LOADS_A], next_b[LOADS_B];
  if (PREFETCH) {
    load(next_a, LOADS_A, tile_a, k, TILE_K);
    load(next_b, LOADS_B, tile_b, n, TILE_N);
  }
  for (int first = 0; first < k; first += TILE_K) {
    if (!PREFETCH) {
      load(next_a, LOADS_A, tile_a + first, k, TILE_K);
      load(next_b, LOADS_B, tile_b + first * n, n, TILE_N);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < LOADS_A; i++) {
      int at = (i * THREADS + thread) * VECTOR;
#pragma unroll
      for (int j = 0; j < VECTOR; j++) as[at % TILE_K + j][at / TILE_K] = ((float *)&next_a[i])[j];
    }
#pragma unroll
    for (int i = 0; i < LOADS_B; i++) {
      int at = (i * THREADS + thread) * VECTOR;
      *(Pack *)&bs[at / TILE_N][at % TILE_N] = next_b[i];
    }
    __syncthreads();
    if (PREFETCH && first + TILE_K < k) {
      load(next_a, LOADS_A, tile_a + first + TILE_K, k, TILE_K);
      load(next_b, LOADS_B, tile_b + (first + TILE_K) * n, n, TILE_N);
    }
#pragma unroll
    for (int l = 0; l < TILE_K; l++) {
      __align__(16) float row[THREAD_M], column[THREAD_N];
#pragma unroll
      for (int i = 0; i < THREAD_M; i += VECTOR)
        *(Pack *)&row[i] = *(Pack *)&as[l][place(threadIdx.y, THREADS_Y, i)];
#pragma unroll
      for (int j = 0; j < THREAD_N; j += VECTOR)
        *(Pack *)&column[j] = *(Pack *)&bs[l][place(threadIdx.x, THREADS_X, j)];
#pragma unroll
      for (int i = 0; i < THREAD_M; i++)
#pragma unroll
        for (int j = 0; j < THREAD_N; j++) sums[i][j] += row[i] * column[j];
    }
  }
  float *tile_c = c + blockIdx.y * TILE_M * n + blockIdx.x * TILE_N;
#pragma unroll
  for (int i = 0; i < THREAD_M; i++)
#pragma unroll
    for (int j = 0; j < THREAD_N; j += VECTOR)
      *(Pack *)&tile_c[place(threadIdx.y, THREADS_Y, i) * n + place(threadIdx.x, THREADS_X, j)] = *(Pack *)&sums[i][j];
}
