// Several kernels on several streams: constants, variables, textures, dynamic shared memory, errors of launches.
#include <cstdio>

__constant__ float scale;
__device__ int count = 40;
__device__ float *self;

__global__ void scaled(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * scale;
}

__global__ void counted(float *p) {
  if (threadIdx.x == 0) atomicAdd(&count, 1), self = p;
}

__global__ void mirrored(int *data) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void sampled(cudaTextureObject_t texture, float *out) { out[threadIdx.x] = tex1Dfetch<float>(texture, 3 - threadIdx.x); }

int main(int argc, char **argv) {
  const int n = 1000;
  float host[n], *in, *out;
  for (int i = 0; i < n; i++) host[i] = i;
  float three = 3;
  cudaMemcpyToSymbol(scale, &three, sizeof three);
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, n * 4);
  cudaMemcpy(in, host, n * 4, cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 3; i++) scaled<<<4, 256, 0, stream>>>(in, out, n);
  cudaMemcpyAsync(host, out, n * 4, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  printf("scaled %g %g\n", host[1], host[999]);

  counted<<<2, 32>>>(in);
  int counted_to;
  float *where;
  cudaMemcpyFromSymbol(&counted_to, count, sizeof counted_to);
  cudaMemcpyFromSymbol(&where, self, sizeof where);
  printf("counted %d, self %d\n", counted_to, where == in);

  int small[8] = {0, 1, 2, 3, 4, 5, 6, 7}, *data;
  cudaMallocManaged(&data, sizeof small);
  for (int i = 0; i < 8; i++) data[i] = small[i];
  mirrored<<<1, 8, sizeof small>>>(data);
  cudaDeviceSynchronize();
  printf("mirrored %d %d\n", data[0], data[7]);

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * 4;
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  sampled<<<1, 4>>>(texture, out);
  cudaMemcpy(host, out, 16, cudaMemcpyDeviceToHost);
  printf("sampled %g %g\n", host[0], host[3]);

  mirrored<<<1, 2000>>>(data);
  printf("threads: %s\n", cudaGetErrorString(cudaGetLastError()));
  mirrored<<<1, 8, 100000>>>(data);
  printf("shared: %s\n", cudaGetErrorString(cudaGetLastError()));
  printf("attribute: %s\n", cudaGetErrorName(cudaFuncSetAttribute(mirrored, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000)));
  mirrored<<<1, 8, 100000>>>(data);
  printf("shared: %s\n", cudaGetErrorName(cudaGetLastError()));
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scaled, 256, 0);
  printf("resident %d\n", blocks);
  return argc;
}
