#include <cstdio>

__global__ void add(float *values, int count, float addend, int *flag) {
    if (count) values[threadIdx.x] += addend, *flag = 7;
}

int main() {
    float *values;
    int *flag, words[4], seven;
    cudaMalloc(&values, 1024);
    cudaMalloc(&flag, 4);
    add<<<dim3(3, 2), dim3(32, 4), 128>>>(values, 5, 1.5f, flag);
    cudaMemcpy(words, values, sizeof words, cudaMemcpyDeviceToHost);
    cudaMemcpy(&seven, flag, 4, cudaMemcpyDefault);
    printf("%d %d %d %d %d\n", words[0], words[1], words[2], words[3], seven);
    cudaFree(values);
    puts(cudaGetErrorString(cudaFree(flag)));
}
