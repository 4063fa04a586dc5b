#define grid_size_x 32
#define grid_size_y 1
#define grid_size_z 1
#define block_size_x 32
#define block_size_y 1
#define block_size_z 1
#define kernel_tuner 1
#line 1

extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] - b[i];
}
