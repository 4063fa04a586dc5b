// Pointers to functions in variables, tables of virtual functions, a pointer to a __constant__ variable.
// nvcc -cubin -arch=sm_90 -G -o pointers_90.cubin pointers.cu; xz -9e pointers_90.cubin; so for sm_75, sm_80, sm_86.
typedef unsigned (*fn)(unsigned);

__device__ unsigned thrice(unsigned x) { return 3 * x + 1; }
__device__ unsigned flipped(unsigned x) { return x ^ 0x55; }

__device__ fn table[2] = {thrice, flipped};
__constant__ fn fixed[2] = {flipped, thrice};
__constant__ unsigned numbers[3] = {5, 6, 7};
__device__ const unsigned *second = &numbers[1];

extern "C" __global__ void calls(unsigned *o) {
    unsigned i = threadIdx.x;
    o[i] = table[i & 1](i) + 1000 * fixed[i >> 1 & 1](i) + 1000000 * *second;
}

struct Shape {
    unsigned side;
    __device__ explicit Shape(unsigned side) : side(side) {}
    __device__ virtual unsigned area() const = 0;
    __device__ virtual unsigned sides() const { return 4; }
};
struct Square : Shape {
    using Shape::Shape;
    __device__ unsigned area() const override { return side * side; }
};
struct Cube : Shape {
    using Shape::Shape;
    __device__ unsigned area() const override { return 6 * side * side; }
    __device__ unsigned sides() const override { return 6; }
};

extern "C" __global__ void areas(unsigned *o) {
    unsigned i = threadIdx.x;
    Square square(i);
    Cube cube(i);
    const Shape *shape = i & 1 ? (const Shape *)&cube : (const Shape *)&square;
    o[i] = 10 * shape->area() + shape->sides();
}

extern "C" __global__ void stores(fn *o) { o[threadIdx.x] = table[threadIdx.x]; }
