#define grid_size_x 1
#define grid_size_y 1
#define grid_size_z 1
#define block_size_x 32
#define block_size_y 1
#define block_size_z 1
#define kernel_tuner 1
#line 1
__kernel void k() {}