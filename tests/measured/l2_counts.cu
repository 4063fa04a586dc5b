// What ncu counts in the L2 and the DRAM: streams, words that many SMs read, stores.
//
//   nvcc 13.0: nvcc -std=c++17 -O3 -arch=sm_90 l2_counts.cu -o l2_counts; ./l2_counts lists the launches in order
//   ncu --clock-control none --cache-control none --csv --page raw --metrics ... ./l2_counts
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned int u32;
#define CHECK(call) do { cudaError_t e = (call); if (e) { fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); exit(1); } } while (0)

__device__ __forceinline__ u32 sm_id() { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
__device__ __forceinline__ uint4 load(const char *a) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(a) : "memory");
  return v;
}
// Each block has its own bytes; each warp reads 512 contiguous bytes at a time.
extern "C" __global__ void own(const char *data, u32 *sink, size_t bytes) {
  size_t each = bytes / gridDim.x;
  u32 sum = 0;
  for (size_t i = threadIdx.x * 16; i < each; i += blockDim.x * 16) sum += load(data + blockIdx.x * each + i).x;
  if (sum == 0x12345) sink[0] = sum;
}
// Blocks go through the same bytes, SM s after s * late cycles; SMs without a bit do nothing.
extern "C" __global__ void same(const char *data, u32 *sink, size_t bytes, int late, uint4 mask, u32 *counter, int rotate) {
  u32 s = sm_id(), sum = 0;
  u32 bits[5] = {mask.x, mask.y, mask.z, mask.w, s >= 128 ? mask.w >> 28 : 0};
  if (!(bits[s / 32] >> s % 32 & 1)) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1u);
    long long begin = clock64();
    while (clock64() - begin < 20000 + (long long)s * late);
  }
  __syncthreads();
  size_t from = rotate ? bytes / 132 / 2048 * 2048 * s : 0;
  for (size_t i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16) sum += load(data + (from + i) % bytes).x;
  if (sum == 0x12345) sink[0] = sum;
}
// Stores of V words by each lane, lanes `apart` bytes apart.
template <int V> __global__ void stores(char *data, size_t bytes, int apart) {
  size_t step = (size_t)gridDim.x * blockDim.x * apart;
  for (size_t i = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * apart; i < bytes; i += step) {
    if (V == 1) *(u32 *)(data + i) = i;
    if (V == 4) *(uint4 *)(data + i) = make_uint4(i, i, i, i);
  }
}
// Block (i, j) of a matrix product reads rows i of A and columns j of B, 64 rows of each, k by 16 at a time.
extern "C" __global__ void panels(const char *a, const char *b, u32 *sink, int n, int k) {
  u32 sum = 0;
  int i = blockIdx.y, j = blockIdx.x;
  for (int step = 0; step < k; step += 16) {
    int row = threadIdx.x / 4, part = threadIdx.x % 4;
    sum += load(a + ((size_t)(i * 64 + row) * k + step + part * 4) * 4).x;
    row = threadIdx.x / 16, part = threadIdx.x % 16;
    sum += load(b + ((size_t)(step + row) * n + j * 64 + part * 4) * 4).x;
    __syncthreads();
  }
  if (sum == 0x12345) sink[0] = sum;
}

static char *data, *other;
static u32 *sink;
static int number = 0;
static void say(const char *text) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  printf("%d,%s\n", number++, text);
}
static void shared_by(std::vector<int> sms, size_t bytes, int late, int rotate, const char *name) {
  u32 bits[5] = {};
  for (int s : sms) bits[s / 32] |= 1u << s % 32;
  uint4 mask = {bits[0], bits[1], bits[2], bits[3]};
  if (sms.size() == 132) mask.w |= 0xf0000000u; // the last four go with the highest bits
  same<<<132, 1024>>>(data, sink, bytes, late, mask, sink + 64, rotate);
  char text[200];
  snprintf(text, 200, "same %s sms=%zu bytes=%zu late=%d rotate=%d", name, sms.size(), bytes, late, rotate);
  say(text);
}

int main() {
  const size_t MB = 1 << 20;
  CHECK(cudaMalloc(&data, 256 * MB));
  CHECK(cudaMalloc(&other, 256 * MB));
  CHECK(cudaMalloc(&sink, 1 << 16));
  CHECK(cudaMemset(data, 1, 256 * MB));
  CHECK(cudaMemset(other, 1, 256 * MB));
  char text[200];
  for (int mb : {1, 8, 16, 20, 24, 28, 32, 40, 48, 64, 128})
    for (int again = 0; again < 3; again++) {
      own<<<256, 1024>>>(data, sink, mb * MB);
      snprintf(text, 200, "own mb=%d again=%d", mb, again);
      say(text);
    }
  own<<<1, 1024>>>(data, sink, MB);
  say("own-one-block mb=1");
  own<<<1, 1024>>>(data, sink, MB);
  say("own-one-block mb=1");
  std::vector<int> all;
  for (int s = 0; s < 132; s++) all.push_back(s);
  for (int mb : {1, 8, 16, 20, 24, 28, 32, 40, 48})
    for (int again = 0; again < 2; again++) shared_by(all, mb * MB, 0, 0, "all");
  for (int rotate : {0, 1})
    for (int late : {0, 1, 4, 16, 64, 256, 1024}) shared_by(all, 2 * MB, late, rotate, "all");
  for (int s = 1; s < 128; s++) shared_by({0, s}, MB, 0, 0, (std::string("pair 0 ") + std::to_string(s)).c_str());
  for (int k : {1, 2, 3, 4, 6, 8, 12, 16, 18, 24, 32, 64, 96, 128}) shared_by(std::vector<int>(all.begin(), all.begin() + k), MB, 0, 0, "first");
  for (int k : {2, 4, 8, 16, 32, 64}) {
    std::vector<int> some;
    for (int s = 0; s < 128; s += 128 / k) some.push_back(s);
    shared_by(some, MB, 0, 0, "spread");
  }
  for (int mb : {1, 8, 16, 24, 32, 48, 64, 128})
    for (int apart : {4, 16, 32, 64, 128}) {
      for (int again = 0; again < 2; again++) {
        if (apart == 16) stores<4><<<264, 1024>>>(data, mb * MB, apart);
        else stores<1><<<264, 1024>>>(data, mb * MB, apart);
        snprintf(text, 200, "stores mb=%d apart=%d words=%d again=%d", mb, apart, apart == 16 ? 4 : 1, again);
        say(text);
      }
    }
  for (int n : {512, 1024, 2048, 4096}) {
    panels<<<dim3(n / 64, n / 64), 256>>>(data, other, sink, n, 1024);
    snprintf(text, 200, "panels n=%d k=1024", n);
    say(text);
  }
  return 0;
}
