// The squared lengths of vectors of 32 numbers: each thread reads its own vector.
extern "C" __global__ void lengths(const float *vectors, float *lengths) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  const float *own = vectors + 32 * v;
  float sum = 0;
  for (int k = 0; k < 32; k++)
    sum += own[k] * own[k];
  lengths[v] = sum;
}
