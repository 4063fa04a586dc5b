"""Products of a warpgroup with random descriptors: of 8-bit floats as an H200 made them, of bits as NumPy counts them.

A line of tests/data/h200_random_products.jsonl.xz (2026-11-29) has the descriptors, from the start of shared memory on,
whether C counts, and the CRC-32 of D: eight words of each thread. Shared memory held 64 KiB of bytes without NaN; what
D was before, and A where it is in registers, is in random_products.cu.
"""

import json
import lzma
import zlib

import numpy as np
import pytest
from draws import few
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.walks.program_order import walk

DATA = ROOT / "tests" / "data"
SEED, BEFORE, WORDS = 11, 81920, 16384  # of the Mersenne Twister, and how many numbers came before
ROWS = [
    json.loads(line)
    for line in lzma.decompress((DATA / "h200_random_products.jsonl.xz").read_bytes()).decode().splitlines()
]


def shared():
    """Return the words of shared memory: bytes above 0x77, but for their sign, lose their lower half."""
    raw = np.random.RandomState(SEED)._bit_generator.random_raw(BEFORE + WORDS)[BEFORE:]
    held = raw.astype(np.uint32).view(np.uint8)
    return np.where((held & 0x7F) > 0x77, held & 0xF0, held).astype(np.uint8).view(np.uint32)


def products(name, words, cases, kind):
    """Return D of each case, by thread, as a kernel leaves it in program order."""
    given = words, np.array(cases, np.uint64).reshape(-1), np.int32(len(cases)), np.zeros(1024 * len(cases), kind)
    made = module("random_products", DATA).get_function(name).launched((1,), (128,), given, shared_mem=4 * WORDS)
    return result(walk(made).memory, made, 4, kind).reshape(len(cases), 128, 8)


@pytest.mark.every
@pytest.mark.parametrize("name", ["e4m3_e5m2", "e4m3_e4m3"])
def test_small_floats_are_the_chips(name):
    """Starts, distances, swizzles and base offsets at random, A in shared memory and in registers: to the bit."""
    rows = few([row for row in ROWS if row["kernel"] == name], 6)
    cases = [(int(row["a"], 16), int(row["b"], 16), row["scale"]) for row in rows]
    found = products(name, shared(), cases, np.uint32)
    assert [zlib.crc32(one.tobytes()) for one in found] == [row["seen"] for row in rows]


def plain(start, leading, stride):
    """Return the descriptor of an operand whose rows of 16 bytes lie in groups of eight."""
    return start // 16 | leading // 16 << 16 | stride // 16 << 32


def rows_of(held, count, start, leading, stride):
    """Return the bits of as many rows of 32 bytes that such a descriptor names."""
    places = [
        [start + row // 8 * stride + row % 8 * 16 + half * leading + byte for half in (0, 1) for byte in range(16)]
        for row in range(count)
    ]
    return np.unpackbits(held[places], axis=1)


@pytest.mark.parametrize("name", ["bits", "bits_rs"])
def test_bits_in_common_are_counted(name):
    """BGMMA adds to C how many of 256 bits a row of A and a column of B both have."""
    words = np.random.default_rng(1).integers(0, 1 << 32, WORDS, np.uint64).astype(np.uint32)
    held, a, b = words.view(np.uint8), (0x400, 0x800, 0x100), (0x6000, 0x90, 0x130)
    of_a, of_b = rows_of(held, 64, *a), rows_of(held, 16, *b)
    if name == "bits_rs":  # lane l of a warp has words l % 4 and l % 4 + 4 of rows l / 4 and l / 4 + 8
        rows = np.zeros((64, 8), np.uint32)
        for thread, four in enumerate(words[:512].reshape(128, 4)):
            row, word = thread // 32 * 16 + thread % 32 // 4, thread % 4
            rows[row, word], rows[row + 8, word], rows[row, word + 4], rows[row + 8, word + 4] = four
        of_a = np.unpackbits(rows.view(np.uint8), axis=1)
    common = of_a.astype(np.int32) @ of_b.T.astype(np.int32)
    cases = [(plain(*a), plain(*b), scale) for scale in (0, 1)]
    for scale, found in enumerate(products(name, words, cases, np.int32)):
        for thread in range(128):
            row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
            for i in range(8):
                c = scale * (thread % 7 + i % 5)
                assert found[thread, i] == common[row + 8 * (i // 2 % 2), column + i % 2 + 8 * (i // 4)] + c
