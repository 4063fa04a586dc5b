typedef unsigned long long u64; typedef unsigned u32;
// a: 64 rows of 8 words, b: 8 columns of 8 words, c, d: 64 x 8 numbers, tile after tile
#define LOAD(I) for (int w = threadIdx.x; w < 64 * 8; w += 128) { int i = w / 8, q = w % 8; sa[i / 8 * 64 + q / 4 * 32 + i % 8 * 4 + q % 4] = a[tile * 512 + w]; if (w < 64) sb[q / 4 * 32 + i * 4 + q % 4] = b[tile * 64 + w]; }
__device__ __forceinline__ u64 descriptor(const void* p) { return (__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32; }
extern "C" __global__ void __launch_bounds__(128) f16(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) f16_rs(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) f16h(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[2]; u32 f[4]; for (int i = 0; i < 2; i++) d[i] = c[tile * 256 + (row + 8 * i) * 4 + t];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, %2, %3, 1, 1, 1, 0, 0;" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 2; i++) out[tile * 256 + (row + 8 * i) * 4 + t] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) f16h_rs(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[2]; u32 f[4]; for (int i = 0; i < 2; i++) d[i] = c[tile * 256 + (row + 8 * i) * 4 + t];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, %6, 1, 1, 1, 0;" : "+r"(d[0]),"+r"(d[1]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 2; i++) out[tile * 256 + (row + 8 * i) * 4 + t] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) bf16(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) bf16_rs(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) tf32(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) tf32_rs(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e4m3(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e4m3_rs(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e5m2(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e5m2_rs(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    float d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e4m3h(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[2]; u32 f[4]; for (int i = 0; i < 2; i++) d[i] = c[tile * 256 + (row + 8 * i) * 4 + t];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1}, %2, %3, 1, 1, 1;" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 2; i++) out[tile * 256 + (row + 8 * i) * 4 + t] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) e4m3h_rs(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[2]; u32 f[4]; for (int i = 0; i < 2; i++) d[i] = c[tile * 256 + (row + 8 * i) * 4 + t];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1}, {%2,%3,%4,%5}, %6, 1, 1, 1;" : "+r"(d[0]),"+r"(d[1]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 2; i++) out[tile * 256 + (row + 8 * i) * 4 + t] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) s8(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0,%1,%2,%3}, %4, %5, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) s8_rs(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) u8s8(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%0,%1,%2,%3}, %4, %5, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) u8s8_rs(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) s8sat(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%0,%1,%2,%3}, %4, %5, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "l"(da),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
extern "C" __global__ void __launch_bounds__(128) s8sat_rs(const u32* a, const u32* b, const u32* c, u32* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4;
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads(); LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
    u32 d[4]; u32 f[4]; for (int i = 0; i < 4; i++) d[i] = c[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 4; i++) f[i] = a[tile * 512 + (row + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    u64 da = descriptor(sa), db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1;" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "r"(f[0]),"r"(f[1]),"r"(f[2]),"r"(f[3]),"l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[tile * 512 + (row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; } }
// overwrites A behind the instruction that reads it, before the wait
extern "C" __global__ void __launch_bounds__(128) overwritten(const u32* a, const u32* b, const float* c, float* out, int tiles) {
  __shared__ __align__(128) u32 sa[512], sb[64]; const int l = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + l / 4, t = l % 4, tile = 0;
  LOAD(0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
  float d[4]; for (int i = 0; i < 4; i++) d[i] = c[(row + 8 * (i / 2)) * 8 + 2 * t + i % 2];
  u64 da = descriptor(sa), db = descriptor(sb);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db) : "memory");
  for (int i = 0; i < 4; i++) asm volatile("st.shared.u32 [%0], %1;" :: "r"((u32)__cvta_generic_to_shared(sa + threadIdx.x + 128 * i)), "r"(0x3c003c00) : "memory");
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) out[(row + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i]; }
