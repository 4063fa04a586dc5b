// The text doubles_90.sass beside this file: nvcc 13.0.88, -arch=sm_90 -cubin, printed by cuobjdump -sass.

extern "C" __global__ void doubles(const double *x, double *y) {
    double a = x[threadIdx.x], b = fma(a, 2.5, 0.125), c = fma(a, b, 1e10) * -0.75 + 0.3;
    y[threadIdx.x] = a > 0.5 ? c : b + 7.0;
}
