#include <cstdio>

struct Buffer {
    void *memory = nullptr;
    ~Buffer() { printf("freed: %s\n", cudaGetErrorString(cudaFree(memory))); }
};

static Buffer buffer;

int main() {
    cudaMalloc(&buffer.memory, 16);
    puts("main ends");
    return 7;
}
