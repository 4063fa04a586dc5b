// Sparse products that sm_90 has not: ptxas makes others of them (nvcc 13.0, -arch=sm_90a -cubin). A thread's words of
// A, B and C, four each, and the word that says which numbers A has.
typedef unsigned u32;
#define CASE(NAME, T, C, OF, A, B, SELECTOR)                                                                            \
  extern "C" __global__ void NAME(const u32 *in, T *out) {                                                              \
    const u32 *w = in + 13 * threadIdx.x;                                                                               \
    T *d = out + 4 * threadIdx.x;                                                                                       \
    for (int i = 0; i < 4; i++) d[i] = *(const T *)(w + 8 + i);                                                         \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." OF " {%0,%1,%2,%3}, {" A "}, {" B "}, {%0,%1,%2,%3}, %12, " SELECTOR ";" \
        : C(d[0]), C(d[1]), C(d[2]), C(d[3]) : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]), "r"(w[6]), \
          "r"(w[7]), "r"(w[12]));                                                                                       \
  }
CASE(e4m3_e5m2, float, "+f", "m16n8k64.row.col.f32.e4m3.e5m2.f32", "%4,%5,%6,%7", "%8,%9,%10,%11", "0")
CASE(s4_u4, int, "+r", "m16n8k64.row.col.s32.s4.u4.s32", "%4,%5", "%8,%9", "1")
CASE(u4_s4, int, "+r", "m16n8k128.row.col.s32.u4.s4.s32", "%4,%5,%6,%7", "%8,%9,%10,%11", "0")
