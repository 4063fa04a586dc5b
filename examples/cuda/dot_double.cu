// A dot product in double precision: each thread sums, then the warp, then one thread of each block adds its part.
extern "C" __global__ void dot_double(const double *x, const double *y, double *parts, int n) {
  __shared__ double sums[8];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; w++) sum += sums[w];
    parts[blockIdx.x] = sum;
  }
}
