// A kernel without parameters.
__device__ int ran;
extern "C" __global__ void without() { ran = 1; }
