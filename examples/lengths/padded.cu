// The squared lengths of vectors of 32 numbers: as tile.cu, in rows of shared memory that begin in other banks.
extern "C" __global__ void lengths(const float *vectors, float *lengths) {
  __shared__ float tile[256][33];
  int first = blockIdx.x * blockDim.x, lane = threadIdx.x % 32;
  for (int row = threadIdx.x / 32; row < 256; row += 8)
    tile[row][lane] = vectors[32 * (first + row) + lane];
  __syncthreads();
  const float *own = tile[threadIdx.x];
  float sum = 0;
  for (int k = 0; k < 32; k++)
    sum += own[k] * own[k];
  lengths[first + threadIdx.x] = sum;
}
