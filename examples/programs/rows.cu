// The same as columns.cu, with the second kernel as the first: neighbouring threads have neighbouring pixels.
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

__global__ void levels(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x] * 0.5f + 16.0f;
}

__global__ void contrast(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = (in[y * width + x] - 64.0f) * 2.0f + 64.0f;
}

int main() {
  const int width = 1024, height = 512;
  const size_t pixels = width * height, bytes = pixels * sizeof(float);
  std::vector<float> picture(pixels), found(pixels);
  for (size_t i = 0; i < pixels; i++) picture[i] = i % 251;

  float *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemcpy(a, picture.data(), bytes, cudaMemcpyHostToDevice));
  dim3 block(32, 8);
  levels<<<dim3(width / 32, height / 8), block>>>(a, b, width, height);
  contrast<<<dim3(width / 32, height / 8), block>>>(b, a, width, height);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), a, bytes, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (size_t i = 0; i < pixels; i++) wrong += found[i] != (picture[i] * 0.5f + 16.0f - 64.0f) * 2.0f + 64.0f;
  std::printf("%d x %d: %d wrong\n%s\n", width, height, wrong, wrong ? "FAILED" : "PASSED");
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return wrong != 0;
}
