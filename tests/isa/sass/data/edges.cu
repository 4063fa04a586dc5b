// Idioms whose machine code has numbers, halves and calls in rare forms. Compiled by
// nvcc -cubin -arch=sm_90 -lineinfo -o edges_90.cubin edges.cu, and for sm_80
#include <cassert>
#include <cooperative_groups.h>
#include <cuda_fp16.h>

extern "C" __global__ void quotients(const double* x, double* o, int n) {
  int i = threadIdx.x;
  o[i] = x[i] / 100, o[n + i] = 1 / (x[i] * 0 + 10), o[2 * n + i] = log(x[i]);
}

extern "C" __global__ void products(const __half2* a, const __half2* b, __half2* o) {
  int i = threadIdx.x;
  o[i] = __hcmadd(a[i], b[i], a[i]);
}

extern "C" __global__ void limited(const int* a, int* o, int n) {
  int i = threadIdx.x;
  assert(a[i] < n);
  o[i] = a[i];
}

struct Shape {
  float a;
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  __device__ float area() const override { return a * a; }
};
struct Strip : Square {
  __device__ float area() const override { return 2 * a; }
};

extern "C" __global__ void areas(float* o) {
  Square square;
  Strip strip;
  square.a = strip.a = o[threadIdx.x];
  Shape* shapes[] = {&square, &strip};
  o[threadIdx.x] = shapes[threadIdx.x % 3 % 2]->area();
}

extern "C" __global__ void removed(float* o) {
  Square square;
  Shape* shape = &square;
  square.a = o[0];
  if (o[threadIdx.x] > 5) delete shape;
  o[threadIdx.x] = 1;
}

extern "C" __global__ void tiles(const int* a, int* o) {
  auto block = cooperative_groups::this_thread_block();
  auto tile = cooperative_groups::tiled_partition<64>(block);
  int i = block.thread_rank(), x = a[i];
  o[i] = tile.shfl(x, 45) + 1000 * tile.any(x == 70) + 5000 * tile.all(x < 64);
}

extern "C" __global__ void sizes(unsigned* o) {
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(o[0]));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(o[1]));
}

__constant__ float table[8] = {0, 1, 2, 3, 4, 5, 6, 7};

extern "C" __global__ void picks(const float* g, float* o) {
  const float* from = threadIdx.x % 2 ? g : table;
  o[threadIdx.x] = from[threadIdx.x / 4];
}
