// nvcc -arch=sm_90 -cubin -o ackermann.cubin ackermann.cu; cuobjdump -sass ackermann.cubin > ackermann.sass
__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void evaluate(const int *m, const int *n, int *found)
{
    int i = threadIdx.x;
    found[i] = ackermann(m[i], n[i]);
}
