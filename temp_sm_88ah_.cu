#define grid_size_x 1563
#define grid_size_y 1
#define grid_size_z 1
#define block_size_x 64
#define block_size_y 1
#define block_size_z 1
#define each 1
#define kernel_tuner 1
#line 1

__global__ void vector_add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * block_size_x * each + threadIdx.x;
  for (int k = 0; k < each; k++, i += block_size_x)
    if (i < n) c[i] = a[i] + b[i];
}
