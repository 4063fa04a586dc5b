"""Sparse products of a warpgroup, against the definition of the PTX ISA ("Sparse wgmma"), in whole numbers.

The words of places are those of a warp's sparse product: of numbers of 16 and 32 bits two lanes of four have them.
"""

import numpy as np
import pytest
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load

DATA = ROOT / "tests" / "data"
WORDS = 16384  # of shared memory
A, B = (0x400, 0x80, 0x100), (0x6000, 0x90, 0x250)  # start, from one block of 16 bytes to the next, of 8 rows
TWO_OF_FOUR = np.array([0x4, 0x8, 0x9, 0xC, 0xD, 0xE])  # in order, in two bits each
ONE_OF_TWO = np.array([0x4, 0xE])  # its upper or its lower half, in four bits
KINDS = {  # numbers as stored, their values, a lane's first one, and bits of a word for a row
    "h_00": (np.arange(-8, 9).astype(np.float16), 0, 16),
    "h_00s1": (np.arange(-8, 9).astype(np.float16), 2, 16),
    "t_": (np.arange(-8, 9).astype(np.float32), 0, 16),
    "t_s1": (np.arange(-8, 9).astype(np.float32), 2, 16),
    "s_": (np.arange(-128, 128).astype(np.int8), 0, 32),
}


def descriptor(start, along, stride):
    """Return the descriptor of an operand whose rows of 16 bytes lie in groups of eight."""
    return start // 16 | along // 16 << 16 | stride // 16 << 32


def rows_of(held, kind, count, nbytes, start, along, stride):
    """Return the numbers of as many rows of some bytes that such a descriptor names."""
    along_row = [block * along + byte for block in range(nbytes // 16) for byte in range(16)]
    places = [[start + row // 8 * stride + row % 8 * 16 + at for at in along_row] for row in range(count)]
    return np.ascontiguousarray(held[places]).view(kind).astype(np.int64)


def nibble_of(places, row, number, first, bits):
    """Return the four bits for one group of numbers of a row of 64, from the words of 128 lanes."""
    lane, within = row // 16 * 32 + row % 8 * 4, row % 16 // 8
    if bits == 16:
        return int(places[lane + first + number // 4]) >> (16 * within + 4 * (number % 4)) & 15
    return int(places[lane + 2 * (number // 8) + within]) >> 4 * (number % 8) & 15


def product(a, b, places, kind):
    """Return the sum over each number of A with that of B at its place, of four of which A has two (of two, one)."""
    of, first, bits = kind
    single = of.dtype.itemsize == 4
    total = np.zeros((64, 16), np.int64)
    for row in range(64):
        for k in range(a.shape[1]):
            nibble = nibble_of(places, row, k if single else k // 2, first, bits)
            at = 2 * k + (nibble >> 1 & 1) if single else 4 * (k // 2) + (nibble >> 2 * (k % 2) & 3)
            total[row] += a[row, k] * b[:, at]
    return total


def by_thread(matrix):
    """Return a result of 64 rows and 16 columns by thread: lane l has columns 2 (l % 4) of rows l / 4 and 8 below."""
    thread, i = np.arange(128)[:, None], np.arange(8)
    return matrix[thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8, thread % 4 * 2 + i % 2 + i // 4 * 8]


def case(name):
    """Return a launch of one product and its result."""
    rng, kind = np.random.default_rng(3), KINDS[name]
    stored = rng.choice(kind[0], 4 * WORDS // kind[0].dtype.itemsize)
    nibbles = rng.choice(ONE_OF_TWO if kind[0].dtype.itemsize == 4 else TWO_OF_FOUR, (128, 8))
    places = (nibbles << np.arange(0, 32, 4)).sum(1).astype(np.uint32)
    held = stored.view(np.uint8)
    a, b = rows_of(held, kind[0].dtype, 64, 32, *A), rows_of(held, kind[0].dtype, 16, 64, *B)
    before = np.arange(128)[:, None] % 7 + np.arange(8) % 5
    given = np.array([descriptor(*A), descriptor(*B), 1], np.uint64)
    out = np.zeros(1024, np.int32 if name == "s_" else np.float32)
    code = module("sparse_products", DATA).get_function(name)
    made = code.launched((1,), (128,), (stored.view(np.uint32), given, places, np.int32(1), out), shared_mem=4 * WORDS)
    return made, by_thread(product(a, b, places, kind)) + before, out.dtype


@pytest.mark.every
@pytest.mark.parametrize("name", KINDS)
def test_each_number_of_a_meets_that_of_b_at_its_place(name):
    """All lanes' results in program order."""
    made, expected, kind = case(name)
    assert (result(walk(made).memory, made, 5, kind).reshape(128, 8) == expected).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_compute_the_same(engine):
    """So do both engines, when the product is there."""
    made, expected, kind = case("h_00")
    ran = run_sm(made, load("h200", {"chip.sms": 1}), engine=engine)
    assert (result(ran.memory, made, 5, kind).reshape(128, 8) == expected).all()


@pytest.mark.every
@pytest.mark.jit
@pytest.mark.parametrize(("name", "chip"), [("pace_64", 48.67), ("pace_128", 81.68), ("pace_rs", 65.54)])
def test_products_follow_each_other_as_on_the_chip(name, chip):
    """Every 16 + N/2 cycles, as a column of B has 64 bytes; with A in registers N/2: within 2.5 % of an H200.

    The cycles here are those of the last 64 of 128 products. Those of the chip are of 128, and of the two or three
    before them that were not done when the clock was read first: 0.7 to 1.7 cycles for each of the 128. Here up to
    seven are not done then, as on the chip of products that are not sparse.
    """
    paced, cycles = module("sparse_products", DATA).get_function(name), []
    for count in (10, 18):
        out = np.zeros(1, np.float32)
        paced((1,), (128,), (np.int32(count), out), shared_mem=4 * WORDS, machine="h200")
        cycles.append(float(out[0]) * 8 * (count - 2))
    assert (cycles[1] - cycles[0]) / (8 * (18 - 10)) == pytest.approx(chip, rel=0.025)
