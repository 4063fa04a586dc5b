// Conjugate gradients in one launch: the blocks of a cooperative grid wait for each other after each sum.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

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

namespace cg = cooperative_groups;
constexpr int SIDE = 32, N = SIDE * SIDE, BLOCK = 128, MOST = 200;

// A v at i, for the five-point operator on a square whose border is zero.
__host__ __device__ double applied(const double *v, int i) {
  int x = i % SIDE, y = i / SIDE;
  double sum = 4 * v[i];
  if (x > 0) sum -= v[i - 1];
  if (x < SIDE - 1) sum -= v[i + 1];
  if (y > 0) sum -= v[i - SIDE];
  if (y < SIDE - 1) sum -= v[i + SIDE];
  return sum;
}

__device__ void add_up(double part, double *total) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  part = cg::reduce(warp, part, cg::plus<double>());
  if (warp.thread_rank() == 0) atomicAdd(total, part);
}

// x of A x = b from x = 0. `dots` has three numbers for each step, all zero: r.r, p.Ap, and r.r of the next.
__global__ void solve(double *x, double *r, double *p, double *dots, int *steps, double enough) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  add_up(r[i] * r[i], &dots[0]);
  grid.sync();
  int step = 0;
  while (step < MOST && dots[2 * step] > enough) {
    double rr = dots[2 * step], ap = applied(p, i);
    add_up(p[i] * ap, &dots[2 * step + 1]);
    grid.sync();
    double alpha = rr / dots[2 * step + 1];
    x[i] += alpha * p[i];
    r[i] -= alpha * ap;
    add_up(r[i] * r[i], &dots[2 * step + 2]);
    grid.sync();
    p[i] = r[i] + dots[2 * step + 2] / rr * p[i];
    grid.sync();
    step++;
  }
  if (i == 0) *steps = step;
}

int main() {
  std::vector<double> b(N), x(N);
  for (int i = 0; i < N; i++) b[i] = i % 13 - 6;
  double *dx, *dr, *dp, *dots, enough = 1e-16;
  int *steps;
  CHECK(cudaMalloc(&dx, N * sizeof(double)));
  CHECK(cudaMalloc(&dr, N * sizeof(double)));
  CHECK(cudaMalloc(&dp, N * sizeof(double)));
  CHECK(cudaMalloc(&dots, (2 * MOST + 1) * sizeof(double)));
  CHECK(cudaMallocManaged(&steps, sizeof(int)));
  CHECK(cudaMemset(dx, 0, N * sizeof(double)));
  CHECK(cudaMemset(dots, 0, (2 * MOST + 1) * sizeof(double)));
  CHECK(cudaMemcpy(dr, b.data(), N * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dp, b.data(), N * sizeof(double), cudaMemcpyHostToDevice));

  void *arguments[] = {&dx, &dr, &dp, &dots, &steps, &enough};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(solve), N / BLOCK, BLOCK, arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(x.data(), dx, N * sizeof(double), cudaMemcpyDeviceToHost));

  double worst = 0;
  for (int i = 0; i < N; i++) worst = std::fmax(worst, std::fabs(applied(x.data(), i) - b[i]));
  bool passed = *steps > 0 && *steps < MOST && worst < 1e-7;
  std::printf("%s after %d steps\n%s\n", worst < 1e-7 ? "solved" : "not solved", *steps, passed ? "PASSED" : "FAILED");
  for (double *one : {dx, dr, dp, dots}) CHECK(cudaFree(one));
  CHECK(cudaFree(steps));
  return !passed;
}
