// C = A B^T of bytes, summed in 32 bits by mma.sync: a warp has 16 x 8 numbers of C.
#include <cstdint>

__device__ void multiply(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void product(const int8_t *a, const int8_t *b, int *c, int n, int depth) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, y = blockIdx.y * 16, x = (blockIdx.x * 4 + warp) * 8;
  const int8_t *of_a = a + (y + lane / 4) * depth + lane % 4 * 4, *of_b = b + (x + lane / 4) * depth + lane % 4 * 4;
  auto four = [](const int8_t *at) { return *(const unsigned *)at; };
  int sums[4] = {};
  for (int k = 0; k < depth; k += 32) {
    unsigned part[4] = {four(of_a + k), four(of_a + 8 * depth + k), four(of_a + k + 16), four(of_a + 8 * depth + k + 16)};
    unsigned other[2] = {four(of_b + k), four(of_b + k + 16)};
    multiply(sums, part, other);
  }
  int *at = &c[(y + lane / 4) * n + x + lane % 4 * 2];
  *(int2 *)at = make_int2(sums[0], sums[1]);
  *(int2 *)(at + 8 * n) = make_int2(sums[2], sums[3]);
}
