// Atomics of 128 bits: nvcc -cubin -arch=sm_90. A line is 16 bytes; thread i of one warp has {3 i + 1, 5 i + 2}.

#define EXCHANGE(space, place, kind)                                                                        \
    asm volatile("{.reg .b128 x, y; mov.b128 x, {%2, %3}; atom." space "exch.b128 y, [%4], x;"              \
                 "mov.b128 {%0, %1}, y;}" : "=l"(old.x), "=l"(old.y) : "l"(a), "l"(b), kind(place) : "memory")
#define SWAP(space, place, kind, c, d, e, f)                                                                \
    asm volatile("{.reg .b128 x, y, z; mov.b128 x, {%2, %3}; mov.b128 z, {%5, %6};"                         \
                 "atom." space "cas.b128 y, [%4], x, z; mov.b128 {%0, %1}, y;}"                             \
                 : "=l"(old.x), "=l"(old.y) : "l"(c), "l"(d), kind(place), "l"(e), "l"(f) : "memory")

typedef unsigned long long Half;

extern "C" __global__ void exchange(ulonglong2 *lines, ulonglong2 *out) {
    int i = threadIdx.x;
    Half a = 3 * i + 1, b = 5 * i + 2;
    ulonglong2 old;
    EXCHANGE("global.", lines + i % 7, "l");
    out[i] = old;
}

// Thread i puts {i + 1, 7} in the place of {i, 7}: one after the other do, from {0, 7} on.
extern "C" __global__ void swap(ulonglong2 *lines, ulonglong2 *out) {
    Half i = threadIdx.x, seven = 7;
    ulonglong2 old;
    SWAP("global.", lines, "l", i, seven, i + 1, seven);
    out[i] = old;
}

// In shared memory: an exchange, then what was found there is put back if the thread's own line is still there.
extern "C" __global__ void shared(ulonglong2 *out) {
    __shared__ ulonglong2 lines[4];
    int i = threadIdx.x;
    if (i < 4) lines[i] = make_ulonglong2(100 + i, 200 + i);
    __syncthreads();
    Half a = 3 * i + 1, b = 5 * i + 2;
    ulonglong2 old;
    unsigned place = (unsigned)__cvta_generic_to_shared(lines + i % 4);
    EXCHANGE("shared.", place, "r");
    out[i] = old;
    SWAP("shared.", place, "r", a, b, old.x, old.y);
    out[32 + i] = old;
    __syncthreads();
    if (i < 4) out[64 + i] = lines[i];
}

// Odd threads in shared memory, even ones in global memory.
extern "C" __global__ void either(ulonglong2 *lines, ulonglong2 *out) {
    __shared__ ulonglong2 near[4];
    int i = threadIdx.x;
    if (i < 4) near[i] = make_ulonglong2(100 + i, 200 + i);
    __syncthreads();
    Half a = 3 * i + 1, b = 5 * i + 2;
    ulonglong2 old;
    EXCHANGE("", i % 2 ? near + i % 4 : lines + i % 7, "l");
    out[i] = old;
}
