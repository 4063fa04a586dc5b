// Loads and stores of 256 bits, from sm_100 on: each thread turns its eight words round, and moves eight more.
// nvcc -cubin -arch=sm_120
typedef unsigned u32;
#define EIGHT(OF, C) OF(0, C), OF(1, C), OF(2, C), OF(3, C), OF(4, C), OF(5, C), OF(6, C), OF(7, C)
#define GIVES(I, C) C(word[I])
#define TURNED(I, C) C(word[7 - I])
extern "C" __global__ void eight(const u32* in, u32* out) {
  u32 word[8]; const int at = 8 * threadIdx.x;
  asm volatile("ld.global.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : EIGHT(GIVES, "=r") : "l"(in + at));
  asm volatile("st.global.v8.b32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" :: EIGHT(TURNED, "r"), "l"(out + at) : "memory");
  asm volatile("ld.global.L1::evict_last.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : EIGHT(GIVES, "=r") : "l"(in + 256 + at));
  asm volatile("st.global.v8.b32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" :: EIGHT(GIVES, "r"), "l"(out + 256 + at) : "memory");
  if (threadIdx.x == 0) {
    const u32 zero = 0;
    asm volatile("st.global.v8.b32 [%0], {%1,%1,%1,%1,%2,%3,%4,%5};" :: "l"(out + 512), "r"(zero), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
    asm volatile("st.global.v8.b32 [%0], {%2,%3,%4,%5,%1,%1,%1,%1};" :: "l"(out + 520), "r"(zero), "r"(word[4]), "r"(word[5]), "r"(word[6]), "r"(word[7]) : "memory");
  }
}
