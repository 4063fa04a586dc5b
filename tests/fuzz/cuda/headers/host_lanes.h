// A block for g++: a fiber for each thread; those of a warp meet in collectives, those of a block at its barriers.
#pragma once
#include <ucontext.h>
#include <vector>
struct Place { u32 x, y, z; };
enum Kind { NONE, BARRIER, BARRIER_OR, BARRIER_COUNT, SYNC, BALLOT, SHUFFLE, MATCH_ANY, MATCH_ALL, ADD, MIN_S, MIN_U, MAX_S, MAX_U, AND, OR, XOR };
struct Lane { ucontext_t context; std::vector<char> stack; Place thread; Kind kind; u32 mask; u64 value, result; u32 from; bool done; };
static std::vector<Lane> lanes; static Lane *now; static ucontext_t scheduler; static Place blockIdx, blockDim, gridDim; static void (*body)();
#define threadIdx (now->thread)

static u64 meet(Kind kind, u32 mask, u64 value, u32 from) {
  Lane *me = now; me->kind = kind; me->mask = mask; me->value = value; me->from = from;
  swapcontext(&me->context, &scheduler);
  return me->result;
}
static u64 folded(Kind k, u64 a, u64 b) {
  u32 x = (u32)a, y = (u32)b;
  switch (k) { case ADD: return x + y; case MIN_S: return (i32)x < (i32)y ? x : y; case MIN_U: return x < y ? x : y; case MAX_S: return (i32)x > (i32)y ? x : y;
    case MAX_U: return x > y ? x : y; case AND: return x & y; case OR: return x | y; default: return x ^ y; }
}
static void complete(Lane *warp, u32 mask, Kind kind) {  // all lanes of the mask are there
  u64 all = 0; bool first = true, same = true; u64 one = 0; u32 ballot = 0;
  for (int i = 0; i < 32; i++) if (mask >> i & 1u) {
    Lane &l = warp[i]; ballot |= l.value ? 1u << i : 0u; same &= first || l.value == one;
    one = first ? l.value : one; all = first ? l.value : folded(kind, all, l.value); first = false;
  }
  std::vector<u64> values(32); for (int i = 0; i < 32; i++) if (mask >> i & 1u) values[i] = warp[i].value;
  for (int i = 0; i < 32; i++) if (mask >> i & 1u) {
    Lane &l = warp[i]; u32 equal = 0;
    for (int k = 0; k < 32; k++) equal |= (mask >> k & 1u) && values[k] == l.value ? 1u << k : 0u;
    if (kind == SHUFFLE && !(mask >> l.from & 1u)) { fprintf(stderr, "a shuffle from lane %u, which is not in %08x\n", l.from, mask); abort(); }
    l.result = kind == BALLOT ? ballot : kind == SHUFFLE ? values[l.from] : kind == MATCH_ANY ? equal : kind == MATCH_ALL ? (same ? mask : 0u) : all;
    l.kind = NONE;
  }
}
static bool barrier() {  // of the block: all threads that are left
  u64 n = 0; size_t there = 0, left = 0;
  for (Lane &l : lanes) if (!l.done) { left++; if (l.kind >= BARRIER && l.kind <= BARRIER_COUNT) there++, n += l.value != 0; }
  if (!left || there < left) return false;
  for (Lane &l : lanes) if (!l.done) { l.result = l.kind == BARRIER_OR ? n != 0 : n; l.kind = NONE; }
  return true;
}
static bool meeting(size_t first) {
  for (size_t i = first; i < first + 32 && i < lanes.size(); i++) {
    Lane &l = lanes[i]; if (l.done || l.kind < SYNC) continue;
    bool ready = true;
    for (u32 k = 0; k < 32; k++) if (l.mask >> k & 1u) ready &= first + k < lanes.size() && !lanes[first + k].done && lanes[first + k].kind == l.kind && lanes[first + k].mask == l.mask;
    if (ready) { complete(&lanes[first], l.mask, l.kind); return true; }
  }
  return false;
}
static void begin() { body(); now->done = true; swapcontext(&now->context, &scheduler); }
static void run_block(void (*kernel)(), u32 bx, u32 by) {
  body = kernel; lanes.clear(); lanes.resize(bx * by); blockDim = {bx, by, 1};
  for (u32 i = 0; i < bx * by; i++) {
    Lane &l = lanes[i]; l.thread = {i % bx, i / bx, 0}; l.kind = NONE; l.done = false; l.stack.resize(1 << 17);
    getcontext(&l.context); l.context.uc_stack.ss_sp = l.stack.data(); l.context.uc_stack.ss_size = l.stack.size(); l.context.uc_link = nullptr;
    makecontext(&l.context, begin, 0);
  }
  for (;;) {
    bool ran = false, left = false;
    for (Lane &l : lanes) if (!l.done && l.kind == NONE) { now = &l; swapcontext(&scheduler, &l.context); ran = true; }
    for (size_t i = 0; i < lanes.size(); i += 32) while (meeting(i)) ran = true;
    ran |= barrier();
    for (Lane &l : lanes) left |= !l.done;
    if (!left) return;
    if (!ran) { fprintf(stderr, "lanes wait for each other\n"); abort(); }
  }
}

static void __syncthreads() { meet(BARRIER, 0, 0, 0); }
static int __syncthreads_or(int p) { return (int)meet(BARRIER_OR, 0, p != 0, 0); }
static int __syncthreads_count(int p) { return (int)meet(BARRIER_COUNT, 0, p != 0, 0); }
static void __syncwarp(u32 m) { meet(SYNC, m, 0, 0); }
static u32 __ballot_sync(u32 m, bool p) { return (u32)meet(BALLOT, m, p, 0); }
static int __any_sync(u32 m, bool p) { return __ballot_sync(m, p) != 0; }
static int __all_sync(u32 m, bool p) { return __ballot_sync(m, p) == m; }
template <class T> static u32 __match_any_sync(u32 m, T v) { u64 w = 0; memcpy(&w, &v, sizeof v); return (u32)meet(MATCH_ANY, m, w, 0); }
template <class T> static u32 __match_all_sync(u32 m, T v, int *p) { u64 w = 0; memcpy(&w, &v, sizeof v); u32 r = (u32)meet(MATCH_ALL, m, w, 0); *p = r != 0; return r; }
static u32 lane_id() { return (threadIdx.y * blockDim.x + threadIdx.x) & 31u; }
template <class T> static T shuffle(u32 m, T v, u32 from) { u64 w = 0; memcpy(&w, &v, sizeof v); w = meet(SHUFFLE, m, w, from); T r; memcpy(&r, &w, sizeof r); return r; }
template <class T> static T __shfl_sync(u32 m, T v, int n, int w = 32) { return shuffle(m, v, (lane_id() & ~(u32)(w - 1)) | ((u32)n & (u32)(w - 1))); }
template <class T> static T __shfl_up_sync(u32 m, T v, u32 n, int w = 32) { int k = (int)(lane_id() & (u32)(w - 1)); return shuffle(m, v, k < (int)n ? lane_id() : lane_id() - n); }
template <class T> static T __shfl_down_sync(u32 m, T v, u32 n, int w = 32) { int k = (int)(lane_id() & (u32)(w - 1)); return shuffle(m, v, k + (int)n >= w ? lane_id() : lane_id() + n); }
template <class T> static T __shfl_xor_sync(u32 m, T v, int n, int w = 32) { u32 k = lane_id() ^ (u32)n; return shuffle(m, v, k / (u32)w > lane_id() / (u32)w ? lane_id() : k); }
template <class T> static T RADD(u32 m, T v) { return (T)meet(ADD, m, (u32)v, 0); }
template <class T> static T RMIN(u32 m, T v) { return (T)meet((T)-1 < (T)0 ? MIN_S : MIN_U, m, (u32)v, 0); }
template <class T> static T RMAX(u32 m, T v) { return (T)meet((T)-1 < (T)0 ? MAX_S : MAX_U, m, (u32)v, 0); }
static u32 RAND(u32 m, u32 v) { return (u32)meet(AND, m, v, 0); }
static u32 ROR(u32 m, u32 v) { return (u32)meet(OR, m, v, 0); }
static u32 RXOR(u32 m, u32 v) { return (u32)meet(XOR, m, v, 0); }

#define ATOMIC(N, E) template <class T> static T N(T *p, T v) { T o = *p; *p = E; return o; }
ATOMIC(atomicAdd, (T)(o + v)) ATOMIC(atomicSub, (T)(o - v)) ATOMIC(atomicMin, o < v ? o : v) ATOMIC(atomicMax, o > v ? o : v) ATOMIC(atomicAnd, o &v) ATOMIC(atomicOr, o | v) ATOMIC(atomicXor, o ^ v) ATOMIC(atomicExch, v)
static u32 atomicInc(u32 *p, u32 v) { u32 o = *p; *p = o >= v ? 0 : o + 1; return o; }
static u32 atomicDec(u32 *p, u32 v) { u32 o = *p; *p = o == 0 || o > v ? v : o - 1; return o; }
template <class T> static T atomicCAS(T *p, T c, T v) { T o = *p; if (o == c) *p = v; return o; }
static void __threadfence() {} static void __threadfence_block() {}
