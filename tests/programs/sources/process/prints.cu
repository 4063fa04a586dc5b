#include <cstdio>

__global__ void speak() { printf("kernel\n"); }

int main() {
    puts("before");
    speak<<<1, 1>>>();
    puts("launched");
    cudaDeviceSynchronize();
    puts("waited");
    speak<<<1, 1>>>();
    puts("end");
}
