// Half a layer of a transformer: normalised rows, then causal attention, a warp for each query of each head.
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

constexpr int TOKENS = 64, HEADS = 4, SIZE = 32, WIDTH = HEADS * SIZE, ROW = 3 * WIDTH, WARPS = 4;

template <class How> __device__ float of_warp(float value, How how) {
  for (int mask = 16; mask > 0; mask /= 2) value = how(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}
__device__ float sum(float value) { return of_warp(value, [](float a, float b) { return a + b; }); }
__device__ float most(float value) { return of_warp(value, [](float a, float b) { return fmaxf(a, b); }); }

__global__ void normalise(const float *in, float *out) {  // each row to mean 0 and variance 1
  int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
  float total = 0, squares = 0;
  for (int c = lane; c < ROW; c += 32) total += in[row * ROW + c];
  float mean = sum(total) / ROW;
  for (int c = lane; c < ROW; c += 32) squares += (in[row * ROW + c] - mean) * (in[row * ROW + c] - mean);
  float scale = rsqrtf(sum(squares) / ROW + 1e-5f);
  for (int c = lane; c < ROW; c += 32) out[row * ROW + c] = (in[row * ROW + c] - mean) * scale;
}

__global__ void attend(const float *qkv, float *out) {  // rows have queries, keys, values
  __shared__ float weights[WARPS][TOKENS];
  int t = blockIdx.x * WARPS + threadIdx.y, head = blockIdx.y, lane = threadIdx.x;
  float *own = weights[threadIdx.y], top = -INFINITY, total = 0, value = 0;
  const float *query = qkv + t * ROW + head * SIZE, *keys = qkv + WIDTH + head * SIZE, *values = keys + WIDTH;
  for (int u = lane; u <= t; u += 32) {
    float dot = 0;
    for (int c = 0; c < SIZE; c++) dot += query[c] * keys[u * ROW + c];
    own[u] = dot * rsqrtf(SIZE);
    top = fmaxf(top, own[u]);
  }
  top = most(top);
  for (int u = lane; u <= t; u += 32) total += own[u] = __expf(own[u] - top);
  total = sum(total);
  __syncwarp();
  for (int u = 0; u <= t; u++) value += own[u] * values[u * ROW + lane];
  out[t * WIDTH + head * SIZE + lane] = value / total;
}

std::vector<double> expected(const std::vector<float> &in) {
  std::vector<double> rows(in.begin(), in.end()), out(TOKENS * WIDTH);
  for (int t = 0; t < TOKENS; t++) {
    double mean = 0, squares = 0;
    for (int c = 0; c < ROW; c++) mean += rows[t * ROW + c] / ROW;
    for (int c = 0; c < ROW; c++) squares += std::pow(rows[t * ROW + c] - mean, 2) / ROW;
    for (int c = 0; c < ROW; c++) rows[t * ROW + c] = (rows[t * ROW + c] - mean) / std::sqrt(squares + 1e-5);
  }
  for (int t = 0; t < TOKENS; t++) {
    for (int first = 0; first < WIDTH; first += SIZE) {
      double total = 0;
      for (int u = 0; u <= t; u++) {
        double dot = 0;
        for (int c = first; c < first + SIZE; c++) dot += rows[t * ROW + c] * rows[u * ROW + WIDTH + c];
        double weight = std::exp(dot / std::sqrt(SIZE));
        total += weight;
        for (int c = first; c < first + SIZE; c++) out[t * WIDTH + c] += weight * rows[u * ROW + 2 * WIDTH + c];
      }
      for (int c = first; c < first + SIZE; c++) out[t * WIDTH + c] /= total;
    }
  }
  return out;
}

int main() {
  std::vector<float> in(TOKENS * ROW), out(TOKENS * WIDTH);
  for (size_t i = 0; i < in.size(); i++) in[i] = std::sin(0.37f * i) + 0.5f;
  float *rows, *normal, *mixed;
  CHECK(cudaMalloc(&rows, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&normal, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&mixed, out.size() * sizeof(float)));
  CHECK(cudaMemcpy(rows, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  normalise<<<TOKENS / WARPS, dim3(32, WARPS)>>>(rows, normal);
  attend<<<dim3(TOKENS / WARPS, HEADS), dim3(32, WARPS)>>>(normal, mixed);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), mixed, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  std::vector<double> right = expected(in);
  double worst = 0;
  for (size_t i = 0; i < out.size(); i++) worst = std::fmax(worst, std::fabs(out[i] - right[i]));
  bool passed = worst < 1e-4;
  std::printf("%d tokens, %d heads: %s\n%s\n", TOKENS, HEADS, passed ? "alike" : "not alike", passed ? "PASSED" : "FAILED");
  for (float *one : {rows, normal, mixed}) CHECK(cudaFree(one));
  return !passed;
}
