// Orders by price and sums what they cost up to each: a sort of pairs by Thrust, a scan by CUB.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

struct Cost {
  __host__ __device__ int operator()(int price, int pieces) const { return price * pieces; }
};

int main() {
  const int n = 3000;
  thrust::host_vector<int> prices(n), pieces(n);
  unsigned state = 7;
  for (int i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    prices[i] = state >> 22;
    pieces[i] = (state >> 12) % 9;
  }

  thrust::device_vector<int> keys = prices, values = pieces, costs(n), sums(n);
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  thrust::transform(keys.begin(), keys.end(), values.begin(), costs.begin(), Cost());

  size_t bytes = 0;
  int *in = thrust::raw_pointer_cast(costs.data()), *out = thrust::raw_pointer_cast(sums.data());
  cudaError_t error = cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
  thrust::device_vector<unsigned char> room(bytes);
  if (error == cudaSuccess) {
    error = cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(room.data()), bytes, in, out, n);
  }
  if (error != cudaSuccess) {
    std::fprintf(stderr, "scan: %s\n", cudaGetErrorString(error));
    return 1;
  }

  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return prices[a] < prices[b]; });
  thrust::host_vector<int> found_keys = keys, found_values = values, found = sums;
  int wrong = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    sum += prices[order[i]] * pieces[order[i]];
    wrong += found_keys[i] != prices[order[i]] || found_values[i] != pieces[order[i]] || found[i] != sum;
  }
  std::printf("%d orders cost %d: %d wrong\n%s\n", n, sum, wrong, wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
