// Every thread adds to one float in shared memory, which nvcc makes a loop of compare-and-swap.
extern "C" __global__ void shf(float* c) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}
