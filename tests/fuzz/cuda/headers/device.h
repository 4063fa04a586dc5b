// What only the CUDA compiler has: instructions of PTX without a function in C.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#define SAID(...) (u32)printf(__VA_ARGS__)
#define OP static __device__ __forceinline__
#define FN static __device__ __noinline__
typedef __half hh; typedef __nv_bfloat16 bb; typedef __half2 h2; typedef __nv_bfloat162 b2;
#define ASM2(N, ins) OP u32 N(u32 a, u32 b) { u32 r; asm(ins " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
#define ASM3(N, ins) OP u32 N(u32 a, u32 b, u32 c) { u32 r; asm(ins " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
ASM3(bfe_u, "bfe.u32") ASM3(bfe_s, "bfe.s32")
OP u64 bfe_q(u64 a, u32 b, u32 c) { u64 r; asm("bfe.u64 %0, %1, %2, %3;" : "=l"(r) : "l"(a), "r"(b), "r"(c)); return r; }
OP u64 bfe_l(u64 a, u32 b, u32 c) { u64 r; asm("bfe.s64 %0, %1, %2, %3;" : "=l"(r) : "l"(a), "r"(b), "r"(c)); return r; }
OP u32 bfi(u32 a, u32 b, u32 c, u32 d) { u32 r; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
template <int L> OP u32 lop3(u32 a, u32 b, u32 c) { u32 r; asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(L)); return r; }
ASM3(prmt_f4e, "prmt.b32.f4e") ASM3(prmt_b4e, "prmt.b32.b4e") ASM3(prmt_rc8, "prmt.b32.rc8")
ASM3(prmt_ecl, "prmt.b32.ecl") ASM3(prmt_ecr, "prmt.b32.ecr") ASM3(prmt_rc16, "prmt.b32.rc16")
ASM2(bmsk_clamp, "bmsk.clamp.b32") ASM2(bmsk_wrap, "bmsk.wrap.b32")
// Two operands that ptxas 13 makes wrong code of before sm_90, from -O1 on. SGXT gets a length of constant memory in a bank
// that no launch has (of c[0x3][0x24], c[0x9][0x30]: the offset's words as the bank). VABSDIFF4 of a uniform register, UR12,
// reads R12 (opcode 0x215). What threadIdx.z, 0, changes for all that ptxas knows is in a register of each thread.
#if __CUDA_ARCH__ < 900
#define OF_THREAD(b) ((b) ^ threadIdx.z)
#else
#define OF_THREAD(b) (b)
#endif
#define __vabsdiffs4(a, b) __vabsdiffs4(a, OF_THREAD(b))
#define __vabsdiffu4(a, b) __vabsdiffu4(a, OF_THREAD(b))
#define __vsads4(a, b) __vsads4(a, OF_THREAD(b))
#define __vsadu4(a, b) __vsadu4(a, OF_THREAD(b))
#define SZEXT(N, ins) OP u32 N(u32 a, u32 b) { u32 r; asm(ins " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(OF_THREAD(b))); return r; }
// What cicc 13 makes wrong code of; it does not see what asm returns. ceil(2.5e300), as of every constant beyond 63 bits, is
// -2**63. The lower word of the upper half of (a:b) + (c:d) loses the carry where all four are the same. A comparison of
// signed halves is one of unsigned ones where the second comes of an unsigned difference. x + INT_MIN of signed numbers,
// as in __viaddmax_s32, is x | INT_MIN: C leaves an overflow undefined.
OP double unknown(double a) { asm("" : "+d"(a)); return a; }
OP u64 unknown(u64 a) { asm("" : "+l"(a)); return a; }
OP u32 unknown(u32 a) { asm("" : "+r"(a)); return a; }
OP int unknown(int a) { asm("" : "+r"(a)); return a; }
#define __viaddmax_s32(a, b, c) __viaddmax_s32(unknown(a), unknown(b), c)
#define __viaddmin_s32(a, b, c) __viaddmin_s32(unknown(a), unknown(b), c)
#define __viaddmax_s32_relu(a, b, c) __viaddmax_s32_relu(unknown(a), unknown(b), c)
#define __viaddmin_s32_relu(a, b, c) __viaddmin_s32_relu(unknown(a), unknown(b), c)
#define ceil(a) ceil(unknown(a))
SZEXT(szext_clamp_u, "szext.clamp.u32") SZEXT(szext_wrap_s, "szext.wrap.s32")
OP u32 bfind_u(u32 a) { u32 r; asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
OP u32 bfind_s(u32 a) { u32 r; asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
OP u32 bfind_shift(u32 a) { u32 r; asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
OP u32 bfind_l(u64 a) { u32 r; asm("bfind.s64 %0, %1;" : "=r"(r) : "l"(a)); return r; }
OP u32 mad24_hi(u32 a, u32 b, u32 c) { u32 r; asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 mad_hi_s(u32 a, u32 b, u32 c) { u32 r; asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 mad_hi_sat(u32 a, u32 b, u32 c) { u32 r; asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 add_sat(u32 a, u32 b) { u32 r; asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 sub_sat(u32 a, u32 b) { u32 r; asm("sub.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 carry3(u32 a, u32 b, u32 c, u32 d) { u32 r, s; asm("{ add.cc.u32 %0, %2, %3; addc.cc.u32 %1, %4, %5; addc.u32 %0, %0, %1; }" : "=&r"(r), "=&r"(s) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
OP u32 borrow3(u32 a, u32 b, u32 c, u32 d) { u32 r, s; asm("{ sub.cc.u32 %0, %2, %3; subc.cc.u32 %1, %4, %5; subc.u32 %0, %0, %1; }" : "=&r"(r), "=&r"(s) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
OP u32 madc(u32 a, u32 b, u32 c, u32 d) { u32 r, s; asm("{ mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5; xor.b32 %0, %0, %1; }" : "=&r"(r), "=&r"(s) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
OP u32 dp2a_su(u32 a, u32 b, u32 c) { u32 r; asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 dp4a_us(u32 a, u32 b, u32 c) { u32 r; asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 slct_f(u32 a, u32 b, float c) { u32 r; asm("slct.u32.f32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "f"(c)); return r; }
OP u32 set_ltu(float a, float b) { u32 r; asm("set.ltu.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(a), "f"(b)); return r; }
OP u32 cnot(u32 a) { u32 r; asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
OP u32 sat_s8(i32 a) { i32 r; asm("{ .reg .s8 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "r"(a)); return (u32)r; }
OP u32 sat_u8(i32 a) { u32 r; asm("{ .reg .u8 t; cvt.sat.u8.s32 t, %1; cvt.u32.u8 %0, t; }" : "=r"(r) : "r"(a)); return r; }
OP u32 sat_s16(i64 a) { i32 r; asm("{ .reg .s16 t; cvt.sat.s16.s64 t, %1; cvt.s32.s16 %0, t; }" : "=r"(r) : "l"(a)); return (u32)r; }
OP u32 sat_u16(u32 a) { u32 r; asm("{ .reg .u16 t; cvt.sat.u16.u32 t, %1; cvt.u32.u16 %0, t; }" : "=r"(r) : "r"(a)); return r; }
OP u32 sat_s32(i64 a) { u32 r; asm("cvt.sat.s32.s64 %0, %1;" : "=r"(r) : "l"(a)); return r; }
OP u32 sat_u32(i64 a) { u32 r; asm("cvt.sat.u32.s64 %0, %1;" : "=r"(r) : "l"(a)); return r; }
OP u32 f2u8(float a) { u32 r; asm("{ .reg .u8 t; cvt.rni.u8.f32 t, %1; cvt.u32.u8 %0, t; }" : "=r"(r) : "f"(a)); return r; }
OP u32 f2s8(float a) { i32 r; asm("{ .reg .s8 t; cvt.rzi.s8.f32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "f"(a)); return (u32)r; }
OP u32 f2s16(float a) { i32 r; asm("{ .reg .s16 t; cvt.rmi.s16.f32 t, %1; cvt.s32.s16 %0, t; }" : "=r"(r) : "f"(a)); return (u32)r; }
OP u32 d2u16(double a) { u32 r; asm("{ .reg .u16 t; cvt.rpi.u16.f64 t, %1; cvt.u32.u16 %0, t; }" : "=r"(r) : "d"(a)); return r; }
OP u32 pack_s16(i32 a, i32 b) { u32 r; asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 pack_u8(i32 a, i32 b, u32 c) { u32 r; asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP float fsat(float a, float b) { float r; asm("add.rn.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
OP float fmsat(float a, float b, float c) { float r; asm("fma.rz.sat.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
OP float fadd_ftz(float a, float b) { float r; asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
OP float fmul_ftz(float a, float b) { float r; asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
ASM2(vadd_sat, "vadd.s32.u32.s32.sat") ASM3(vmad_hb, "vmad.s32.s32.s32.shr7")
OP u32 vadd_b(u32 a, u32 b) { u32 r; asm("vadd.u32.u32.s32 %0, %1.b1, %2.h1;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 vsub_h(u32 a, u32 b) { u32 r; asm("vsub.s32.s32.s32.sat %0, %1.h0, %2.b3;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 vabs_b(u32 a, u32 b, u32 c) { u32 r; asm("vabsdiff.u32.u32.u32.add %0, %1.b2, %2.b0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 vmax_b(u32 a, u32 b, u32 c) { u32 r; asm("vmax.s32.s32.s32.min %0, %1.b3, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 vset_b(u32 a, u32 b, u32 c) { u32 r; asm("vset.u32.s32.lt.add %0, %1.b0, %2.b2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
OP u32 vshl_w(u32 a, u32 b) { u32 r; asm("vshl.u32.u32.u32.wrap %0, %1.h1, %2.b0;" : "=r"(r) : "r"(a), "r"(b)); return r; }
OP u32 vmad_b(u32 a, u32 b, u32 c) { u32 r; asm("vmad.u32.u32.u32 %0, %1.b1, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
#if __CUDA_ARCH__ >= 800
#define RADD(m, v) __reduce_add_sync(m, v)
#define RMIN(m, v) __reduce_min_sync(m, v)
#define RMAX(m, v) __reduce_max_sync(m, v)
#define RAND(m, v) __reduce_and_sync(m, v)
#define ROR(m, v) __reduce_or_sync(m, v)
#define RXOR(m, v) __reduce_xor_sync(m, v)
#else
#define REDUCE(N, I, E) template <class T> OP T N(u32 m, T v) { T r = (T)(I); for (int i = 0; i < 32; i++) if (m >> i & 1) { T x = __shfl_sync(m, v, i); r = E; } return r; }
REDUCE(RADD, 0, r + x) REDUCE(RMIN, (T)-1 < 0 ? 0x7fffffffu : 0xffffffffu, x < r ? x : r) REDUCE(RMAX, (T)-1 < 0 ? 0x80000000u : 0u, x > r ? x : r)
REDUCE(RAND, ~0u, r & x) REDUCE(ROR, 0, r | x) REDUCE(RXOR, 0, r ^ x)
#endif
