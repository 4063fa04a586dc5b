// When blocks begin: the first ones of an SM, those that take another's place, and when their parameters are there.
// nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 blocks.cu; blocks.cubin.xz is the same with -cubin. Run on an H200, it
// prints the rows of gpusim/published/h200_blocks.csv.
//
// `begin`: each warp stores its clock at entry; then the first warp of a block, or all, take `rounds` steps of a chain;
// with `_store` each of these stores its clock once more. Shared memory says how many blocks are resident. A row has the
// entry of each block of an SM in the order of entries, and with `_store` the block's end, after the first one on the
// SM: medians over SMs and launches.
// `refill`: blocks of the first `quick` SMs store their clock at entry and end, those of the others take long. A row has
// the first 64 entries of the quick SMs.
// `params`: behind the clock at entry each warp reads five parameters 64 bytes apart to a uniform register, and its
// clock behind each. A row has these stamps of an SM's last warp, medians over SMs and launches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#include "clocks.cuh"

const int STAMPS = 6, SHARED = 227 * 1024, SMS = 132;
struct Rec { i64 t[STAMPS]; u32 smid, blk; };
struct Many { int v[512]; };

__device__ __forceinline__ Rec &mine(Rec *rec) { return rec[(blockIdx.x * blockDim.x + threadIdx.x) / 32]; }

template <bool ALL, bool STORE> __device__ __forceinline__ void begin(Rec *rec, int rounds) {
  i64 first = clk();
  Rec &q = mine(rec);
  if (threadIdx.x % 32 == 0) {
    q.t[0] = first;
    q.smid = sm_id();
    q.blk = blockIdx.x;
  }
  if (!ALL && threadIdx.x >= 32) return;
  float x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  if (STORE) {
    i64 last = clk_after(x);
    if (threadIdx.x % 32 == 0) q.t[1] = last;
  } else if (__float_as_int(x) == 0x7f123456) q.t[1] = 1;  // never, which the compiler does not know
}
extern "C" __global__ void begin_first(Rec *rec, int rounds) { begin<false, false>(rec, rounds); }
extern "C" __global__ void begin_first_store(Rec *rec, int rounds) { begin<false, true>(rec, rounds); }
extern "C" __global__ void begin_all(Rec *rec, int rounds) { begin<true, false>(rec, rounds); }
extern "C" __global__ void begin_all_store(Rec *rec, int rounds) { begin<true, true>(rec, rounds); }

extern "C" __global__ void refill(Rec *rec, u32 quick, int rounds) {
  i64 first = clk();
  if (sm_id() < quick) {
    if (threadIdx.x == 0) {
      rec[blockIdx.x].t[0] = first;
      rec[blockIdx.x].smid = sm_id() + 1;
    }
    return;
  }
  float x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  if (__float_as_int(x) == 0x7f123456) rec[0].t[1] = 1;
}

extern "C" __global__ void params(Rec *rec, Many many) {
  i64 t[STAMPS];
  t[0] = clk();
  float x = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 5; i++) {
    x = __uint_as_float(__float_as_uint(x) + many.v[64 + 16 * i]);
    t[1 + i] = clk_after(x);
  }
  if (threadIdx.x % 32 != 0) return;
  Rec &q = mine(rec);
#pragma unroll
  for (int i = 0; i < STAMPS; i++) q.t[i] = t[i];
  q.smid = sm_id();
  q.blk = blockIdx.x;
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : 0.5 * (v[v.size() / 2 - 1] + v[v.size() / 2]);
}
static void check(cudaError_t e) {
  if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); }
}
typedef std::vector<std::vector<double>> Samples;  // by place in the row
static void add(Samples &all, size_t place, double value) {
  if (all.size() <= place) all.resize(place + 1);
  all[place].push_back(value);
}
static std::string joined(const Samples &all) {
  std::string s;
  char text[32];
  for (auto &v : all) { snprintf(text, sizeof text, "%s%.0f", s.empty() ? "" : " ", median(v)); s += text; }
  return s;
}
// The blocks of each SM in the order of their entries: entry, end.
static void of_blocks(const std::vector<Rec> &rec, int warps, bool ends, Samples &begins, Samples &last) {
  std::map<u32, std::vector<std::pair<double, double>>> by;
  std::map<u32, double> zero;
  for (size_t b = 0; b < rec.size() / warps; b++) {
    i64 t0 = rec[b * warps].t[0], t1 = 0;
    for (int w = 0; w < warps; w++) {
      t0 = std::min(t0, rec[b * warps + w].t[0]);
      t1 = std::max(t1, rec[b * warps + w].t[1]);
    }
    by[rec[b * warps].smid].push_back({double(t0), ends ? double(t1) : 0.0});
  }
  for (auto &sm : by) {
    std::sort(sm.second.begin(), sm.second.end());
    double start = sm.second[0].first;
    for (size_t k = 0; k < sm.second.size(); k++) {
      add(begins, k, sm.second[k].first - start);
      if (ends) add(last, k, sm.second[k].second - start);
    }
  }
}
// The entries that were stored, of each quick SM in their order.
static void of_quick(const std::vector<Rec> &rec, Samples &begins) {
  std::map<u32, std::vector<double>> by;
  for (auto &q : rec)
    if (q.smid) by[q.smid].push_back(double(q.t[0]));
  for (auto &sm : by) {
    std::sort(sm.second.begin(), sm.second.end());
    for (size_t k = 0; k < sm.second.size() && k < 64; k++) add(begins, k, sm.second[k] - sm.second[0]);
  }
}
static void of_warps(const std::vector<Rec> &rec, Samples &stamps) {
  std::map<u32, std::vector<const Rec *>> by;
  for (auto &q : rec) by[q.smid].push_back(&q);
  for (auto &sm : by) {
    i64 start = sm.second[0]->t[0];
    for (auto q : sm.second) start = std::min(start, q->t[0]);
    for (int i = 0; i < STAMPS; i++) {
      i64 latest = 0;
      for (auto q : sm.second) latest = std::max(latest, q->t[i] - start);
      add(stamps, i, double(latest));
    }
  }
}

int main() {
  Rec *rec;
  const int LAUNCHES = 7;
  check(cudaMalloc(&rec, sizeof(Rec) << 20));
  typedef void (*Kernel)(Rec *, int);
  const Kernel kernels[4] = {begin_first, begin_first_store, begin_all, begin_all_store};
  const char *names[4] = {"begin_first", "begin_first_store", "begin_all", "begin_all_store"};
  for (auto k : kernels) check(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  check(cudaFuncSetAttribute(params, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  printf("experiment,warps,resident,blocks,rounds,begins,ends\n");
  std::vector<Rec> host;
  auto measure = [&](int blocks, int warps, auto go, auto note) {
    host.resize(size_t(blocks) * warps);
    for (int l = 0; l <= LAUNCHES; l++) {
      check(cudaMemset(rec, 0, host.size() * sizeof(Rec)));
      go();
      check(cudaDeviceSynchronize());
      check(cudaMemcpy(host.data(), rec, host.size() * sizeof(Rec), cudaMemcpyDeviceToHost));
      if (l) note();
    }
  };
  for (int k = 0; k < 4; k++)
    for (int rounds : {0, 64})
      for (int warps = 1; warps <= 32; warps *= 2)
        for (int resident = 1; resident <= 32 && resident * warps <= 64; resident *= 2) {
          if (!rounds && k != 2) continue;
          Samples begins, ends;
          int blocks = SMS * resident * 4, shared = SHARED / resident - 1024;
          measure(blocks, warps, [&] { kernels[k]<<<blocks, 32 * warps, shared>>>(rec, rounds); },
                  [&] { of_blocks(host, warps, k % 2 == 1, begins, ends); });
          printf("%s,%d,%d,%d,%d,%s,%s\n", names[k], warps, resident, blocks, rounds, joined(begins).c_str(),
                 joined(ends).c_str());
        }
  check(cudaFuncSetAttribute(refill, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  for (int quick : {1, 2, 4, 8, 16, 33, 66, 132})
    for (int warps : {1, 4, 16})
      for (int resident : {1, 4, 16}) {
        if (resident * warps > 64) continue;
        Samples begins;
        int blocks = SMS * resident + quick * 64, shared = SHARED / resident - 1024;
        measure(blocks, 1, [&] { refill<<<blocks, 32 * warps, shared>>>(rec, quick, 4000); },
                [&] { of_quick(host, begins); });
        printf("refill,%d,%d,%d,4000,%s,\n", warps, resident, quick, joined(begins).c_str());
      }
  for (int blocks : {1, 2, 4, 8, 16, 33, 66, 132})
    for (int warps = 1; warps <= 32; warps *= 2)
      for (int resident : {1, 2}) {
        if (resident == 2 && blocks != 132) continue;
        Samples stamps;
        int shared = SHARED / resident - 1024;
        measure(blocks * resident, warps, [&] { params<<<blocks * resident, 32 * warps, shared>>>(rec, Many()); },
                [&] { of_warps(host, stamps); });
        printf("params,%d,%d,%d,0,%s,\n", warps, resident, blocks * resident, joined(stamps).c_str());
      }
  return 0;
}
