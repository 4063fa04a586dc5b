// One product of a warpgroup per case: descriptors of A and B as given, over halves in shared memory.
typedef unsigned long long u64;
template<int TA, int TB> __device__ void product(float* d, u64 a, u64 b) {
  asm volatile("{ wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 0, 1, 1, %10, %11; }"
    : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]) : "l"(a),"l"(b),"n"(TA),"n"(TB) : "memory");
}
#define CASE(NAME, TA, TB) extern "C" __global__ void __launch_bounds__(128) NAME(const unsigned* in, int words, const u64* descriptors, int cases, float* out) { \
  extern __shared__ __align__(1024) unsigned shared[]; \
  for (int i = threadIdx.x; i < words; i += 128) shared[i] = in[i]; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \
  const u64 base = (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4; \
  for (int c = 0; c < cases; c++) { \
    float d[8]; \
    for (int i = 0; i < 8; i++) d[i] = 0; \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
    product<TA, TB>(d, descriptors[2 * c] + base, descriptors[2 * c + 1] + base); \
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < 8; i++) out[(c * 8 + i) * 128 + threadIdx.x] = d[i]; } }
CASE(kk, 0, 0) CASE(mk, 1, 0) CASE(kn, 0, 1) CASE(mn, 1, 1)
