// Accesses whose sectors and bank conflicts are known by hand (test_counts.py).
extern "C" __global__ void sc(const float* a, float* b, int st) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * st; b[i] = a[i] + 1; }
extern "C" __global__ void off(const float* a, float* b, int o) { int i = blockIdx.x * blockDim.x + threadIdx.x + o; b[i] = a[i] + 1; }
struct V { float x, y, z; };
extern "C" __global__ void aos(const V* a, float* b) { int i = blockIdx.x * blockDim.x + threadIdx.x; V v = a[i]; b[i] = v.x + v.y + v.z; }
extern "C" __global__ void by(const unsigned char* a, unsigned char* b) { int i = blockIdx.x * blockDim.x + threadIdx.x; b[i] = a[i] + 1; }
extern "C" __global__ void d2(double* o) { __shared__ double s[32][33]; int t = threadIdx.x & 31, w = threadIdx.x >> 5; s[w][t] = t; __syncthreads(); o[threadIdx.x] = s[t][w]; }
extern "C" __global__ void d3(double* o) { __shared__ double s[32][32]; int t = threadIdx.x & 31, w = threadIdx.x >> 5; s[w][t] = t; __syncthreads(); o[threadIdx.x] = s[t][w]; }
extern "C" __global__ void c8(unsigned char* o) { __shared__ unsigned char s[1024]; int t = threadIdx.x; s[t] = t; __syncthreads(); o[t] = s[(t * 4) & 1023]; }
extern "C" __global__ void x32(float* o, int m) { __shared__ float s[1024]; int t = threadIdx.x; s[t] = t; __syncthreads(); float v = 0; for (int k = 0; k < 8; k++) v += s[((t * m) ^ (k * 32)) & 1023]; o[t] = v; }
extern "C" __global__ void f3(float* o) { __shared__ V s[256]; int t = threadIdx.x; s[t].x = t; s[t].y = 1; s[t].z = 2; __syncthreads(); V v = s[255 - t]; o[t] = v.x + v.y + v.z; }
