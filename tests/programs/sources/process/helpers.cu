#include <cstdio>
#include <cstdlib>

// Starts a program that lives on for long, before the first call of CUDA.
int main() {
    if (std::system("sleep 30 >/dev/null 2>&1 &")) return 1;
    void *memory;
    printf("%s\n", cudaGetErrorString(cudaMalloc(&memory, 16)));
    return 4;
}
