// What the four matrix products have in common: a block's tile of C = A B^T, and the instructions as functions.
#pragma once
#include <cuda_fp16.h>
#include <cstdint>

constexpr int TILE = 128, DEPTH = 64, ROW = 2 * DEPTH; // 128 x 128 numbers of C, by 64 halves of K: 128 bytes a row
constexpr int THREADS = 256;

__device__ uint32_t place(const void *at) { return __cvta_generic_to_shared(at); }

// Where 16 bytes of a tile lie: the eight chunks of a row change places by its number, so that banks differ.
__device__ int swizzled(int row, int chunk) { return row * ROW + (chunk ^ row % 8) * 16; }

__device__ void ldmatrix(uint32_t (&to)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(row));
}

__device__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp's 64 x 32 numbers: eight warps in two rows of four.
struct Sums {
  float of[4][4][4] = {};
  int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32, lane = threadIdx.x % 32;

  __device__ void multiply(const char *a, const char *b) {
#pragma unroll
    for (int k = 0; k < DEPTH / 16; k++) {
      uint32_t left[4][4], right[2][4];
#pragma unroll
      for (int i = 0; i < 4; i++) ldmatrix(left[i], place(a + swizzled(row + i * 16 + lane % 16, 2 * k + lane / 16)));
#pragma unroll
      for (int j = 0; j < 2; j++)
        ldmatrix(right[j], place(b + swizzled(column + j * 16 + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2)));
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(of[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
    }
  }

  __device__ void store(float *c, int n) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float *at = &c[(row + i * 16 + lane / 4) * n + column + j * 8 + lane % 4 * 2];
        *(float2 *)at = make_float2(of[i][j][0], of[i][j][1]);
        *(float2 *)(at + 8 * n) = make_float2(of[i][j][2], of[i][j][3]);
      }
  }
};

#define PART(i)                                                                                                        \
  "+f"(of[i]), "+f"(of[i + 1]), "+f"(of[i + 2]), "+f"(of[i + 3]), "+f"(of[i + 4]), "+f"(of[i + 5]), "+f"(of[i + 6]),   \
      "+f"(of[i + 7])

// A warpgroup's 64 x 128 numbers: two warpgroups.
struct GroupSums {
  float of[64] = {};

  __device__ static uint64_t descriptor(uint32_t tile) { // 1,024 bytes from eight rows to the next, 128-byte swizzle
    return (tile & 0x3FFFF) >> 4 | uint64_t(8 * ROW >> 4) << 32 | uint64_t(1) << 62;
  }

  __device__ void begin(const char *a, const char *b) { // the group of a tile's four steps goes on by itself
    uint64_t left = descriptor(place(a + threadIdx.x / 128 * 64 * ROW)), right = descriptor(place(b));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH / 16; k++) step(left + 2 * k, right + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }

  __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

  __device__ void store(float *c, int n) {
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
      float *at = &c[row * n + column + j * 8];
      *(float2 *)at = make_float2(of[4 * j], of[4 * j + 1]);
      *(float2 *)(at + 8 * n) = make_float2(of[4 * j + 2], of[4 * j + 3]);
    }
  }

  __device__ void step(uint64_t a, uint64_t b) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
        "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
        "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : PART(0), PART(8), PART(16), PART(24), PART(32), PART(40), PART(48), PART(56)
        : "l"(a), "l"(b));
#endif
  }
};
