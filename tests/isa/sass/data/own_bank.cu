// Functions with sections of their own that read constant bank 2: nvcc -rdc=true -cubin, then nvlink.
__device__ __noinline__ double poly(double x) {
  return ((x * 1.2345678901234567 + 0.98765432109876543) * x + 3.1415926535897931) * x + 0.12345678912345;
}
__device__ __noinline__ int choose(int k, int x) {
  switch (k) {
    case 0: return x * 3 + 1;
    case 1: return x / 7;
    case 2: return x ^ 0x5555;
    case 3: return x << 3;
    case 4: return __popc(x);
    case 5: return x - 1000;
    case 6: return x % 11;
    default: return -1;
  }
}
extern "C" __global__ void both(const double *x, double *y, const int *k, int *z) {
  int i = threadIdx.x;
  y[i] = poly(x[i]) * 2.7182818284590451;
  z[i] = choose(k[i], i * 17);
}
extern "C" __global__ void other(double *y, const int *k, int *z, int n) {
  int i = threadIdx.x;
  y[i] = 1.4142135623730951 + y[i] * 1.7320508075688772;
  switch (n) { case 0: z[i] = choose(k[i], 3); break; case 1: z[i]=7*n+k[i]; break; case 2: z[i] = k[i] / 3; break; case 3: z[i] = k[i] << 2;break; case 4: z[i]=k[i]%9; break; case 5: z[i]=__popc(k[i]); break; case 6: z[i]=choose(k[i],i)+1; }
}
