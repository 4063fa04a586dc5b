// A picture at twice its size, then blurred: a texture in a CUDA array, sampled between its points and past its edge.
#include <algorithm>
#include <cmath>
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

constexpr int WIDTH = 48, HEIGHT = 40;

__global__ void enlarge(cudaTextureObject_t picture, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 2 * WIDTH || y >= 2 * HEIGHT) return;
  float sum = 0;  // of a cross of five samples
  for (int k = -2; k <= 2; k++) sum += tex2D<float>(picture, (x + k) * 0.5f + 0.25f, y * 0.5f + 0.25f);
  for (int k = -2; k <= 2; k++) sum += tex2D<float>(picture, x * 0.5f + 0.25f, (y + k) * 0.5f + 0.25f);
  out[y * 2 * WIDTH + x] = sum / 10;
}

float sample(const std::vector<float> &picture, float x, float y) {
  auto at = [&](int i, int j) {
    return picture[std::clamp(j, 0, HEIGHT - 1) * WIDTH + std::clamp(i, 0, WIDTH - 1)];
  };
  int i = std::floor(x - 0.5f), j = std::floor(y - 0.5f);
  float a = x - 0.5f - i, b = y - 0.5f - j;
  return (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1));
}

int main() {
  std::vector<float> picture(WIDTH * HEIGHT), out(4 * WIDTH * HEIGHT);
  for (int i = 0; i < WIDTH * HEIGHT; i++) picture[i] = (i % WIDTH * 5 ^ i / WIDTH * 3) % 64;

  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const size_t row = WIDTH * sizeof(float);
  CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), row, row, HEIGHT, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

  float *on_card;
  CHECK(cudaMalloc(&on_card, out.size() * sizeof(float)));
  dim3 block(16, 8), grid((2 * WIDTH + 15) / 16, (2 * HEIGHT + 7) / 8);
  enlarge<<<grid, block>>>(texture, on_card);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), on_card, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  double worst = 0;
  for (int y = 0; y < 2 * HEIGHT; y++) {
    for (int x = 0; x < 2 * WIDTH; x++) {
      float sum = 0, u = x * 0.5f + 0.25f, v = y * 0.5f + 0.25f;
      for (int k = -2; k <= 2; k++) sum += sample(picture, u + k * 0.5f, v) + sample(picture, u, v + k * 0.5f);
      worst = std::max(worst, std::fabs(double(sum / 10) - out[y * 2 * WIDTH + x]));
    }
  }
  bool passed = worst < 1e-3;
  std::printf("%d x %d: worst difference %.0e\n%s\n", 2 * WIDTH, 2 * HEIGHT, worst, passed ? "PASSED" : "FAILED");
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(on_card));
  return !passed;
}
