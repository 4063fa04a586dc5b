// Pointers to functions: of virtual ones in objects that another kernel has made, in variables, and as arguments.
#include <cstdio>

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation table[2] = {add, multiply};
__device__ Operation one = multiply;
__constant__ Operation constants[2] = {multiply, add};

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
    int a, b;
    __device__ Rectangle(int a, int b) : a(a), b(b) {}
    __device__ int area() const override { return a * b; }
};
__device__ Shape *shapes[4];

__global__ void make() {
    shapes[0] = new Square(3);
    shapes[1] = new Rectangle(2, 5);
    shapes[2] = new Square(4);
    shapes[3] = new Rectangle(1, 1);
}

__global__ void areas(int *o) {
    for (int i = 0; i < 4; i++) o[i] = shapes[i]->area();
}

__global__ void apply(Operation f, int *o, int i) {
    o[4] = f(6, 7);
    o[5] = table[i](6, 7);
    o[6] = constants[i](6, 7);
    o[7] = one(2, 2);
}

__global__ void pick(Operation *f, int i) { *f = i ? multiply : add; }

static void show(const int *o) {
    for (int i = 0; i < 8; i++) printf("%d%c", o[i], i < 7 ? ' ' : '\n');
}

int main() {
    int *o;
    Operation given, *made;
    cudaMallocManaged(&o, 64);
    cudaMallocManaged(&made, 8);
    make<<<1, 1>>>();
    areas<<<1, 1>>>(o);
    cudaMemcpyFromSymbol(&given, one, sizeof given);
    apply<<<1, 1>>>(given, o, 0);
    cudaDeviceSynchronize();
    show(o);
    pick<<<1, 1>>>(made, 0);
    cudaDeviceSynchronize();
    apply<<<1, 1>>>(*made, o, 1);
    cudaDeviceSynchronize();
    show(o);
    return cudaGetLastError();
}
