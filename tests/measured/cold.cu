// What the first constants of a launch cost, and what comes behind them: 26 instructions are edited by cold.py.
//
//   nvcc 13.0.88: nvcc -std=c++17 -O3 -arch=sm_90 -cubin cold.cu    the base of the edited code (cold.cubin.xz)
//   nvcc -std=c++17 -O3 -arch=sm_90 cold.cu -o cold -lcuda          the program that runs it
//   python3 cold.py cold.cubin folder; ./cold folder                prints gpusim/published/h200_cold.csv
//
// A block on each of so many SMs. A row has each clock of the program, of the SM's first and its last warp, after the
// SM's first one: medians over SMs and seven launches, behind one that is not counted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>
#include <cuda.h>
typedef unsigned int u32;
const int CLOCKS = 24, LAUNCHES = 7;
__constant__ u32 table[4096];
struct Many { u32 v[512]; };
extern "C" __global__ void __launch_bounds__(1024) edited(u32 *out, Many many) {
  u32 t[CLOCKS];
#pragma unroll
  for (int i = 0; i < CLOCKS; i++) asm volatile("mov.u32 %0, %%clock;" : "=r"(t[i]) :: "memory");
  u32 n = many.v[300], w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0)
#pragma unroll
    for (int i = 0; i < CLOCKS; i++) out[w * CLOCKS + i] = t[i];
  if (n == 77) out[1] = table[n];  // never, which the compiler does not know
}
static void check(CUresult r) {
  if (r) { const char *t = ""; cuGetErrorString(r, &t); fprintf(stderr, "%s\n", t); exit(1); }
}
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : 0.5 * (v[v.size() / 2 - 1] + v[v.size() / 2]);
}
static void show(const std::vector<std::vector<double>> &of_places) {
  for (size_t j = 0; j < of_places.size(); j++) printf("%s%.0f", j ? " " : "", median(of_places[j]));
}
int main(int, char **names) {
  std::string folder = names[1], line;
  CUdevice device; CUcontext context; CUdeviceptr out;
  check(cuInit(0)); check(cuDeviceGet(&device, 0));
  check(cuDevicePrimaryCtxRetain(&context, device)); check(cuCtxSetCurrent(context)); check(cuMemAlloc(&out, 1 << 20));
  static Many many;
  std::ifstream list(folder + "/list");
  printf("program,sms,warps,first,last\n");
  while (std::getline(list, line)) {
    size_t a = line.find(';'), b = line.find(';', a + 1);
    std::string name = line.substr(a + 1, b - a - 1), rest = line.substr(b + 1);
    std::vector<int> places;
    for (size_t p = 0; p != std::string::npos; p = rest.find(' ', p + 1)) places.push_back(atoi(rest.c_str() + p));
    CUmodule module; CUfunction function;
    check(cuModuleLoad(&module, (folder + "/" + line.substr(0, a) + ".cubin").c_str()));
    check(cuModuleGetFunction(&function, module, "edited"));
    for (int sms : {1, 132}) for (int w : {1, 4, 8, 16, 32}) {
      void *arguments[] = {&out, &many};
      std::vector<std::vector<double>> first(places.size()), last(places.size());
      for (int k = 0; k <= LAUNCHES; k++) {
        check(cuLaunchKernel(function, sms, 1, 1, w * 32, 1, 1, 0, 0, arguments, nullptr));
        std::vector<u32> t(CLOCKS * w * sms);
        check(cuMemcpyDtoH(t.data(), out, t.size() * 4));
        for (int s = 0; k && s < sms; s++) {
          u32 *of_sm = &t[CLOCKS * w * s], start = of_sm[places[0]];
          for (int i = 0; i < w; i++) start = (int)(of_sm[CLOCKS * i + places[0]] - start) < 0 ? of_sm[CLOCKS * i + places[0]] : start;
          for (size_t j = 0; j < places.size(); j++) {
            std::vector<int> after;
            for (int i = 0; i < w; i++) after.push_back(of_sm[CLOCKS * i + places[j]] - start);
            first[j].push_back(*std::min_element(after.begin(), after.end()));
            last[j].push_back(*std::max_element(after.begin(), after.end()));
          }
        }
      }
      printf("\"%s\",%d,%d,", name.c_str(), sms, w);
      show(first); printf(","); show(last); printf("\n");
    }
    check(cuModuleUnload(module));
  }
}
