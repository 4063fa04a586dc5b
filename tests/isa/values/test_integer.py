"""Integer results of machine code, against Python's own integers."""

from itertools import product

import numpy as np
import pytest

from isa.instruction import Instruction
from isa.nvidia.lowering.lower import lowered

WORD = 1 << 32


def of(text, a, b, carry):
    """Lower word and carry that a row gives of a, b, and a predicate that it reads."""
    form = lowered(text)
    words = (np.array([word], np.uint64) for word in (a, b, 0))
    truths, numbers = np.array([carry], np.uint32), np.array([Instruction(form.row, form.operands).number()], np.uint64)
    given = (*words, truths, numbers)
    return int(form.row.result(*given)[0]) % WORD, int(form.row.truth(*given)[0])


@pytest.mark.parametrize("unit", ["", "U"])
def test_a_shifted_sum_takes_a_carry_with_x(unit):
    """LEA.X adds the carry to b and the lower word of a shifted left; LEA has none, whatever P1 is (sm_86, sm_89)."""
    names = f"{unit}R5, {unit}R5, {unit}R11, 0x14"
    for a, b, carry in product((0, 1, 0xFFF, 0x1000, 0xFFFFFFFF), (0, 5, 0x80000000, 0xFFFFFFFF), (0, 1)):
        total = (a << 20) % WORD + b
        assert of(f"{unit}LEA.X {names}, {unit}P1", a, b, carry) == ((total + carry) % WORD, (total + carry) // WORD)
        assert of(f"{unit}LEA {names}", a, b, carry) == (total % WORD, total // WORD)


@pytest.mark.parametrize("unit", ["", "U"])
def test_a_minus_comes_after_the_shift(unit):
    """LEA R, P0, -a, b, n carries where b is not less than the lower word of a shifted left, of 0 too (H200)."""
    for a, b, n in product((0, 1, 0x80000, 0x80001, 0xFFFFFFFF), (0, 5, 0x80000000, 0xFFFFFFFF), (1, 13, 31)):
        shifted = (a << n) % WORD
        found = of(f"{unit}LEA {unit}R5, {unit}P0, -{unit}R5, {unit}R11, {n:#x}", WORD - a, b, 0)
        assert found == ((b - shifted) % WORD, b >= shifted)
