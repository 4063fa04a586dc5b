// Keeps the positive numbers of each block, in order: votes and counts of bits tell each lane its place.
extern "C" __global__ void compact(const int *numbers, int *kept, int *counts) {
  __shared__ int places[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int number = numbers[i];
  unsigned positive = __ballot_sync(~0u, number > 0);
  if (lane == 0) places[warp] = __popc(positive);
  __syncthreads();
  int place = __popc(positive & ((1u << lane) - 1));
  for (int w = 0; w < warp; w++) place += places[w];
  if (number > 0) kept[blockIdx.x * blockDim.x + place] = number;
  if (threadIdx.x == blockDim.x - 1) counts[blockIdx.x] = place + (number > 0);
}
