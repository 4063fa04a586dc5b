// MATCH, and accesses to global memory among loads from shared memory or such that hit the L1 (h200_mio.csv).
// Each kernel times n rounds: a block of `warps` warps, the second of two times. tab: offsets of a lane's place (bytes
// from its warp's 8 KB), 32 values to compare, and the lanes that do. Compiled by nvcc 13.0 -arch=sm_90a -O3 -cubin.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
__device__ __forceinline__ i64 clk() {
  i64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
#define LDS(k) asm volatile("{.reg .u32 q; ld.volatile.shared.u32 q, [%1+" #k "]; xor.b32 %0, %0, q;}" \
                            : "+r"(x) : "r"(sa) : "memory");
#define LDG(k) asm volatile("{.reg .u32 q; ld.global.ca.u32 q, [%1+" #k "]; xor.b32 %0, %0, q;}" \
                            : "+r"(x) : "l"(gh) : "memory");
#define SIXTEEN(L) L(0) L(128) L(256) L(384) L(512) L(640) L(768) L(896) L(1024) L(1152) L(1280) L(1408) L(1536) \
  L(1664) L(1792) L(1920)
#define LOOP(NAME, OP, FILL)                                                                                          \
  extern "C" __global__ void NAME(i64 *t, u32 *out, char *gl, const u32 *tab, int n, u32 zero) {                      \
    __shared__ u32 s[1024];                                                                                           \
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)                                                              \
      s[i] = 0;                                                                                                       \
    u32 lane = threadIdx.x & 31, w = threadIdx.x >> 5, x = 0, sa = (u32)__cvta_generic_to_shared(s + lane);           \
    u32 v = tab[lane + 32];                                                                                           \
    char *ga = gl + (1 << 16) + w * 8192 * (zero + 1) + tab[lane], *gh = gl + lane * 4;                               \
    for (int r = 0; r < 2; r++) {                                                                                     \
      __syncthreads();                                                                                                \
      i64 t0 = clk();                                                                                                 \
      _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                               \
        sa += zero, ga += zero, gh += zero, v += zero;                                                                \
        asm volatile(OP : "+r"(x) : "r"(sa), "l"(ga), "r"(v) : "memory");                                             \
        FILL                                                                                                          \
      }                                                                                                               \
      __syncthreads();                                                                                                \
      i64 t1 = clk();                                                                                                 \
      if (threadIdx.x == 0)                                                                                           \
        t[blockIdx.x] = t1 - t0;                                                                                      \
    }                                                                                                                 \
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;                                                                   \
  }
#define ANY "{.reg .u32 q; match.any.sync.b32 q, %3, -1; xor.b32 %0, %0, q;}"
#define ANY64 "{.reg .u32 q; .reg .u64 w; mov.b64 w, {%3, %3}; match.any.sync.b64 q, w, -1; xor.b32 %0, %0, q;}"
#define ALL "{.reg .u32 q; .reg .pred p; match.all.sync.b32 q|p, %3, -1; xor.b32 %0, %0, q;}"
#define ALL64                                                                                                         \
  "{.reg .u32 q; .reg .u64 w; .reg .pred p; mov.b64 w, {%3, %3}; match.all.sync.b64 q|p, w, -1; xor.b32 %0, %0, q;}"
LOOP(row_any, ANY, )
LOOP(row_any64, ANY64, )
LOOP(row_all, ALL, )
LOOP(row_all64, ALL64, )
LOOP(lds, "", SIXTEEN(LDS))
LOOP(ldg, "", SIXTEEN(LDG))
LOOP(lds_any, ANY, SIXTEEN(LDS))
LOOP(ldg_any, ANY, SIXTEEN(LDG))
LOOP(lds_all, ALL, SIXTEEN(LDS))
LOOP(lds_stg, "st.global.u32 [%2], %3;", SIXTEEN(LDS))
LOOP(lds_stg64, "st.global.v2.u32 [%2], {%3, %3};", SIXTEEN(LDS))
LOOP(lds_stg128, "st.global.v4.u32 [%2], {%3, %3, %3, %3};", SIXTEEN(LDS))
LOOP(lds_ldg, "{.reg .u32 q; ld.global.ca.u32 q, [%2]; xor.b32 %0, %0, q;}", SIXTEEN(LDS))
LOOP(ldg_stg, "st.global.u32 [%2], %3;", SIXTEEN(LDG))
#define ONE(OP) \
  asm volatile("{.reg .u32 q; .reg .u64 w; .reg .pred p; mov.b64 w, {%1, %1}; " OP \
               " and.b32 q, q, %3; add.u32 %0, %0, q;}" : "+r"(v) : "r"(v), "r"(mask), "r"(zero));
#define CHAIN(NAME, OP)                                                                                               \
  extern "C" __global__ void NAME(i64 *t, u32 *out, char *gl, const u32 *tab, int n, u32 zero) {                      \
    u32 lane = threadIdx.x & 31, v = tab[lane + 32], mask = tab[64];                                                  \
    for (int r = 0; r < 2; r++) {                                                                                     \
      __syncthreads();                                                                                                \
      i64 t0 = clk();                                                                                                 \
      if (mask >> lane & 1) {                                                                                         \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                             \
          ONE(OP) ONE(OP) ONE(OP) ONE(OP) ONE(OP) ONE(OP) ONE(OP) ONE(OP)                                             \
        }                                                                                                             \
      }                                                                                                               \
      __syncthreads();                                                                                                \
      i64 t1 = clk();                                                                                                 \
      if (threadIdx.x == 0)                                                                                           \
        t[blockIdx.x] = t1 - t0;                                                                                      \
    }                                                                                                                 \
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;                                                                   \
  }
CHAIN(chain_any, "match.any.sync.b32 q, %1, %2;")
CHAIN(chain_any64, "match.any.sync.b64 q, w, %2;")
CHAIN(chain_all, "match.all.sync.b32 q|p, %1, %2;")
CHAIN(chain_all64, "match.all.sync.b64 q|p, w, %2;")
