// y = a x + y from main() on: memory of the card, copies, four launches timed by events, and a check.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    cudaError_t error = (call);                                                                   \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int count, char **words) {
  int n = count > 1 ? std::atoi(words[1]) : 100000, launches = 4;
  std::vector<float> x(n), y(n, 1.0f);
  for (int i = 0; i < n; i++) x[i] = i % 100;

  float *on_card_x, *on_card_y;
  CHECK(cudaMalloc(&on_card_x, n * sizeof(float)));
  CHECK(cudaMalloc(&on_card_y, n * sizeof(float)));
  CHECK(cudaMemcpy(on_card_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_card_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  for (int launch = 0; launch < launches; launch++) {
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, on_card_x, on_card_y);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

  CHECK(cudaMemcpy(y.data(), on_card_y, n * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += y[i] != 1.0f + launches * 2.0f * x[i];
  std::printf("%d launches of %d elements in %.4f ms: %d wrong\n", launches, n, milliseconds, wrong);
  std::printf("%s\n", wrong ? "FAILED" : "PASSED");
  CHECK(cudaFree(on_card_x));
  CHECK(cudaFree(on_card_y));
  return wrong != 0;
}
