// C = A B in double precision on tensor cores: a warp has 16 x 8 numbers of C.
__device__ void multiply(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                 "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

extern "C" __global__ void product(const double *a, const double *b, double *c, int n, int depth) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  int y = blockIdx.y * 16, x = (blockIdx.x * 4 + warp) * 8;
  double sums[4] = {};
  for (int k = 0; k < depth; k += 16) {
    double of_a[8], of_b[4];
    for (int i = 0; i < 8; i++) of_a[i] = a[(y + group + i % 2 * 8) * depth + k + place + i / 2 * 4];
    for (int i = 0; i < 4; i++) of_b[i] = b[(k + place + i * 4) * n + x + group];
    multiply(sums, of_a, of_b);
  }
  double *at = &c[(y + group) * n + x + place * 2];
  *(double2 *)at = make_double2(sums[0], sums[1]);
  *(double2 *)(at + 8 * n) = make_double2(sums[2], sums[3]);
}
