// Polynomials by Horner's scheme, four at a time, with coefficients in constant memory.
__constant__ float pc[65];
extern "C" __global__ void __launch_bounds__(256) horner4(const float *__restrict__ in, float *__restrict__ out) {
  size_t base = (size_t)blockIdx.x * 2048 + threadIdx.x;
#pragma unroll 1
  for (int r = 0; r < 8; r += 4) {
    float x[4], p[4];
#pragma unroll
    for (int j = 0; j < 4; j++) { x[j] = in[base + (r + j) * 256]; p[j] = pc[64]; }
#pragma unroll
    for (int k = 63; k >= 0; k--)
#pragma unroll
      for (int j = 0; j < 4; j++) p[j] = p[j] * x[j] + pc[k];
#pragma unroll
    for (int j = 0; j < 4; j++) out[base + (r + j) * 256] = p[j];
  }
}
