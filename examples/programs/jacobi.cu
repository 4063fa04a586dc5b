// Heat in a plate: steps with two buffers in one stream, while another stream copies every eighth field to the host.
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    cudaError_t error = (call);                                                                   \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

constexpr int SIDE = 96, STEPS = 32, EVERY = 8;

__host__ __device__ float mean(const float *field, int i) {
  return 0.25f * ((field[i - 1] + field[i + 1]) + (field[i - SIDE] + field[i + SIDE]));
}

__global__ void step(const float *from, float *to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * SIDE + x;
  if (x > 0 && y > 0 && x < SIDE - 1 && y < SIDE - 1) to[i] = mean(from, i);
}

int main() {
  const size_t cells = SIDE * SIDE, bytes = cells * sizeof(float);
  std::vector<float> now(cells, 0.0f), next;
  for (int x = 0; x < SIDE; x++) now[x] = 100.0f;  // the upper edge is hot
  next = now;

  float *from, *to, *kept, *pictures;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMalloc(&kept, bytes));
  CHECK(cudaMallocHost(&pictures, STEPS / EVERY * bytes));
  CHECK(cudaMemcpy(from, now.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));

  cudaStream_t steps, copies;
  cudaEvent_t ready, taken;
  CHECK(cudaStreamCreateWithFlags(&steps, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&taken, cudaEventDisableTiming));
  dim3 block(32, 8), grid(SIDE / 32, SIDE / 8);
  for (int i = 1; i <= STEPS; i++) {
    step<<<grid, block, 0, steps>>>(from, to);
    CHECK(cudaGetLastError());
    std::swap(from, to);
    if (i % EVERY) continue;
    CHECK(cudaStreamWaitEvent(steps, taken, 0));  // the last picture has left
    CHECK(cudaMemcpyAsync(kept, from, bytes, cudaMemcpyDeviceToDevice, steps));
    CHECK(cudaEventRecord(ready, steps));
    CHECK(cudaStreamWaitEvent(copies, ready, 0));
    CHECK(cudaMemcpyAsync(pictures + (i / EVERY - 1) * cells, kept, bytes, cudaMemcpyDeviceToHost, copies));
    CHECK(cudaEventRecord(taken, copies));
  }
  CHECK(cudaStreamSynchronize(copies));

  int wrong = 0;
  for (int i = 1; i <= STEPS; i++) {
    for (int y = 1; y < SIDE - 1; y++) {
      for (int x = 1; x < SIDE - 1; x++) next[y * SIDE + x] = mean(now.data(), y * SIDE + x);
    }
    std::swap(now, next);
    for (size_t cell = 0; i % EVERY == 0 && cell < cells; cell++) {
      wrong += pictures[(i / EVERY - 1) * cells + cell] != now[cell];
    }
  }
  std::printf("%d steps, %d pictures: %d wrong\n%s\n", STEPS, STEPS / EVERY, wrong, wrong ? "FAILED" : "PASSED");
  CHECK(cudaDeviceSynchronize());
  for (float *one : {from, to, kept}) CHECK(cudaFree(one));
  CHECK(cudaFreeHost(pictures));
  CHECK(cudaStreamDestroy(steps));
  CHECK(cudaStreamDestroy(copies));
  return wrong != 0;
}
