"""Bit patterns of numbers, for the strategies: random ones rarely meet the special ones, which are drawn on purpose."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np

SINGLE_CASES = (
    0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x40490FDB,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x7FC00000, 0xFFC00001, 0x7F800001,
)  # fmt: skip
DOUBLE_CASES = (
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
    0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
    0x7FF0000000000000, 0xFFF0000000000000, 0xFFF8000000000000, 0x7FF8000000000000, 0x7FF0000000000001,
)  # fmt: skip


def patterns32() -> st.SearchStrategy[int]:
    """32-bit patterns: any, short mantissas (products that end halfway), and the special singles."""
    short = st.builds(lambda high, low: high << 11 | low, st.integers(0, 2**21 - 1), st.sampled_from((0, 1, 1024)))
    return st.integers(0, 2**32 - 1) | short | st.sampled_from(SINGLE_CASES)


def patterns64() -> st.SearchStrategy[int]:
    """64-bit patterns: any, short mantissas, and the special doubles."""
    short = st.integers(0, 2**38 - 1).map(lambda high: high << 26)
    return st.integers(0, 2**64 - 1) | short | st.sampled_from(DOUBLE_CASES)


def cancelling(width: int) -> st.SearchStrategy[tuple[int, int, int]]:
    """Patterns a, b, c where c is the rounded -a b, or up to three steps from it, so that the sum cancels."""
    dtype, bits = (np.float32, np.uint32) if width == 32 else (np.float64, np.uint64)

    def opposite(a: int, b: int, steps: int) -> tuple[int, int, int]:
        with np.errstate(all="ignore"):
            product = np.array(-(bits(a).view(dtype) * bits(b).view(dtype)), dtype)
        return a, b, (int(product.view(bits)) + steps) % (1 << width)

    source = patterns32() if width == 32 else patterns64()
    return st.builds(opposite, source, source, st.integers(-3, 3))


def halfway(width: int) -> st.SearchStrategy[tuple[int, int, int]]:
    """Patterns a, b, c where a b is a hair less than half the last place of c: rounding the sum twice gets it wrong."""
    dtype, bits, places = (np.float32, np.uint32, (12, 23)) if width == 32 else (np.float64, np.uint64, (27, 52))

    def hair(c: int, k: int, sign: int) -> tuple[int, int, int]:
        place = int(np.frexp(np.float64(np.spacing(np.abs(bits(c).view(dtype)))))[1]) - 2  # half of it is 2**place
        a = np.ldexp(dtype(sign * (1 + 2.0**-k)), place // 2).astype(dtype)
        b = np.ldexp(dtype(1 - 2.0**-k), place - place // 2).astype(dtype)
        return int(a.view(bits)), int(b.view(bits)), c

    mantissa = np.finfo(dtype).nmant
    largest = np.finfo(dtype).maxexp - 2
    exponents = st.integers(0, 2 * largest) | st.integers(largest - 20, largest + 20)
    finite = st.builds(lambda e, m: e << mantissa | m, exponents, st.integers(0, 2**mantissa - 1))
    return st.builds(hair, finite, st.integers(*places), st.sampled_from((1, -1)))
