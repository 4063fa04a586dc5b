// A cluster of four blocks scales a row to the sum 1: each adds up its quarter, and reads the others' sums (DSMEM).
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 4, THREADS = 256;

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS)
scaled(const float *x, float *y, int quarter) {
  __shared__ float parts[THREADS / 32], sum;
  cg::cluster_group cluster = cg::this_cluster();
  const float *from = x + blockIdx.x * quarter;
  float own = 0;
  for (int i = threadIdx.x; i < quarter; i += THREADS)
    own += from[i];
  for (int away = 16; away; away /= 2)
    own += __shfl_down_sync(~0u, own, away);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (float part : parts)
      sum += part;
  }
  cluster.sync(); // all four sums are there
  float all = 0;
  for (int rank = 0; rank < BLOCKS; rank++)
    all += *cluster.map_shared_rank(&sum, rank);
  cluster.sync(); // nobody leaves before the others have read
  for (int i = threadIdx.x; i < quarter; i += THREADS)
    y[blockIdx.x * quarter + i] = from[i] / all;
}
