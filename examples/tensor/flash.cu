// Attention by blocks of keys: softmax(Q K^T / 8) V of one head of 64 numbers; 16 queries to a warp, 64 to a block.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int KEYS = 64, DEPTH = 64, ROW = DEPTH + 8;
constexpr float SCALE = 0.125f * 1.44269504f; // 1 / sqrt(DEPTH), for powers of 2
struct Stage { half k[KEYS][ROW], v[KEYS][ROW]; };

__device__ unsigned place(const half *at) { return __cvta_generic_to_shared(at); }

__device__ void load(unsigned (&to)[4], const half *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place(row)));
}

__device__ void load_transposed(unsigned (&to)[4], const half *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place(row)));
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned halves(float low, float high) {
  half2 both = __floats2half2_rn(low, high);
  return *(unsigned *)&both;
}

__device__ float over_row(float x, bool largest) { // of the four lanes that have a row
  for (int i = 1; i < 4; i *= 2) {
    float other = __shfl_xor_sync(~0u, x, i);
    x = largest ? fmaxf(x, other) : x + other;
  }
  return x;
}

extern "C" __global__ void __launch_bounds__(128)
attention(const half *q, const half *k, const half *v, float *o, int keys) {
  __shared__ __align__(16) Stage stages[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 64 + warp * 16 + lane / 4;
  auto copy = [&](int key) {
    Stage &to = stages[key / KEYS % 2];
    for (int i = threadIdx.x; i < KEYS * 8; i += blockDim.x) {
      __pipeline_memcpy_async(&to.k[i / 8][i % 8 * 8], &k[(key + i / 8) * DEPTH + i % 8 * 8], 16);
      __pipeline_memcpy_async(&to.v[i / 8][i % 8 * 8], &v[(key + i / 8) * DEPTH + i % 8 * 8], 16);
    }
    __pipeline_commit();
  };
  copy(0);
  unsigned of_q[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      of_q[i][j] = *(const unsigned *)&q[(row + j % 2 * 8) * DEPTH + i * 16 + j / 2 * 8 + lane % 4 * 2];
  float out[8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};
  for (int key = 0; key < keys; key += KEYS) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (key + KEYS < keys) copy(key + KEYS);
    Stage &from = stages[key / KEYS % 2];
    float s[8][4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned of_k[4];
        load(of_k, &from.k[j * 8 + lane % 8 + lane / 16 * 8][i * 16 + lane / 8 % 2 * 8]);
        multiply(s[j], of_q[i], of_k[0], of_k[1]);
        multiply(s[j + 1], of_q[i], of_k[2], of_k[3]);
      }
    float scaled[2];
#pragma unroll
    for (int r = 0; r < 2; r++) { // the two rows of a lane: the largest so far, and what that makes of earlier sums
      float now = most[r];
      for (int j = 0; j < 8; j++) now = fmaxf(now, fmaxf(s[j][2 * r], s[j][2 * r + 1]) * SCALE);
      now = over_row(now, true);
      scaled[r] = exp2f(most[r] - now);
      most[r] = now;
      sum[r] *= scaled[r];
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        s[j][i] = exp2f(s[j][i] * SCALE - most[i / 2]);
        sum[i / 2] += s[j][i];
        out[j][i] *= scaled[i / 2];
      }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      unsigned p[4] = {halves(s[2 * i][0], s[2 * i][1]), halves(s[2 * i][2], s[2 * i][3]),
                       halves(s[2 * i + 1][0], s[2 * i + 1][1]), halves(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned of_v[4];
        load_transposed(of_v, &from.v[i * 16 + lane % 16][j * 8 + lane / 16 * 8]);
        multiply(out[j], p, of_v[0], of_v[1]);
        multiply(out[j + 1], p, of_v[2], of_v[3]);
      }
    }
  }
  for (int r = 0; r < 2; r++) {
    float all = over_row(sum[r], false);
    for (int j = 0; j < 8; j++)
      *(float2 *)&o[(row + 8 * r) * DEPTH + j * 8 + lane % 4 * 2] =
          make_float2(out[j][2 * r] / all, out[j][2 * r + 1] / all);
  }
}
