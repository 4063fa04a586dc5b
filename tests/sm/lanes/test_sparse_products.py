"""Sparse products that ptxas 13 makes of others for sm_90: they leave what the PTX ISA says of the instruction itself.

So the words that say which numbers A has are taken as the compiler takes them, of 16, 8 and 4 bits (data/sparse.cu).
"""

import matrix_exact
import numpy as np
import pytest
from matrix_exact import ADDING
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.walks.program_order import walk

CASES = {"e4m3_e5m2": ("QMMA.SP.16864.F32.E4M3.E5M2", 0), "s4_u4": ("IMMA.SP.16864.S4.U4", 1)}
CASES |= {"u4_s4": ("IMMA.SP.168128.U4.S4", 0)}
NIBBLES = np.array([0x4, 0x8, 0x9, 0xC, 0xD, 0xE], np.uint32)  # two places of four, in order
SMALL = {"e4m3": (0, 0x38, 0x40, 0x44, 0xB8, 0xC0), "e5m2": (0, 0x3C, 0x40, 0x42, 0xBC, 0xC0)}  # 0, 1, 2, 3, -1, -2


@pytest.mark.every
@pytest.mark.parametrize("name", CASES)
def test_what_a_compiler_makes_of_it_is_the_product(name):
    """Sums of whole numbers are exact, however they are taken apart."""
    (mnemonic, selector), random = CASES[name], np.random.default_rng(1)
    kind = matrix_exact.kind_of(mnemonic)
    words = random.integers(0, 1 << 32, (32, 13), np.uint64).astype(np.uint32)
    if kind.result == "f32":
        for place, of in ((0, kind.types[0]), (4, kind.types[1])):
            words[:, place : place + 4] = random.choice(np.array(SMALL[of], np.uint8), (32, 16)).view(np.uint32)
        words[:, 8:12] = random.integers(-9, 9, (32, 4)).astype(np.float32).view(np.uint32)
    chosen = random.choice(NIBBLES, (32, 8)) << np.arange(0, 32, 4, dtype=np.uint32)
    words[:, 12] = chosen.sum(1, dtype=np.uint32)
    out = np.zeros(128, np.float32 if kind.result == "f32" else np.int32)
    code = module("sparse", ROOT / "tests" / "data")
    made = code.get_function(name).launched((1,), (32,), (words.reshape(-1), out))
    found = result(walk(made).memory, made, 2, np.uint32).reshape(32, 4).T
    count = kind.rows * kind.numbers * matrix_exact.bits_of(kind.types[0]) // 1024
    of_a = np.vstack([words[:, :count].T, words[:, 12]])
    expected = matrix_exact.multiplied(mnemonic, of_a, words[:, 4:8].T, words[:, 8:12].T, ADDING[90], selector)
    assert np.array_equal(found, expected)
