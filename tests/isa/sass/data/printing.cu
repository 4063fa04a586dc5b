// What an H200 printed and returned is in test_printing.py; heap and others have no such text.
// for a in 75 80 90 100 120; do nvcc -cubin -arch=sm_$a -o printing_$a.cubin printing.cu; xz -9e printing_$a.cubin; done
#include <cstdio>
#include <cstdlib>
#include <alloca.h>

#define P(...) o[n++] = printf(__VA_ARGS__)

extern "C" __global__ void formats(int *o, double zero) {
    char local[8] = {'a', 'b', 'c', 0};
    __shared__ char shared[4];
    shared[0] = 's', shared[1] = 0;
    int n = 0;
    P("none\n");
    P("%d\n", 1);
    P("%d %d %s\n", 1, 2, "abc");
    P("%s|\n", local);
    P("null %s|\n", (char *)0);
    P("%%|%5d|%-5d|%05d|%+d|% d|%#x|%#o|%X\n", 42, 42, 42, 42, 42, 42, 42, 42);
    P("%f|%e|%g|%a|%10.3f|%G\n", 1.5, 1.5, 1.5, 1.5, 3.14159, 1e-10);
    P("%lld|%llu|%ld|%hd|%zu|%p|%c\n", -1LL, ~0ULL, -2L, (short)-3, (size_t)9, (void *)0x1234, 'x');
    P("");
    P("%k %d\n", 7, 8);
    P("ends %");
    P("\n%5s|%-5s|%.2s|%5c|\n", "ab", "ab", "abcdef", 'y');
    P("%p %f %f %f %f\n", (void *)0, 1 / zero, -1 / zero, -(zero / zero) * -1, -zero);
    P("shared %s and %s\n", shared, local);
    P("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3,
      4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33);
    P((char *)0);
}

extern "C" __global__ void lanes(int *o, int every) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % every == 0)
        o[i] = printf("%d: %s\n", i, i & 1 ? "odd" : "even");
    else if (i % every == 1)
        o[i] = printf("%d, %g\n", i, i / 4.0);
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
    int *lengths, count;
    __device__ explicit Strip(int count) : lengths(new int[count]), count(count) {
        for (int i = 0; i < count; i++) lengths[i] = i;
    }
    __device__ ~Strip() override { delete[] lengths; }
    __device__ int area() const override {
        int sum = 0;
        for (int i = 0; i < count; i++) sum += lengths[i];
        return sum;
    }
};

extern "C" __global__ void heap(int *o, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; round++) {
        Shape *shape = (i + round) % 3 ? (Shape *)new Strip(i % 7 + 1) : new Square(i);
        sum += shape->area();
        delete shape;
    }
    o[i] = sum;
}

// 0: NULL or not for sizes; 1: until none is left; 2: what is freed is given again; 3: a block is freed twice;
// 4: none overlap, and all are aligned
extern "C" __global__ void allocate(long long *o, int what) {
    if (what == 0) {
        o[0] = malloc(0) != 0, o[1] = malloc(9 << 20) != 0, o[2] = malloc(6 << 20) != 0, o[3] = malloc(1 << 20) != 0;
        o[4] = malloc(1 << 20) != 0, o[5] = malloc(-1) != 0;
        free(0);
    }
    if (what == 1)
        while (malloc(1 << 20)) o[0]++;
    if (what == 2)
        for (int i = 0; i < 100; i++) {
            void *p = malloc(100000);
            o[0] += p != 0;
            free(p);
        }
    if (what == 3) {
        void *p = malloc(64);
        free(p);
        free(p);
    }
    if (what == 4) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, size = 4 + 12 * (i % 11);
        int *p = (int *)malloc(size);
        for (int k = 0; k < size / 4; k++) p[k] = i;
        __syncthreads();
        int wrong = ((long long)p & 15) != 0;
        for (int k = 0; k < size / 4; k++) wrong += p[k] != i;
        o[i] = wrong;
        free(p);
    }
}

__device__ int sum_to(int n) { return n ? n + sum_to(n - 1) : 0; }
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int (*table[])(int) = {twice, square, sum_to};

extern "C" __global__ void calls(int *o, int n) {
    int i = threadIdx.x;
    int *own = (int *)alloca(4 * (n + i % 4));
    for (int k = 0; k < n + i % 4; k++) own[k] = table[(k + i) % 3](k);
    int sum = 0;
    for (int k = 0; k < n + i % 4; k++) sum += own[k];
    o[i] = sum;
}

extern "C" __global__ void clocks(long long *o) {
    unsigned long long from, to;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    long long begin = clock64();
    unsigned low = clock();
    void *p = malloc(16);
    free(p);
    long long end = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
    o[0] = end - begin, o[1] = (unsigned)begin <= low, o[2] = to - from;
}

extern "C" __global__ void flood(int *o, int count) {
    for (int k = 0; k < count; k++) printf("%d and %s\n", k, "some");
}

extern "C" __global__ void fails(int *o, int what) {
    if (what == 0) __trap();
    if (what == 1) o[1 << 28] = 1;
    if (what == 2) *(int *)((char *)o + 1) = 1;
    if (what == 3) printf("before\n"), o[1 << 28] = 1;
}
