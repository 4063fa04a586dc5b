#include <cstdio>

__device__ int table[4];

int main() {
    int *rows, two[2][2] = {{1, 2}, {3, 4}}, back[3][2] = {}, part[2], values[] = {10, 20, 30, 40};
    size_t pitch;
    cudaMallocPitch(&rows, &pitch, 8, 3);
    cudaMemcpy2D(rows, pitch, two, 8, 8, 2, cudaMemcpyHostToDevice);
    cudaMemset((char *)rows + 2 * pitch, 9, 8);
    cudaMemcpy2D(back, 8, rows, pitch, 8, 3, cudaMemcpyDeviceToHost);
    printf("%zu\n%d %d | %d %d | %d %d\n", pitch, back[0][0], back[0][1], back[1][0], back[1][1], back[2][0] & 255,
           back[2][1] >> 24);
    cudaMemcpyToSymbol(table, values, sizeof values);
    cudaMemcpyFromSymbol(part, table, 8, 8);
    printf("%d %d\n", part[0], part[1]);
    cudaError_t error = cudaMemcpyToSymbol(table, values, 16, 4);
    printf("%d %s\n", error, cudaGetErrorString(error));
}
