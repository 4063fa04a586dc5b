// One product of a warpgroup per case: descriptors of A and B, and whether C counts, over 64 KiB of shared memory.
typedef unsigned long long u64; typedef unsigned u32;
#define D "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define RESULTS(C) C(d[0]), C(d[1]), C(d[2]), C(d[3]), C(d[4]), C(d[5]), C(d[6]), C(d[7])
#define FLOAT(X) "+f"(X)
#define WORD(X) "+r"(X)
#define CASE(NAME, T, C, OF, TAIL) extern "C" __global__ void __launch_bounds__(128) NAME(const u32* in, const u64* cases, int count, T* out) { \
  extern __shared__ __align__(1024) u32 shared[]; \
  for (int i = threadIdx.x; i < 16384; i += 128) shared[i] = in[i]; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \
  const u64 base = (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4; \
  for (int n = 0; n < count; n++) { \
    T d[8]; \
    for (int i = 0; i < 8; i++) d[i] = T(threadIdx.x % 7 + i % 5); \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
    asm volatile("{ .reg .pred p; setp.ne.b64 p, %10, 0; wgmma.mma_async.sync.aligned." OF " " D ", %8, %9, p" TAIL "; }" \
      : RESULTS(C) : "l"(cases[3 * n] + base), "l"(cases[3 * n + 1] + base), "l"(cases[3 * n + 2]) : "memory"); \
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < 8; i++) out[(n * 128 + threadIdx.x) * 8 + i] = d[i]; } }
#define CASE_RS(NAME, T, C, OF, TAIL) extern "C" __global__ void __launch_bounds__(128) NAME(const u32* in, const u64* cases, int count, T* out) { \
  extern __shared__ __align__(1024) u32 shared[]; \
  for (int i = threadIdx.x; i < 16384; i += 128) shared[i] = in[i]; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \
  const u64 base = (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4; \
  for (int n = 0; n < count; n++) { \
    T d[8]; u32 a[4]; \
    for (int i = 0; i < 4; i++) a[i] = in[4 * threadIdx.x + i]; \
    for (int i = 0; i < 8; i++) d[i] = T(threadIdx.x % 7 + i % 5); \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
    asm volatile("{ .reg .pred p; setp.ne.b64 p, %13, 0; wgmma.mma_async.sync.aligned." OF " " D ", {%8,%9,%10,%11}, %12, p" TAIL "; }" \
      : RESULTS(C) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(cases[3 * n + 1] + base), "l"(cases[3 * n + 2]) : "memory"); \
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < 8; i++) out[(n * 128 + threadIdx.x) * 8 + i] = d[i]; } }
CASE(e4m3_e5m2, float, FLOAT, "m64n16k32.f32.e4m3.e5m2", ", 1, 1")
CASE_RS(e4m3_e4m3, float, FLOAT, "m64n16k32.f32.e4m3.e4m3", ", 1, 1")
CASE(bits, int, WORD, "m64n16k256.s32.b1.b1.and.popc", "")
CASE_RS(bits_rs, int, WORD, "m64n16k256.s32.b1.b1.and.popc", "")
