// Blocks that wait for each other. Compiled by nvcc 13.0: -arch=sm_NN -cubin, for 75, 80, 90, 100 and 120.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each element goes to its mirror image, and on by 7: two barriers of the grid.
extern "C" __global__ void mirror(int *a, int *b, int n) {
  auto grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = 3 * i + 1;
  grid.sync();
  b[i] = a[n - 1 - i];
  grid.sync();
  a[i] = b[(i + 7) % n] + (grid.is_valid() ? (int)grid.num_threads() : 0);
}

// Rounds of a barrier made of an atomic and a volatile load.
extern "C" __global__ void rounds(unsigned *count, int *a, int n, int many) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, size = gridDim.x * blockDim.x;
  for (int r = 1; r <= many; r++) {
    int got = a[(r - 1) % 2 * size + (i + n) % size];
    a[r % 2 * size + i] = got + i;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1);
      while (*(volatile unsigned *)count < r * gridDim.x);
      __threadfence();
    }
    __syncthreads();
  }
}

// A scan of 256 elements a block, which looks back: flags are 0, 1 with the block's own sum, 2 with the sum so far.
// `turned`: the blocks take the elements from the end on, so that each waits for later ones.
extern "C" __global__ void scan(const int *x, int *y, volatile int *flags, volatile int *own, volatile int *sums,
                                int turned) {
  __shared__ int part[256];
  __shared__ int before;
  int block = turned ? gridDim.x - 1 - blockIdx.x : blockIdx.x, t = threadIdx.x;
  part[t] = x[256 * block + t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int more = t >= step ? part[t - step] : 0;
    __syncthreads();
    part[t] += more;
    __syncthreads();
  }
  if (t == 0) {
    own[block] = part[255];
    __threadfence();
    if (block > 0) flags[block] = 1;
    int sum = 0;
    for (int k = block - 1; k >= 0; k--) {
      int flag;
      while ((flag = flags[k]) == 0);
      __threadfence();
      sum += flag == 2 ? sums[k] : own[k];
      if (flag == 2) break;
    }
    sums[block] = sum + part[255];
    __threadfence();
    flags[block] = 2;
    before = sum;
  }
  __syncthreads();
  y[256 * block + t] = part[t] + before;
}

// A queue of tasks: a task below `n` adds two more, so that blocks wait for tasks of others.
extern "C" __global__ void queue(int *tasks, unsigned *head, unsigned *tail, unsigned *done, int *seen, int n) {
  __shared__ int task;
  while (true) {
    if (threadIdx.x == 0) {
      task = -1;
      while (task < 0 && *(volatile unsigned *)done < (unsigned)n) {
        unsigned at = *(volatile unsigned *)head;
        if (at < *(volatile unsigned *)tail && atomicCAS(head, at, at + 1) == at)
          while ((task = *(volatile int *)&tasks[at]) < 0);
      }
    }
    __syncthreads();
    int mine = task;
    __syncthreads();
    if (mine < 0) return;
    if (threadIdx.x == 0) {
      for (int k = 1; k <= 2; k++)
        if (2 * mine + k < n) {
          unsigned at = atomicAdd(tail, 1);
          *(volatile int *)&tasks[at] = 2 * mine + k;
        }
      seen[mine] = 1;
      __threadfence();
      atomicAdd(done, 1);
    }
  }
}

// A lock with a back-off that grows, around a sum that is no atomic.
extern "C" __global__ void lock(int *held, int *sum, int n) {
  if (threadIdx.x == 0) {
    unsigned wait = 8;
    while (atomicCAS(held, 0, 1) != 0) {
      __nanosleep(wait);
      if (wait < 256) wait *= 2;
    }
    __threadfence();
    *(volatile int *)sum = *(volatile int *)sum + blockIdx.x;
    __threadfence();
    atomicExch(held, 0);
  }
}

// Each block waits for the next one; the last for one that there is not.
extern "C" __global__ void forward(volatile int *flags, int last) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x || last)
      while (flags[blockIdx.x + 1] == 0);
    flags[blockIdx.x] = 1;
  }
}

// Looks so often, and gives up; the last block of several `sets` the flag first.
extern "C" __global__ void patient(volatile int *flag, int *looks, int most, int sets) {
  int n = 0;
  if (sets && blockIdx.x + 1 == gridDim.x) *flag = 1;
  while (*flag == 0 && n < most) n++;
  looks[blockIdx.x] = n;
  *flag = 1;
}

// Warp 1 waits for warp 0, which comes behind it in the code.
extern "C" __global__ void within(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    while (flag == 0);
    out[threadIdx.x] = flag;
  } else if (threadIdx.x == 0) {
    out[0] = 7;
    flag = 7;
  }
}
