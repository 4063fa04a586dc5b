// C = A B by PTX's mma.sync, whose fragments ldmatrix brings from shared memory; B is transposed on the way.
#include <cuda_fp16.h>

constexpr int M = 64, N = 64, K = 32; // a block's tile of C, and how deep tiles of A and B are

__device__ unsigned place(const half *at) { return __cvta_generic_to_shared(at); }

__device__ void load_a(unsigned (&to)[4], const half *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place(row)));
}

__device__ void load_b(unsigned (&to)[2], const half *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1]) : "r"(place(row)));
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void product(const half *a, const half *b, float *c, int n, int depth) {
  __shared__ __align__(16) half as[M][K + 8], bs[K][N + 8]; // 16 bytes more, so that rows begin in different banks
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, y = blockIdx.y * M, x = blockIdx.x * N;
  float sums[N / 8][4] = {};
  for (int k = 0; k < depth; k += K) {
    for (int i = threadIdx.x; i < M * K / 8; i += blockDim.x)
      *(uint4 *)&as[i / 4][i % 4 * 8] = *(const uint4 *)&a[(y + i / 4) * depth + k + i % 4 * 8];
    for (int i = threadIdx.x; i < K * N / 8; i += blockDim.x)
      *(uint4 *)&bs[i / 8][i % 8 * 8] = *(const uint4 *)&b[(k + i / 8) * n + x + i % 8 * 8];
    __syncthreads();
    for (int i = 0; i < K; i += 16) {
      unsigned of_a[4], of_b[2];
      load_a(of_a, &as[warp * 16 + lane % 16][i + lane / 16 * 8]);
      for (int j = 0; j < N / 8; j++) {
        load_b(of_b, &bs[i + lane % 16][j * 8]);
        multiply(sums[j], of_a, of_b);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < N / 8; j++) {
    float *at = &c[(y + warp * 16 + lane / 4) * n + x + j * 8 + lane % 4 * 2];
    *(float2 *)at = make_float2(sums[j][0], sums[j][1]);
    *(float2 *)(at + 8 * n) = make_float2(sums[j][2], sums[j][3]);
  }
}
