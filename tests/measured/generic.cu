// Kernels that reach shared, local and global memory by generic addresses, lane by lane; nvcc 13.0.88, -arch=sm_90.
#include <cooperative_groups.h>
typedef unsigned long long u64;
#define T unsigned t = threadIdx.x;
// One of three addresses, of which the compiler does not know the space.
#define OF3(k, a, b, c) ((k) % 3 == 0 ? (a) : (k) % 3 == 1 ? (b) : (c))

__device__ __noinline__ float running_sum(float *p, int n) { float s = 0; for (int i = 0; i < n; i++) { s += p[i]; p[i] = s; } return s; }
__device__ __noinline__ void of_widths(float4 *a, double2 *b, short *c, unsigned char *d, signed char *e, int t) { a->x += t; float4 v = *a; v.y *= 2; *a = v; double2 w = *b; w.x += w.y; *b = w; *c = *c + 3; d[1] = d[0] + 1; *e = *e >> 1; }
__device__ __noinline__ int atomic(int *p, int v, int k) { switch (k) { case 0: return atomicAdd(p, v); case 1: return atomicMax(p, v); case 2: return atomicExch(p, v); case 3: return atomicCAS(p, v, v + 1); case 4: return atomicInc((unsigned *)p, v); case 5: return atomicDec((unsigned *)p, v); case 6: return atomicXor(p, v); case 7: return atomicMin((unsigned *)p, v); case 8: return atomicAnd(p, v); case 9: return atomicOr(p, v); case 10: return atomicMin(p, v); case 11: return atomicSub(p, v); } return 0; }
__device__ __noinline__ u64 atomic64(u64 *p, u64 v, int k) { switch (k) { case 0: return atomicAdd(p, v); case 1: return atomicMax(p, v); case 2: return atomicExch(p, v); case 3: return atomicCAS(p, v, v + 1); case 4: return atomicXor(p, v); case 5: return atomicMin((long long *)p, (long long)v); case 6: return atomicAnd(p, v); case 7: return atomicOr(p, v); } return 0; }
__device__ __noinline__ float atomic_single(float *p, float v) { return atomicAdd(p, v); }
__device__ __noinline__ double atomic_double(double *p, double v) { return atomicAdd(p, v); }
__device__ int fibonacci(int *memo, int n) { if (n < 2) return n; if (memo[n]) return memo[n]; int r = fibonacci(memo, n - 1) + fibonacci(memo, n - 2); memo[n] = r; return r; }
template <class K> __device__ __noinline__ void insertion_sort(K *a, K *b) { for (K *i = a + 1; i < b; i++) { K v = *i; K *j = i; while (j > a && j[-1] > v) { *j = j[-1]; j--; } *j = v; } }
template <class K> __device__ void quick_sort(K *a, K *b) { if (b - a < 6) { insertion_sort(a, b); return; } K p = a[(b - a) / 2]; K *i = a, *j = b - 1; while (i <= j) { while (*i < p) i++; while (p < *j) j--; if (i <= j) { K x = *i; *i++ = *j; *j-- = x; } } quick_sort(a, j + 1); quick_sort(i, b); }
struct Shape { virtual __device__ int area(int x) = 0; int k; };
struct Square : Shape { __device__ int area(int x) override { return x * x * k; } };
struct Strip : Shape { __device__ int area(int x) override { return x + k; } };
struct Node { Node *left, *right; int key; };
__device__ int walk(Node *n) { return n ? walk(n->left) * 2 + n->key + walk(n->right) : 0; }
template <class F> __device__ __noinline__ int applied(F f, int x) { return f(x); }
typedef int (*Function)(int *, int);
__device__ __noinline__ int first(int *p, int n) { return p[0] + n; }
__device__ __noinline__ int fill(int *p, int n) { for (int i = 0; i < 4; i++) p[i] = i * n; return n; }
__device__ __noinline__ int swapped(int *p, int n) { int x = p[n & 3]; p[n & 3] = p[0]; p[0] = x; return x; }
__device__ Function functions[3] = {first, fill, swapped};

extern "C" {
__global__ void three_spaces(float *out, float *g, int n) { __shared__ float sh[256]; float loc[8]; T
  for (int i = 0; i < 8; i++) { loc[i] = g[t * 8 + i]; sh[(t * 8 + i) % 256] = i + t; }
  __syncthreads(); out[t] = running_sum(OF3(t, sh + t * 8, loc, g + t * 8), n); out[t + 32] = loc[n - 1] + sh[t * 8 + 2]; }
__global__ void of_two(float *out, float *g, int n) { __shared__ float sh[256]; float loc[8]; T
  for (int i = 0; i < 8; i++) { loc[i] = g[t * 8 + i] * 2; sh[(t * 8 + i) % 256] = i - t; }
  __syncthreads(); float *p = t < 32 ? (t & 1 ? loc : sh + t * 4) : t < 64 ? (t & 1 ? loc : g + t * 8) : t < 96 ? (t & 1 ? sh + 128 + (t - 64) * 4 : g + t * 8) : g + t * 8; out[t] = running_sum(p, n); }
__global__ void widths(float4 *g, double2 *h, short *c, unsigned char *d, signed char *e) {
  __shared__ float4 sa[32]; __shared__ double2 sb[32]; __shared__ short sc[32]; __shared__ unsigned char sd[66]; __shared__ signed char se[32]; T
  float4 la = {1, 2, 3, 4}; double2 lb = {1, 2}; short lc = 7; unsigned char ld[2] = {1, 2}; signed char le = -9;
  sa[t] = g[t]; sb[t] = h[t]; sc[t] = t; sd[2 * t] = t; sd[2 * t + 1] = 0; se[t] = -t; __syncthreads();
  of_widths(OF3(t, sa + t, &la, g + t), OF3(t, sb + t, &lb, h + t), OF3(t, sc + t, &lc, c + t), OF3(t, sd + 2 * t, ld, d + 2 * t), OF3(t, se + t, &le, e + t), t); __syncthreads();
  g[32 + t] = la; h[32 + t] = lb; c[32 + t] = lc; d[64 + 2 * t] = ld[1]; e[32 + t] = le; g[64 + t] = sa[t]; h[64 + t] = sb[t]; c[64 + t] = sc[t]; d[128 + 2 * t] = sd[2 * t + 1]; e[64 + t] = se[t]; }
__global__ void atomics(int *g, int *out, int k) { __shared__ int sh[16]; T if (t < 16) sh[t] = 100 - 30 * t; __syncthreads();
  atomic(t & 1 ? sh + t / 2 % 5 : g + t / 2 % 5, t * 5 - 30, 0); __syncthreads();
  out[t + 32] = atomic(t & 1 ? sh + t / 2 : g + t / 2, t * 7 - 60, k); __syncthreads(); if (t < 16) out[t] = sh[t]; }
__global__ void atomics64(u64 *g, u64 *out, int k) { __shared__ u64 sh[32]; u64 loc[2]; T sh[t] = 100 - 30 * t; loc[0] = g[t] + 7; loc[1] = 3; __syncthreads();
  out[t] = atomic64(OF3(t, sh + t, loc + (k & 1), g + t), t * 5, k); __syncthreads(); out[t + 32] = sh[t]; out[t + 64] = loc[0] + loc[1]; }
__global__ void atomic_sums(float *g, double *h, float *out, double *far) { __shared__ float sh[32]; __shared__ double sd[32]; float loc = 3; double dloc = 5; T sh[t] = t; sd[t] = 2 * t; __syncthreads();
  out[t] = atomic_single(OF3(t, sh + t, &loc, g + t), t * 0.37f); far[t] = atomic_double(OF3(t, sd + t, &dloc, h + t), t * 0.37); __syncthreads(); out[t + 32] = sh[t] + loc; far[t + 32] = sd[t] + dloc; }
__global__ void memo(int *o) { int m[24]; __shared__ int s[24 * 32]; T for (int i = 0; i < 24; i++) m[i] = s[t * 24 + i] = 0; o[t] = fibonacci(t & 1 ? m : s + 24 * t, t % 20); }
__global__ void sorts(int *g, int *o) { int loc[16]; __shared__ int sh[16 * 32]; T for (int i = 0; i < 16; i++) loc[i] = sh[t * 16 + i] = g[t * 16 + i];
  int *p = OF3(t, loc, sh + t * 16, g + t * 16); quick_sort(p, p + 16); for (int i = 0; i < 16; i++) o[t * 16 + i] = p[i]; }
__global__ void virtuals(int *o, int n) { T Square a; Strip b; a.k = 3; b.k = n; Shape *p = t % n ? (Shape *)&a : (Shape *)&b; o[t] = p->area(o[t]); }
__global__ void tree(int *o) { T __shared__ Node root; Node n[7]; for (int i = 0; i < 7; i++) { n[i].left = 2 * i + 1 < 7 ? &n[2 * i + 1] : nullptr; n[i].right = 2 * i + 2 < 7 ? &n[2 * i + 2] : nullptr; n[i].key = o[i] + t; }
  if (t == 0) { root.left = root.right = nullptr; root.key = 5; } __syncthreads(); n[3].left = &root; o[t + 32] = walk(n + t % 3); }
__global__ void captures(int *o, int n) { T int a = o[t]; auto f = [&](int x) { a += x; return a * n; }; o[t] = applied(f, 3) + a; }
__global__ void pointers(int *g, int *o, int n) { T __shared__ int sh[4 * 32]; int loc[4]; for (int i = 0; i < 4; i++) loc[i] = sh[4 * t + i] = g[4 * t + i]; int r = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) r = r * 3 + functions[(g[128 + t] + i) % 3](OF3(t + i, loc, sh + 4 * t, g + 4 * t), t + i);
  o[t] = r; o[t + 32] = loc[1] * 100 + sh[4 * t + 2]; }
__global__ void which(int *out, int *g) { __shared__ int sh[4]; int loc[4]; T for (int i = 0; i < 4; i++) { loc[i] = g[i]; sh[i] = i; } __syncthreads(); int *p = OF3(g[t], sh, loc, g);
  out[t] = __isShared(p) + 2 * __isGlobal(p) + 4 * __isLocal(p) + 8 * __isConstant(p) + (p[2] << 8); out[t + 32] = (int)__cvta_generic_to_shared(sh + t % 4) - (int)__cvta_generic_to_shared(sh); }
__global__ void conversions(int *g) { extern __shared__ int dyn[]; T unsigned b = __cvta_generic_to_shared(dyn + t); void *q = __cvta_shared_to_generic(b); *(volatile int *)q = t; int loc[4] = {1, 2, 3, 4}; loc[t & 3] = 4;
  int *w = (int *)__cvta_local_to_generic(__cvta_generic_to_local(loc)); w[1] += 5; __syncthreads(); g[t] = dyn[t ^ 1] + w[0] * 10 + w[1]; g[t + 32] = ((u64)q >> 32) == ((u64)w >> 32); g[t + 64] = __cvta_generic_to_global(g) == (u64)g; }
__global__ void stack(int *o, int n) { T int *p = (int *)alloca(n * 4 + t); for (int i = 0; i < n; i++) p[i] = i * o[i]; int s = 0; for (int i = 0; i < n; i++) s = s * 3 + p[(i * 7) % n]; o[t + 64] = s; }
__global__ void volatiles(int *g, int n) { __shared__ volatile int s[64]; T volatile int *p = t % n ? s + t : (volatile int *)g + t; *p = t; __threadfence(); __syncthreads(); g[64 + t] = *p + (t % n ? s[t | 1] : 0); __nanosleep(g[0]); }
__global__ void machine_state(u64 *o) { unsigned w, x, y, d, e, lo, hi; u64 a, b; asm volatile("mov.u32 %0, %%warpid;" : "=r"(w)); asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(x)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(a)); asm volatile("mov.u32 %0, %%smid;" : "=r"(y));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(d)); asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(e)); __nanosleep(20000); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(b)); asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(lo)); asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(hi));
  T o[t * 8] = w; o[t * 8 + 1] = x; o[t * 8 + 2] = b >= a; o[t * 8 + 3] = y < 1024; o[t * 8 + 4] = d; o[t * 8 + 5] = e; o[t * 8 + 6] = lo >= (unsigned)b || (b >> 32) != hi; o[t * 8 + 7] = (b >> 32) <= hi; }
// Cycles of a chain of n loads, each of which gives the next address, and of n atomics, by what the lanes point to.
#define SPACES(words) extern __shared__ u64 sh[]; u64 loc[words]; T u64 *far = g + t * words; u64 *near = sh + t * words; u64 *own = loc; \
  u64 *p = mode == 0 ? near : mode == 1 ? own : mode == 2 ? far : mode == 3 ? (t & 1 ? near : far) : mode == 4 ? (t & 1 ? near : own) : mode == 5 ? (t & 1 ? own : far) : mode == 6 ? OF3(t, near, own, far) : mode == 7 ? sh + t * 16 % 512 : mode == 8 ? sh + t * 32 % 1024 : mode == 9 ? sh + t * 4 % 512 : (t < 8 ? near : far); \
  asm volatile("mov.u64 %0, %0;" : "+l"(p)); *p = (u64)p; loc[1] = t; __syncthreads();
__global__ void chain(u64 *g, long long *out, int mode, int n) { SPACES(2) u64 a = (u64)p;
#pragma unroll 1
  for (int i = 0; i < 2; i++) { long long begin = clock64();
#pragma unroll 1
   for (int j = 0; j < n; j += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("ld.u64 %0, [%0];" : "+l"(a) :: "memory"); }
   out[t * 2 + i] = clock64() - begin; } if (a == 1) out[0] = loc[a]; }
__global__ void chain_shared(u64 *g, long long *out, int mode, int n) { extern __shared__ unsigned sw[]; T unsigned a = (unsigned)__cvta_generic_to_shared(sw + t * 2); sw[t * 2] = a; sw[t * 2 + 1] = 0; __syncthreads();
#pragma unroll 1
  for (int i = 0; i < 2; i++) { long long begin = clock64();
#pragma unroll 1
   for (int j = 0; j < n; j += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(a) :: "memory"); }
   out[t * 2 + i] = clock64() - begin; } if (a == 1) out[0] = a; }
__global__ void chain_atomics(u64 *g, long long *out, int mode, int n) { SPACES(2) unsigned a = 0;
#pragma unroll 1
  for (int i = 0; i < 2; i++) { long long begin = clock64();
#pragma unroll 1
   for (int j = 0; j < n; j += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("atom.add.u32 %0, [%1], %0;" : "+r"(a) : "l"(p) : "memory"); }
   out[t * 2 + i] = clock64() - begin; } if (a == 12345) out[0] = loc[a]; }
__global__ void rate(u64 *g, long long *out, int mode, int n) { SPACES(2) unsigned s = 0, v[8];
#pragma unroll 1
  for (int i = 0; i < 2; i++) { __syncthreads(); long long begin = clock64();
#pragma unroll 1
   for (int j = 0; j < n; j += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(v[k]) : "l"(p));
#pragma unroll
    for (int k = 0; k < 8; k++) s += v[k]; }
   out[t * 2 + i] = clock64() - begin; } if (s == 12345) out[0] = loc[s & 1]; }
__global__ void stores(u64 *g, long long *out, int mode, int n) { SPACES(2)
#pragma unroll 1
  for (int i = 0; i < 2; i++) { __syncthreads(); long long begin = clock64();
#pragma unroll 1
   for (int j = 0; j < n; j += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("st.volatile.u32 [%0], %1;" :: "l"(p), "r"(j + k)); }
   out[t * 2 + i] = clock64() - begin; } if (n == 12345) out[0] = loc[n & 1]; }
__global__ void local_atomic(int *g, int *out) { int loc[2]; T loc[0] = t; loc[1] = 7; int *p = g[0] == -1 ? g : loc; out[t] = atomic(p, 3, g[1]); out[t + 32] = loc[0]; }
}
