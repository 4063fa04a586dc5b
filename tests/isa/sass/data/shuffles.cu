// Shuffles whose values are known by hand (tests/test_shuffles.py).
extern "C" __global__ void bcast(int arg, int* bad) {
  int lane = threadIdx.x & 31;
  int v;
  if (lane == 0) v = arg;
  v = __shfl_sync(0xffffffffu, v, 0);
  bad[threadIdx.x] = (v != arg);
}
extern "C" __global__ void two(int* e) {
  __syncthreads();
  int lane = threadIdx.x & 31, loc = lane, rec = lane + 32;
  if ((lane & 15) == 0) {
    loc += rec;
    rec = __shfl_xor_sync(0x00010001u, loc, 16);
  }
  loc = rec;
  rec = __shfl_up_sync(0xffffffffu, loc, 8);
  __syncthreads();
  e[threadIdx.x] = rec;
}
extern "C" __global__ void wm(int* x, unsigned m) {
  int v = threadIdx.x;
  x[threadIdx.x] = __shfl_sync(m, v, 0);
  __syncwarp();
}
extern "C" __global__ void wmc(int* x) {
  int v = threadIdx.x;
  x[threadIdx.x] = __shfl_sync(0x0000ffff, v, 0);
  __syncwarp();
}
extern "C" __global__ void pw(float* x) {
  float v = x[threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v = fminf(v, __shfl_down_sync(0xffffffffu, v, o));
  x[threadIdx.x] = v;
}
extern "C" __global__ void br(int* x, int n) {
  int t = threadIdx.x, v = x[t], s;
  if ((t & 31) < 16) {
    v = v * 3 + n;
    s = __shfl_xor_sync(0xffffffffu, v, 16);
  } else {
    v = v * 5 - n;
    s = __shfl_xor_sync(0xffffffffu, v, 16);
  }
  x[t] = s;
}
