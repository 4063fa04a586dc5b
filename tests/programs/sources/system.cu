// A list on the kernels' heap that one kernel makes and another takes apart; prints of both sides; a failed assertion.
#include <cassert>
#include <cstdio>

struct Node {
    int value;
    Node *next;
};
__device__ Node *head;
typedef unsigned long long word;

__global__ void push(int n) {
    for (int i = 0; i < n; i++) {
        Node *one = new Node{i, nullptr}, *old;
        do {
            old = *(Node *volatile *)&head;
            one->next = old;
        } while (atomicCAS((word *)&head, (word)old, (word)one) != (word)old);
    }
}

__global__ void sum(int *o) {
    int count = 0;
    for (o[0] = 0; head; count++) {
        Node *one = head;
        o[0] += one->value;
        head = one->next;
        delete one;
    }
    printf("kernel: %d nodes, sum %d\n", count, o[0]);
}

__global__ void hello() { printf("block %d thread %d\n", blockIdx.x, threadIdx.x); }

__global__ void fail(int n) {
    printf("before %d\n", n);
    assert(n == 0);
}

int main() {
    int *o;
    size_t bytes;
    cudaMallocManaged(&o, 4);
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    printf("host: heap of %zu\n", bytes);
    hello<<<2, 2>>>();
    printf("host: before its lines\n");
    cudaDeviceSynchronize();
    push<<<2, 3>>>(4);
    sum<<<1, 1>>>(o);
    cudaDeviceSynchronize();
    printf("host: %d\n", *o);
    fail<<<1, 1>>>(1);
    cudaError_t error = cudaDeviceSynchronize();
    printf("host: %d %s\n", error, cudaGetErrorString(error));
    return error == cudaErrorAssert ? 3 : 4;
}
