#include <cstdio>

__global__ void wait() {}

int main() {
    cudaEvent_t begin, end, other;
    cudaEventCreate(&begin);
    cudaEventCreateWithFlags(&end, cudaEventDefault);
    cudaEventCreate(&other);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    wait<<<1, 32, 0, stream>>>();
    cudaEventRecord(begin, stream);
    wait<<<1, 32, 0, stream>>>();
    wait<<<1, 32, 0, stream>>>();
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    float ms;
    cudaEventElapsedTime(&ms, begin, end);
    printf("%.1f ms\n", ms);
    cudaError_t error = cudaEventElapsedTime(&ms, begin, other);
    printf("%d %s\n", error, cudaGetErrorString(error));
}
