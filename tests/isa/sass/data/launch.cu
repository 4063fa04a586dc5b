// The cubins launch_*.cubin beside this file: nvcc 13.0.88, -arch=sm_75, sm_80 and sm_90 -cubin, in a folder /example.

#include <cstdio>

__device__ char letter = 'a';
__device__ double pair[2];
__device__ int counts[4] = {1, 2, 3, 4};
__device__ int *third = &counts[2];
__constant__ double *second = &pair[1];

extern "C" __global__ void dense(float *x, int which)
{
    float v = x[0];
    switch (which) {
    case 0: x[1] = v; break;
    case 1: x[v > 3] = v * v; break;
    case 2: v += x[5]; break;
    case 3: x[2] = 1 / v; break;
    case 4: v = x[8] * x[9] + v; break;
    case 5: atomicAdd(x + 3, v); break;
    case 6: x[7] = sqrtf(v); break;
    case 7: __syncwarp(); x[4] = v - 1; break;
    }
    x[threadIdx.x] = v;
}

__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void recurse(int *x)
{
    x[0] = fib(x[0]);
}

typedef float (*Function)(float);
__device__ float twice(float v) { return 2 * v; }
__device__ float square(float v) { return v * v; }
__device__ Function table[2] = {twice, square};

extern "C" __global__ void points(float *x, int which)
{
    x[0] = table[which](x[0]) + letter + *third + *second;
}

extern __shared__ float dynamic[];

extern "C" __global__ void windows(float *x, int n)
{
    __shared__ double fixed[3];
    float mine[8];
    for (int i = 0; i < 8; i++) mine[i * n & 7] = x[i];
    fixed[n] = x[n];
    dynamic[n] = x[n + 1];
    __syncthreads();
    float *p = n > 4 ? dynamic : n > 2 ? mine : x;
    p[n & 7] += fixed[n & 1];
    x[n] = mine[n & 7] + dynamic[n];
}

extern "C" __global__ void prints(int *x)
{
    printf("%d\n", x[0]);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 2, 1) clustered(int *x) { x[blockIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(128, 2, 8) bounded(int *x) { x[blockIdx.x] = 1; }
#endif
