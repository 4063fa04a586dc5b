// Functions in sections of their own, whose addresses the file's relocations say.
// nvcc -cubin -arch=sm_90 -G -o linked_debug.cubin linked.cu; and, of two files as of one program,
// nvcc -arch=sm_90 -dc -o linked.o linked.cu; nvcc -arch=sm_90 -dlink -cubin -o linked_90.cubin linked.o; the same for
// sm_80.
__device__ int count;

__device__ __noinline__ float square(float x) {
    atomicAdd(&count, 1);
    return x * x;
}

__device__ __noinline__ float third(float x) { return square(x) / 3; }

extern "C" __global__ void thirds(const float *x, float *y) {
    y[threadIdx.x] = third(x[threadIdx.x]) + square(1);
    __threadfence();
}
