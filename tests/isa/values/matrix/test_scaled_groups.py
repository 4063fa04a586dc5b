"""Scaled numbers of 4 bits: sums worked by hand, in which the order of cutting and the bits kept decide."""

import numpy as np
import pytest

from isa.architecture import nvidia
from isa.table import machine_row

NUMBERS = {0.5: 1, 1: 2, 4: 6, 6: 7, -6: 15}  # patterns of E2M1


def element(of, by_k, scales):
    """Return the float at row 0, column 0 of a dense product: A's and B's numbers by k, C, scales of each 32 k."""
    row = machine_row("OMMA.SF.16864.F32.E2M1.E2M1.E8")
    a, b, c = (np.zeros((row.words_of(x) + 1, 1, 32), np.uint32) for x in "abc")
    for k, numbers in by_k.items():
        for words, number in zip((a, b), numbers, strict=True):
            words[2 * (k // 32) if words is a else k // 32, 0, k % 32 // 8] |= NUMBERS[number] << 4 * (k % 8)
    c[0, 0, 0] = np.float32(of).view(np.uint32)
    a[-1], b[-1] = scales[0] + 127 | scales[1] + 127 << 8, 127 | 127 << 8
    n = np.uint64(nvidia(120).sums.packed)
    with np.errstate(all="ignore"):
        found = row.across(a, b, c, np.ones((1, 32), np.bool_), n)
    return found[0, 0].view(np.float32)[0]


@pytest.mark.parametrize(
    ("c", "by_k", "scales", "expected"),
    [
        # 2**30 - 2**30 + 1: the 1 is 30 bits below the largest, so 35 bits keep it and 25 would not
        (-(2.0**30), {0: (1, 1), 32: (1, 1)}, (30, 0), 1.0),
        (-(2.0**35), {0: (1, 1), 32: (1, 1)}, (35, 0), 1.0),
        # at 36 bits below it is cut
        (-(2.0**36), {0: (1, 1), 32: (1, 1)}, (36, 0), 0.0),
        # two halves: their group's sum of 1 is cut, not each of them; 16 k further on each is a term of its own
        (-(2.0**35), {0: (1, 1), 32: (0.5, 1), 47: (0.5, 1)}, (35, 0), 1.0),
        (-(2.0**35), {0: (1, 1), 32: (0.5, 1), 48: (0.5, 1)}, (35, 0), 0.0),
        # the largest exponent is that of scales, 36, and not that of 36 times 2**36: in steps of 2 the 2 stays
        (0.0, {0: (6, 6), 16: (-6, 6), 32: (4, 0.5)}, (36, 0), 2.0),
    ],
)
def test_a_sum_keeps_35_bits_of_groups_of_sixteen(c, by_k, scales, expected):
    """Products of sixteen k are added before anything is cut; then 35 bits below the largest scales or C are kept."""
    assert element(c, by_k, scales) == expected
