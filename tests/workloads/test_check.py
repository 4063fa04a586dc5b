from __future__ import annotations

import pytest

from isa.errors import UserError
from workloads.check import LARGEST_FACTOR, MOST, MOST_INSTRUCTIONS, counts, factors, fits, multiple, one_of


def test_a_value_below_the_minimum_is_refused_by_name():
    """The message has kernel, name, value and minimum; the minimum itself passes."""
    counts("chain", 1, warps=1)
    with pytest.raises(UserError, match="chain: warps=0 is too small; give 1 or more"):
        counts("chain", 1, length=5, warps=0)


def test_a_value_that_is_not_a_choice_is_refused_with_the_choices():
    """The message has kernel, name, value and all choices; a choice passes."""
    one_of("mix", "lds", 64, (32, 64))
    with pytest.raises(UserError, match="mix: lds=16 is not allowed; give one of 32, 64"):
        one_of("mix", "lds", 16, (32, 64))


def test_a_value_beyond_32_bits_is_refused_by_name():
    """The largest signed 32-bit integer passes, the next is refused with kernel, name and value."""
    counts("chain", 1, iterations=MOST)
    with pytest.raises(UserError, match="chain: iterations=2147483648 is too large; give 2147483647 or less"):
        counts("chain", 1, iterations=MOST + 1)


@pytest.mark.parametrize(("value", "nearest"), [(-8, 8), (0, 8), (7, 8), (11, 8), (12, 16)])
def test_a_value_that_is_no_multiple_is_refused_with_the_nearest(value, nearest):
    """Multiples pass; anything else is refused with kernel, name, value, rule and the nearest multiple."""
    multiple("sg4", "k", 8, 8)
    multiple("sg4", "k", 16, 8)
    rule = f"sg4: k={value} is not a positive multiple of 8 .two fours.; the nearest is {nearest}$"
    with pytest.raises(UserError, match=rule):
        multiple("sg4", "k", value, 8, "two fours")


def test_a_program_above_the_limit_is_refused_with_its_parameters():
    """A program of the limit's length passes; one more is refused with the parameters that make it and the limit."""
    fits("mix", MOST_INSTRUCTIONS, groups=1)
    with pytest.raises(UserError, match=r"mix: ratio=6:1 groups=9 makes 32769 instructions; give less, .* holds 32768"):
        fits("mix", MOST_INSTRUCTIONS + 1, ratio="6:1", groups=9)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1.1e30, -1e300])
def test_a_factor_that_is_not_finite_or_too_large_is_refused(value):
    """Both signs of the largest factor pass; NaN, infinities and anything larger are refused by name."""
    factors("sgemm-lai", alpha=LARGEST_FACTOR, beta=-LARGEST_FACTOR)
    with pytest.raises(UserError, match=r"sgemm-lai: beta=.* is out of range; give 1e.30 or less in magnitude"):
        factors("sgemm-lai", alpha=1.0, beta=value)
