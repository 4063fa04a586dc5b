// Sums of the columns of a matrix, whose lines come through cuda::pipeline: two stages, barriers in shared memory.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

constexpr int STAGES = 2, LINES = 4, COLUMNS = 128; // LINES lines of COLUMNS numbers are copied at a time

extern "C" __global__ void columns(const float *x, float *sums, int lines) {
  __shared__ __align__(16) float stages[STAGES][LINES * COLUMNS];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state; // make_pipeline initialises it
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const float *first = x + blockIdx.x * lines * COLUMNS;
  auto copy = [&](int line) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, stages[line / LINES % STAGES], first + line * COLUMNS,
                       cuda::aligned_size_t<16>(LINES * COLUMNS * sizeof(float)), pipe);
    pipe.producer_commit();
  };
  float sum = 0;
  copy(0);
  for (int line = 0; line < lines; line += LINES) {
    if (line + LINES < lines) copy(line + LINES);
    pipe.consumer_wait();
    for (int i = 0; i < LINES; i++) sum += stages[line / LINES % STAGES][i * COLUMNS + threadIdx.x];
    pipe.consumer_release();
  }
  sums[blockIdx.x * COLUMNS + threadIdx.x] = sum;
}
