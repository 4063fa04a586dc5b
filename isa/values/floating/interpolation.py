"""The special function unit's interpolation: a quadratic polynomial for each interval, in whole numbers.

The form is that of Oberman and Siu (ARITH-17, 2005): the leading digits of the argument choose constant, slope and
curvature, the other 17 are x. The square of x lacks its low columns; sum and products are exact. Values count 2**-40.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.values.floating import function_tables as tables
from isa.values.lanes import as_i32, as_u32, as_u64, choose, narrow

Triple = tuple[int, int, int]
CONSTANT_UNIT = 1 << 14  # of the constants of all functions
# Of each function: its table, what is added to every constant, and the units of slopes and curvatures.
UNITS: tuple[tuple[Sequence[Triple], int, int, int], ...] = (
    (tables.RECIPROCAL, 4046, 1, 2),
    (tables.RECIPROCAL_ROOT, 16383, 1, 4),
    (tables.ROOT, 16383, 1, 2),
    (tables.LOGARITHM, 3348, 1, 4),
    (tables.EXPONENTIAL, 8072, 2, 4),
    (tables.SINE, 0, 1, 4),
    (tables.TANGENT, 0, 1, 4),
)
FIRST_ROWS = tuple(sum(len(one[0]) for one in UNITS[:count]) for count in range(len(UNITS)))
RECIPROCAL, RECIPROCAL_ROOT, ROOT, LOGARITHM, EXPONENTIAL, SINE, TANGENT = map(np.uint64, FIRST_ROWS)


def _column(place: int) -> NDArray[np.uint64]:
    """Return one coefficient of all rows of all functions, modulo 2**64."""
    found = []
    for table, more, slope, curvature in UNITS:
        unit, offset = (CONSTANT_UNIT, slope, curvature)[place], more if place == 0 else 0
        found += [unit * row[place] + offset for row in table]
    return np.array(found, np.int64).view(np.uint64)


CONSTANTS, SLOPES, CURVATURES = map(_column, range(3))
WHOLE = np.uint64(1 << 40)  # the value 1
DIGITS = np.uint64(0x1FFFF)  # of x
BITS = tuple(map(np.uint64, range(64)))
ONE, TWO, NONE = BITS[1], BITS[2], np.uint32(0)
OF_SINGLE, OF_DOUBLE = np.uint64(23), np.uint64(20)  # digits behind the point, of a double those in its upper word
SINGLE_SHIFT, DOUBLE_SHIFT = np.uint64(52 - 23), np.uint64(52 - 20)
SINGLE_BIAS = np.uint64((127 - 1023 - 40) % 2**64)
DOUBLE_BIAS = np.uint64(-40 % 2**64)
FRACTION, UPPER_FRACTION = np.uint64(0x7FFFFF), np.uint64(0xFFFFF)
INFINITY, UPPER_INFINITY = np.uint32(0x7F800000), np.uint32(0x7FF00000)


def interpolated(row: Any, x: Any) -> Any:
    """Return the value of a row of the tables at x."""
    return CONSTANTS[row] + SLOPES[row] * x + CURVATURES[row] * short_square(x)


def short_square(x: Any) -> Any:
    """Return the square of 17 bits in units of 2**19, without its columns below: 2**18 and less.

    Of the products of two bits those with places i + j of 18 and more are left, of the squares of bits those from
    the tenth on.
    """
    high, ninth = x >> BITS[10], (x >> BITS[9]) & ONE
    found = TWO * high * (high + ninth)
    for place in range(2, 9):
        found = found + ((x >> BITS[place]) & ONE) * (x >> BITS[18 - place])
    return found


def as_single(value: Any, exponent: Any) -> Any:
    """Return the pattern of value * 2**exponent: its first 24 digits; below the least normal single 0, above infinity.

    The double of a value is exact; the exponent is a signed number modulo 2**64.
    """
    double = as_u64(np.float64(value)) >> SINGLE_SHIFT
    power = as_i32(narrow((double >> OF_SINGLE) + exponent + SINGLE_BIAS))
    number = (as_u32(power) << np.uint32(23)) | narrow(double & FRACTION)
    return choose(power <= 0, NONE, choose(power >= 255, INFINITY, number))


def as_upper_word(value: Any, exponent: Any) -> Any:
    """Return the upper word of the double value * 2**exponent; below the least normal double 0, above infinity."""
    double = as_u64(np.float64(value)) >> DOUBLE_SHIFT
    power = as_i32(narrow((double >> OF_DOUBLE) + exponent + DOUBLE_BIAS))
    number = (as_u32(power) << np.uint32(20)) | narrow(double & UPPER_FRACTION)
    return choose(power <= 0, NONE, choose(power >= 2047, UPPER_INFINITY, number))


PARTS = (interpolated, short_square, as_single, as_upper_word)
