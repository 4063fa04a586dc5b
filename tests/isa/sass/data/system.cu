// Calls of the system that are rarely made: an assertion, a line to print, an array and an object of the heap.
// nvcc -cubin -arch=sm_90 -G -o system_debug_90.cubin system.cu; xz -9e system_debug_90.cubin; so for sm_80.
// nvcc -cubin -arch=sm_75 -Xptxas -O0 -o system_plain_75.cubin system.cu; xz -9e system_plain_75.cubin; so for sm_80.
#include <cassert>
#include <cstdio>

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual unsigned area() const = 0;
};
struct Square : Shape {
    unsigned side;
    __device__ explicit Square(unsigned side) : side(side) {}
    __device__ unsigned area() const override { return side * side; }
};

extern "C" __global__ void calls(unsigned *o, unsigned which) {
    unsigned i = threadIdx.x;
    Square square(i);
    const Shape *shape = &square;
    o[i] = shape->area();
    assert(which != 1 || i != 3);
    if (which == 2 && i == 4) printf("%u\n", i);
    if (which == 3 && i == 5) o[i] = *(unsigned *)malloc(4);
    if (which == 4 && i == 6) free(o);
}
