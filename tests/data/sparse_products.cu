// One sparse product of a warpgroup per case: descriptors of A and B, whether C counts, and each thread's word of the
// places of A's numbers, over 64 KiB of shared memory.
// nvcc -cubin -std=c++17 -gencode arch=compute_90a,code=sm_90a
typedef unsigned long long u64; typedef unsigned u32;
#define D "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define RESULTS(C) C(d[0]), C(d[1]), C(d[2]), C(d[3]), C(d[4]), C(d[5]), C(d[6]), C(d[7])
#define FLOAT(X) "+f"(X)
#define WORD(X) "+r"(X)
#define KERNEL(NAME, T, OPERANDS) \
extern "C" __global__ void __launch_bounds__(128) NAME(const u32* in, const u64* cases, const u32* places, int count, T* out) { \
  extern __shared__ __align__(1024) u32 shared[]; \
  for (int i = threadIdx.x; i < 16384; i += 128) shared[i] = in[i]; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \
  const u64 base = (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4; \
  u32 a[4]; for (int i = 0; i < 4; i++) a[i] = in[4 * threadIdx.x + i]; \
  for (int n = 0; n < count; n++) { \
    const u32 at = places[n * 128 + threadIdx.x]; T d[8]; \
    for (int i = 0; i < 8; i++) d[i] = T(threadIdx.x % 7 + i % 5); \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
    OPERANDS \
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < 8; i++) out[(n * 128 + threadIdx.x) * 8 + i] = d[i]; } }
#define CASE(NAME, T, C, OF, SELECTOR, TAIL) KERNEL(NAME, T, \
  asm volatile("{ .reg .pred p; setp.ne.b64 p, %11, 0; wgmma.mma_async.sp.sync.aligned." OF " " D ", %8, %9, %10, " SELECTOR ", p" TAIL "; }" \
    : RESULTS(C) : "l"(cases[3 * n] + base), "l"(cases[3 * n + 1] + base), "r"(at), "l"(cases[3 * n + 2]) : "memory");)
#define CASE_RS(NAME, T, C, OF, SELECTOR, TAIL) KERNEL(NAME, T, \
  asm volatile("{ .reg .pred p; setp.ne.b64 p, %14, 0; wgmma.mma_async.sp.sync.aligned." OF " " D ", {%8,%9,%10,%11}, %12, %13, " SELECTOR ", p" TAIL "; }" \
    : RESULTS(C) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(cases[3 * n + 1] + base), "r"(at), "l"(cases[3 * n + 2]) : "memory");)
CASE(h_00, float, FLOAT, "m64n16k32.f32.f16.f16", "0", ", 1, 1, 0, 0")
CASE(h_00s1, float, FLOAT, "m64n16k32.f32.f16.f16", "1", ", 1, 1, 0, 0")
CASE(h_01, float, FLOAT, "m64n16k32.f32.f16.f16", "0", ", 1, 1, 0, 1")
CASE(h_10, float, FLOAT, "m64n16k32.f32.f16.f16", "1", ", 1, 1, 1, 0")
CASE(hneg, float, FLOAT, "m64n16k32.f32.f16.f16", "0", ", -1, 1, 0, 0")
CASE_RS(hr_0, float, FLOAT, "m64n16k32.f32.f16.f16", "0", ", 1, 1, 0")
CASE(b_10, float, FLOAT, "m64n16k32.f32.bf16.bf16", "0", ", 1, 1, 1, 0")
CASE(t_, float, FLOAT, "m64n16k16.f32.tf32.tf32", "0", ", 1, 1")
CASE(t_s1, float, FLOAT, "m64n16k16.f32.tf32.tf32", "1", ", 1, 1")
CASE_RS(tr_, float, FLOAT, "m64n16k16.f32.tf32.tf32", "0", ", 1, 1")
CASE(s_, int, WORD, "m64n16k64.s32.s8.s8", "0", "")
CASE(su_, int, WORD, "m64n16k64.s32.s8.u8", "0", "")
CASE_RS(sr_, int, WORD, "m64n16k64.s32.u8.s8", "0", "")
CASE(ee, float, FLOAT, "m64n16k64.f32.e4m3.e5m2", "0", ", 1, 1")
CASE_RS(er_, float, FLOAT, "m64n16k64.f32.e4m3.e4m3", "0", ", 1, 1")
// Cycles from one of many products to the next, in groups of eight, of N columns; A in shared memory, or in registers.
#define WAIT(N) asm volatile("wgmma.wait_group.sync.aligned " #N ";" ::: "memory");
#define PACE(NAME, COUNT, PRODUCT) \
extern "C" __global__ void __launch_bounds__(128) NAME(int count, float* out) { \
  extern __shared__ __align__(1024) u32 shared[]; \
  for (int i = threadIdx.x; i < 16384; i += 128) shared[i] = 0; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \
  const u64 at = (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4 | 64ull << 32 | 1ull << 62; \
  float d[COUNT]; long long begin = 0; \
  for (int i = 0; i < COUNT; i++) d[i] = 0; \
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
  for (int r = 0; r < count; r++) { \
    if (r == 2) begin = clock64(); \
    _Pragma("unroll") for (int k = 0; k < 8; k++) { PRODUCT } \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); WAIT(1) } \
  WAIT(0) begin = clock64() - begin; \
  for (int i = 0; i < COUNT; i++) d[0] += d[i]; \
  if (threadIdx.x == 0) out[0] = begin / (8.f * (count - 2)) + d[0]; }
PACE(pace_64, 32, asm volatile("{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, %34, 0, p, 1, 1, 0, 0; }" \
  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(at), "l"(at + 512), "r"(0x44444444) : "memory");)
PACE(pace_128, 64, asm volatile("{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, %66, 0, p, 1, 1, 0, 0; }" \
  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(at), "l"(at + 512), "r"(0x44444444) : "memory");)
PACE(pace_rs, 64, asm volatile("{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, {%64,%64,%64,%64}, %65, %66, 0, p, 1, 1, 0; }" \
  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "r"(0), "l"(at + 512), "r"(0x44444444) : "memory");)
