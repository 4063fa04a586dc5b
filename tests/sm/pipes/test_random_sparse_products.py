"""Sparse products of a warpgroup with random descriptors and places, as an H200 made them (2026-11-30).

tests/data/h200_sparse_products.npz.xz has for each kernel of sparse_products.cu descriptors from the start of shared
memory on, whether C counts, each thread's word of places, which of ten inputs shared memory held, and the CRC-32 of D.
"""

import io
import lzma
import zlib
from functools import cache

import numpy as np
import pytest
from draws import few
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.walks.program_order import walk
from gpusim.sm.jit.rule import COMPILED

DATA = ROOT / "tests" / "data"
SEED, WORDS = 23, 16384  # of the Mersenne Twister; of shared memory
KERNELS = (
    *("h_00", "h_00s1", "h_01", "h_10", "hneg", "hr_0", "b_10", "t_", "t_s1", "tr_", "s_", "su_", "sr_", "ee", "er_"),
)
WHOLE = frozenset({"s_", "su_", "sr_"})


@cache
def recorded():
    """Return the arrays of the file."""
    with np.load(io.BytesIO(lzma.decompress((DATA / "h200_sparse_products.npz.xz").read_bytes()))) as file:
        return {key: file[key] for key in file.files}


@cache
def inputs():
    """Return the ten inputs: halves, bfloats, TF32, bytes and 8-bit floats, small whole numbers and others of each."""
    bits = np.random.RandomState(SEED)._bit_generator
    return [one for kind in range(5) for one in (words_of(bits, kind, small=True), words_of(bits, kind, small=False))]


def words_of(bits, kind, *, small):
    """Return the words of an input, from random words in order."""
    if kind == 3:
        return bits.random_raw(WORDS).astype(np.uint32) & np.uint32(0x07070707 if small else 0xFFFFFFFF)
    if kind == 4:
        given = bits.random_raw(8 * WORDS).reshape(-1, 2)
        size = 0x30 + given[:, 0] % 8 * 4 if small else 0x28 + given[:, 0] % 32
        return (size | (given[:, 1] & 1) << 7).astype(np.uint8).view(np.uint32)
    numbers = numbers_of(bits, WORDS * (1 if kind == 2 else 2), small=small)
    if kind == 0:
        return cut(numbers)
    words = numbers.astype(np.float32).view(np.uint32)
    return words if kind == 2 else words.view(np.uint16)[1::2].copy().view(np.uint32)


def numbers_of(bits, count, *, small):
    """Return random numbers: whole ones, or of 12 bits with powers from -2 to 2."""
    if small:
        return bits.random_raw(count).astype(np.int64) % 17 - 8.0
    given = bits.random_raw(3 * count).astype(np.int64).reshape(-1, 3)
    return (1 + given[:, 0] % 4096 / 4096) * 2.0 ** (given[:, 1] % 5 - 2) * np.where(given[:, 2] & 1, 1, -1)


def cut(numbers):
    """Return numbers as halves, cut to ten digits of fraction."""
    fraction, power = np.frexp(numbers)
    return np.ldexp(np.trunc(fraction * 2048), power - 11).astype(np.float16).view(np.uint32)


@pytest.mark.every
@pytest.mark.parametrize("name", KERNELS)
def test_products_are_the_chips(name):
    """All swizzles, along k and turned, A in shared memory and in registers, the sums of random numbers: to the bit."""
    held = {key: recorded()[f"{name}_{key}"] for key in ("cases", "places", "input", "seen")}
    kernel, kind = module("sparse_products", DATA).get_function(name), np.int32 if name in WHOLE else np.float32
    for n in few(range(len(held["seen"])), 3 if COMPILED else 1):
        given = inputs()[held["input"][n]], held["cases"][n], held["places"][n], np.int32(1), np.zeros(1024, kind)
        made = kernel.launched((1,), (128,), given, shared_mem=4 * WORDS)
        assert zlib.crc32(result(walk(made).memory, made, 5, kind).tobytes()) == held["seen"][n]
