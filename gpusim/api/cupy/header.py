"""CUDA C that element-wise and reduction kernels begin with: arrays with axes, the index of a loop, half precision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpusim.api.cupy.parameters import Letters, c_type

_INDEX = r"""
namespace gpusim {
template <int N>
struct Index {
    ptrdiff_t count, extent[N], place[N];
    __device__ ptrdiff_t size() const { return count; }
    __device__ const ptrdiff_t *shape() const { return extent; }
    __device__ const ptrdiff_t *get() const { return place; }
    __device__ void set(ptrdiff_t i) {
        if (N == 1) place[0] = i;
        else if (count <= 0x7fffffff) split(static_cast<unsigned>(i));
        else split(i);
    }
    template <typename Word>
    __device__ void split(Word rest) {
#pragma unroll
        for (int axis = N - 1; axis > 0; --axis) {
            const Word length = static_cast<Word>(extent[axis]), above = rest / length;
            place[axis] = rest - above * length;
            rest = above;
        }
        place[0] = rest;
    }
};
"""
_ARRAY = r"""
template <typename T, int N, bool Whole>
struct Array {
    static const int ndim = N;
    T *first;
    ptrdiff_t count, extent[N], step[N];
    __device__ ptrdiff_t size() const { return count; }
    __device__ const ptrdiff_t *shape() const { return extent; }
    __device__ const ptrdiff_t *strides() const { return step; }
    __device__ T &at(const ptrdiff_t *place) const {
        char *byte = reinterpret_cast<char *>(first);
#pragma unroll
        for (int axis = 0; axis < N; ++axis) byte += place[axis] * step[axis];
        return *reinterpret_cast<T *>(byte);
    }
    __device__ T &operator[](ptrdiff_t i) const {
        if (Whole) return first[i];
        Index<N> index;
        index.count = count;
#pragma unroll
        for (int axis = 0; axis < N; ++axis) index.extent[axis] = extent[axis];
        index.set(i);
        return at(index.place);
    }
    __device__ T &operator[](const Index<N> &index) const {
        return Whole && N == 1 ? first[index.place[0]] : at(index.place);
    }
    template <typename Word>
    __device__ T &operator[](const Word (&given)[N]) const {
        ptrdiff_t place[N];
#pragma unroll
        for (int axis = 0; axis < N; ++axis) place[axis] = given[axis];
        return at(place);
    }
};
}  // namespace gpusim
"""
_HALF = r"""
#include <cuda_fp16.h>
struct float16 {
    __half bits;
    float16() = default;
    __device__ float16(float value) : bits(__float2half(value)) {}
    __device__ operator float() const { return __half2float(bits); }
    __device__ float16 &operator+=(float value) { return *this = float16(*this + value); }
    __device__ float16 &operator-=(float value) { return *this = float16(*this - value); }
    __device__ float16 &operator*=(float value) { return *this = float16(*this * value); }
    __device__ float16 &operator/=(float value) { return *this = float16(*this / value); }
};
"""


def beginning(letters: Letters, used: Iterable[np.dtype[Any]]) -> str:
    """Return the text before a kernel and its preamble, with names for the types that letters stand for."""
    half = _HALF if np.dtype("float16") in set(used) else ""
    return "\n".join((half + _INDEX + _ARRAY, *(f"typedef {c_type(dtype)} {name};" for name, dtype in letters.items())))
