// y = a x, whose parts a bulk copy brings to shared memory and another takes back; a barrier counts arriving bytes.
#include <cstdint>

constexpr int PART = 256; // numbers of a part, and threads of a block

__device__ uint32_t place(const void *at) { return __cvta_generic_to_shared(at); }

__device__ void bring(float *to, const float *from, uint64_t *arrived) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(arrived)), "n"(4 * PART) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
               "l"(from), "n"(4 * PART), "r"(place(arrived)) : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}"
               ::"r"(place(barrier)), "r"(parity) : "memory");
}

__device__ void take(float *to, const float *from) {
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the other part is free again
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads(); // all threads' numbers are there for the copy
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "n"(4 * PART)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

extern "C" __global__ void scale(const float *x, float *y, float a, int parts) {
  __shared__ __align__(128) float in[2][PART], out[2][PART];
  __shared__ uint64_t arrived[2];
  size_t first = size_t(blockIdx.x) * parts * PART;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&arrived[i])) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) bring(in[0], x + first, &arrived[0]);
  for (int i = 0; i < parts; i++) {
    if (threadIdx.x == 0 && i + 1 < parts) bring(in[(i + 1) % 2], x + first + (i + 1) * PART, &arrived[(i + 1) % 2]);
    wait(&arrived[i % 2], i / 2 % 2);
    out[i % 2][threadIdx.x] = a * in[i % 2][threadIdx.x];
    take(y + first + i * PART, out[i % 2]);
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
