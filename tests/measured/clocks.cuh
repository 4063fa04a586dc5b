// The clock of a warp and the number of its SM, as timed programs read them.
#pragma once
typedef unsigned int u32;
typedef long long i64;

__device__ __forceinline__ i64 clk() {
  i64 c;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c) :: "memory");
  return c;
}
__device__ __forceinline__ u32 sm_id() {
  u32 s;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
  return s;
}
// The clock, read after x is there. No result is ever that number, which the compiler does not know.
__device__ __forceinline__ i64 clk_after(u32 x) {
  asm volatile("" : "+r"(x) :: "memory");
  return clk() + (x == 0x12345679);
}
__device__ __forceinline__ i64 clk_after(float &x) {
  asm volatile("" : "+f"(x) :: "memory");
  return clk() + (__float_as_int(x) == 0x7f123456);
}
