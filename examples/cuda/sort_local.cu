// Each thread sorts eight numbers in an array of its own. It lies in local memory, as indices in loops are not known.
extern "C" __global__ void sort_local(const int *numbers, int *sorted, int rotation) {
  int own[8], first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1
  for (int i = 0; i < 8; i++) own[(i + rotation) & 7] = numbers[first + i];
#pragma unroll 1
  for (int i = 1; i < 8; i++) {
    int x = own[i], j = i;
#pragma unroll 1
    for (; j > 0 && own[j - 1] > x; j--) own[j] = own[j - 1];
    own[j] = x;
  }
#pragma unroll 1
  for (int i = 0; i < 8; i++) sorted[first + i] = own[i];
}
