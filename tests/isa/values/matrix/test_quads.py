"""HMMA.884, products of 8 x 8 x 4 by eight lanes each: PTX's fragments of mma.m8n8k4, and exact sums.

No chip that has it was at hand: how four terms and C are added is what sm_75 does in its larger instructions.
"""

from itertools import product

import numpy as np
import pytest
from matrix_exact import ADDING, Kind, added

from isa.architecture import nvidia
from isa.nvidia.lowering.lower import lowered

SUMS = nvidia(75).sums.packed
LAYOUTS = list(product((("F16", "F16"), ("F32", "F16"), ("F32", "F32")), ("ROW", "COL"), ("ROW", "COL")))


def lanes():
    """Yield each lane with its product, and the first of the four rows or columns that it has to do with."""
    for lane in range(32):
        yield lane, lane % 16 // 4, 4 * (lane // 16)


def operand(matrix, by_row):
    """Return the registers of A, of [product, row, k] as halves; of B with columns in the place of rows."""
    words = np.zeros((32, 4), np.uint16)
    for lane, quad, first in lanes():
        for i in range(4):
            row, k = (first + lane % 4, i) if by_row else (first + i, lane % 4)
            words[lane, i] = matrix[quad, row, k]
    return words.view(np.uint32).T.copy()


def places(of):
    """Yield lane, number and element of C or D."""
    for lane, quad, first in lanes():
        for i in range(8):
            if of == "F16":
                yield lane, i, (quad, first + lane % 4, i)
            else:
                yield lane, i, (quad, first + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1))


def registers_of(matrix, of):
    """Return the registers of C, eight singles or halves of each lane."""
    words = np.zeros((32, 8), np.uint16 if of == "F16" else np.uint32)
    for lane, i, at in places(of):
        words[lane, i] = matrix[at]
    return words.view(np.uint32).T.copy()


def stepped(kinds, layouts, a, b, c):
    """Return the registers of D after all steps, as a compiler writes them: each gives two."""
    result, addend = kinds
    every, count = np.ones(32, bool), 4 if result == "F32" else 2
    found = []
    for step in range(count):
        form = lowered(f"HMMA.884.{result}.{addend}.STEP{step} R4, R8.{layouts[0]}, R10.{layouts[1]}, R12")
        first = 2 * (step // 2 if kinds == ("F32", "F16") else step)
        found.append(form.row.across(a, b, c[first : first + 2], every, SUMS))
    return np.vstack(found)


@pytest.mark.parametrize(("kinds", "first", "second"), LAYOUTS)
def test_steps_make_exact_sums(kinds, first, second):
    """Halves of any bits in one product, of like sizes in the others: each element is cut and rounded once."""
    random = np.random.default_rng(5)
    of_a = random.normal(0, 4, (4, 8, 4)).astype(np.float16).view(np.uint16)
    of_b = random.normal(0, 4, (4, 8, 4)).astype(np.float16).view(np.uint16)
    of_a[0], of_b[0] = random.integers(0, 1 << 16, (2, 8, 4))
    half = random.normal(0, 16, (4, 8, 8)).astype(np.float16)
    half[1, 0] = [0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8, -5e-6, 65504]
    addend = half.view(np.uint16) if kinds[1] == "F16" else half.astype(np.float32).view(np.uint32)
    a, b = operand(of_a, first == "ROW"), operand(of_b, second == "COL")
    found = stepped(kinds, (first, second), a, b, registers_of(addend, kinds[1]))
    held = found.T.copy().view(np.uint16 if kinds[0] == "F16" else np.uint32)
    name = "half" if kinds[0] == "F16" else "f32"
    pattern = half.view(np.uint16) if name == "half" else half.astype(np.float32).view(np.uint32)
    for lane, i, (quad, row, column) in places(kinds[0]):
        terms = of_a[quad, row].tolist(), of_b[quad, column].tolist(), int(pattern[quad, row, column])
        assert held[lane, i] == added(Kind(8, 4, ("half", "half"), name), *terms, ADDING[75]), (lane, i)
