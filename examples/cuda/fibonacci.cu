// Each thread computes a Fibonacci number by recursion: calls, returns and a stack, and lanes that differ in depth.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void fibonaccis(int *numbers) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  numbers[i] = fibonacci(i % 8);
}
