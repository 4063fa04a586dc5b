// A filter of three small kernels in two branches, captured from streams into a graph, which is then replayed.
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

constexpr int N = 4096, REPLAYS = 25, BLOCK = 128, GRID = N / BLOCK;

__global__ void scale(const int *in, int *out, int factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * factor;
}

__global__ void rotate(const int *in, int *out, int places) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(i + places) % N];
}

__global__ void add(const int *a, const int *b, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = (a[i] + b[i]) & 0xffff;
}

int main() {
  std::vector<int> expected(N), next(N), found(N);
  for (int i = 0; i < N; i++) expected[i] = i * 37 & 0xffff;
  int *state, *scaled, *rotated;
  for (int **buffer : {&state, &scaled, &rotated}) CHECK(cudaMalloc(buffer, N * sizeof(int)));
  CHECK(cudaMemcpy(state, expected.data(), N * sizeof(int), cudaMemcpyHostToDevice));

  cudaStream_t stream, branch;
  cudaEvent_t forked, joined;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&branch));
  CHECK(cudaEventCreate(&forked));
  CHECK(cudaEventCreate(&joined));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(forked, stream));
  CHECK(cudaStreamWaitEvent(branch, forked, 0));
  scale<<<GRID, BLOCK, 0, stream>>>(state, scaled, 3);
  rotate<<<GRID, BLOCK, 0, branch>>>(state, rotated, 5);
  CHECK(cudaEventRecord(joined, branch));
  CHECK(cudaStreamWaitEvent(stream, joined, 0));
  add<<<GRID, BLOCK, 0, stream>>>(scaled, rotated, state);
  CHECK(cudaStreamEndCapture(stream, &graph));

  size_t nodes;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int replay = 0; replay < REPLAYS; replay++) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(found.data(), state, N * sizeof(int), cudaMemcpyDeviceToHost));

  for (int replay = 0; replay < REPLAYS; replay++) {
    for (int i = 0; i < N; i++) next[i] = (3 * expected[i] + expected[(i + 5) % N]) & 0xffff;
    expected.swap(next);
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += found[i] != expected[i];
  bool passed = wrong == 0 && nodes == 3;
  std::printf("%zu nodes replayed %d times: %d wrong\n%s\n", nodes, REPLAYS, wrong, passed ? "PASSED" : "FAILED");
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  for (int *buffer : {state, scaled, rotated}) CHECK(cudaFree(buffer));
  return !passed;
}
