// Collectives of a warp under masks that differ from lane to lane.
// nvcc -cubin -arch=sm_80 -o masks_80.cubin masks.cu; the same for sm_90, and with -Xptxas=-O0 as masks_90_plain.cubin.

extern "C" __global__ void here(const unsigned *mask, const unsigned *x, unsigned *out) {
    unsigned t = threadIdx.x, m = mask[t], v = x[t];
    out[t] = __ballot_sync(m, v & 1);
    out[t + 32] = __match_any_sync(m, v);
    out[t + 64] = __reduce_add_sync(m, v);
    out[t + 96] = 2 * __any_sync(m, v == 3) + __all_sync(m, v < 6);
}

extern "C" __global__ void both(const unsigned *mask, const unsigned *x, unsigned *out) {
    unsigned t = threadIdx.x, m = mask[t], v = x[t], found = 7;
    if (t % 8 < 3)
        found = __ballot_sync(m, v & 1);
    else if (t % 8 < 7)
        found = __ballot_sync(m, v & 1) + 1;
    out[t] = found;
}
