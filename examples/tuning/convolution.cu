// Convolution of an image with a square filter, which lies in constant memory.
// A thread computes THREAD_Y rows of THREAD_X neighbouring pixels. Names in capitals that no line here defines are
// tunable parameters, which the compiler is given.
#define FILTER 7
#define TILE_X (BLOCK_X * THREAD_X)
#define TILE_Y (BLOCK_Y * THREAD_Y)
#define COLUMNS (TILE_X + 8)  // of the image that a block reads: FILTER - 1 more than the tile's, in whole packs
#define ROWS (TILE_Y + FILTER - 1)
#define NEEDED ((THREAD_X + FILTER - 1 + VECTOR - 1) / VECTOR * VECTOR)  // pixels of a row that a thread reads

#if VECTOR == 4
typedef float4 Pack;
#else
typedef float Pack;
#endif

__constant__ float filter[FILTER * FILTER];

// `image` has `pitch` pixels a row, `width` + 8, and FILTER - 1 rows more than `result`.
extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    convolution(const float *image, float *result, int width, int pitch) {
  const int x = threadIdx.x * THREAD_X, y = threadIdx.y * THREAD_Y;
  const float *from = image + blockIdx.y * TILE_Y * pitch + blockIdx.x * TILE_X;
#if CACHE  // in shared memory; else the L1 is the cache
  __shared__ __align__(16) float tile[ROWS][COLUMNS + PAD];
  for (int at = (threadIdx.y * BLOCK_X + threadIdx.x) * VECTOR; at < ROWS * COLUMNS; at += BLOCK_X * BLOCK_Y * VECTOR)
    *(Pack *)&tile[at / COLUMNS][at % COLUMNS] = *(const Pack *)&from[at / COLUMNS * pitch + at % COLUMNS];
  __syncthreads();
#endif
  __align__(16) float sums[THREAD_Y][THREAD_X] = {};
#pragma unroll
  for (int row = 0; row < THREAD_Y + FILTER - 1; row++) {
    __align__(16) float pixels[NEEDED];
#pragma unroll
    for (int i = 0; i < NEEDED; i += VECTOR)
#if CACHE
      *(Pack *)&pixels[i] = *(Pack *)&tile[y + row][x + i];
#else
      *(Pack *)&pixels[i] = *(const Pack *)&from[(y + row) * pitch + x + i];
#endif
#pragma unroll
    for (int i = 0; i < THREAD_Y; i++)
      if (row >= i && row < i + FILTER)
#pragma unroll
        for (int j = 0; j < THREAD_X; j++)
#pragma unroll
          for (int k = 0; k < FILTER; k++) sums[i][j] += filter[(row - i) * FILTER + k] * pixels[j + k];
  }
  float *to = result + (blockIdx.y * TILE_Y + y) * width + blockIdx.x * TILE_X + x;
#pragma unroll
  for (int i = 0; i < THREAD_Y; i++)
#pragma unroll
    for (int j = 0; j < THREAD_X; j += VECTOR) *(Pack *)&to[i * width + j] = *(Pack *)&sums[i][j];
}
