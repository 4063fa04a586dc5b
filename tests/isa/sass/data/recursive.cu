// Recursion whose depth the compiler does not know: nvcc -cubin -arch=sm_90 -G -o recursive_debug.cubin recursive.cu
__device__ int down(int n) { return n ? 2 * n + down(n - 1) : 0; }

extern "C" __global__ void sums(int* o) { o[threadIdx.x] = down(threadIdx.x); }
