// C = A B by tiles in shared memory, of matrices whose sizes are no multiple of a tile and whose rows are pitched.
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

constexpr int TILE = 16;

struct Matrix {
  float *data;
  size_t pitch;  // bytes from row to row
  int rows, columns;

  __device__ float *row(int i) const { return reinterpret_cast<float *>(reinterpret_cast<char *>(data) + i * pitch); }
  __device__ float at(int i, int j) const { return i < rows && j < columns ? row(i)[j] : 0; }
};

__global__ void product(Matrix a, Matrix b, Matrix c) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (int k = 0; k < a.columns; k += TILE) {
    as[y][x] = a.at(row, k + x);
    bs[y][x] = b.at(k + y, column);
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  if (row < c.rows && column < c.columns) c.row(row)[column] = sum;
}

Matrix on_card(int rows, int columns) {
  Matrix made{nullptr, 0, rows, columns};
  CHECK(cudaMallocPitch(&made.data, &made.pitch, columns * sizeof(float), rows));
  return made;
}

void send(const Matrix &to, const std::vector<float> &from) {
  size_t width = to.columns * sizeof(float);
  CHECK(cudaMemcpy2D(to.data, to.pitch, from.data(), width, width, to.rows, cudaMemcpyHostToDevice));
}

int main() {
  const int m = 100, n = 90, depth = 70;
  std::vector<float> a(m * depth), b(depth * n), c(m * n, -1.0f);
  for (int i = 0; i < m * depth; i++) a[i] = i % 7 - 3;
  for (int i = 0; i < depth * n; i++) b[i] = i % 5 - 2;

  Matrix da = on_card(m, depth), db = on_card(depth, n), dc = on_card(m, n);
  send(da, a);
  send(db, b);
  dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), block(TILE, TILE);
  product<<<grid, block>>>(da, db, dc);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(c.data(), n * sizeof(float), dc.data, dc.pitch, n * sizeof(float), m, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;  // of whole numbers: exact in any order
      for (int k = 0; k < depth; k++) sum += a[i * depth + k] * b[k * n + j];
      wrong += c[i * n + j] != sum;
    }
  }
  std::printf("%d x %d by %d x %d: %d wrong\n%s\n", m, depth, depth, n, wrong, wrong ? "FAILED" : "PASSED");
  for (Matrix one : {da, db, dc}) CHECK(cudaFree(one.data));
  return wrong != 0;
}
