// Reverses the numbers of each block through shared memory whose size the launch gives.
extern "C" __global__ void reverse(const float *in, float *out) {
  extern __shared__ float own[];
  int first = blockIdx.x * blockDim.x, i = threadIdx.x;
  own[i] = in[first + i];
  __syncthreads();
  out[first + i] = own[blockDim.x - 1 - i];
}
