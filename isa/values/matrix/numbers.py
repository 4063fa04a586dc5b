"""Numbers of matrices as significand and exponent: a pattern is significand 2**(exponent - fraction bits).

A significand is a whole number with the sign, as a single; an exponent is that of the pattern, and of a subnormal the
least one of normal numbers. Zeros, infinities and NaN have exponents of their own, which no number has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isa.values.lanes import as_f32, choose

N, U = np.int32, np.uint32
NONE = N(-1200)  # exponent of a zero: no sum of two exponents comes near any
INFINITE, NAN = N(1 << 20), N(1 << 21)


class Format(NamedTuple):
    """A kind of floating-point number."""

    exponent: int  # bits
    fraction: int  # bits
    finite: bool = False  # no infinities; a NaN has all bits set

    @property
    def bias(self) -> int:
        """What the exponent's bits have above the exponent."""
        return (1 << (self.exponent - 1)) - 1


def significand(pattern: Any, exponent_bits: int, fraction_bits: int) -> Any:
    """Return the significand, with the sign; of an infinity or a NaN some number that is not zero."""
    fraction = N(pattern & U((1 << fraction_bits) - 1))
    normal = U(U(pattern >> U(fraction_bits)) & U((1 << exponent_bits) - 1)) != U(0)
    whole = choose(normal, N(fraction | N(1 << fraction_bits)), fraction)
    signed = choose(U(U(pattern >> U(exponent_bits + fraction_bits)) & U(1)) != U(0), N(-whole), N(whole))
    return np.float32(signed)


def value(pattern: Any, exponent_bits: int, fraction_bits: int) -> Any:
    """Return a number of at most five bits of exponent; of an infinity or a NaN some other with its sign, not zero."""
    bits = exponent_bits + fraction_bits
    magnitude = U(U(pattern & U((1 << bits) - 1)) << U(23 - fraction_bits))
    sign = U(U(pattern << U(31 - bits)) & U(1 << 31))
    return np.float32(as_f32(U(magnitude | sign)) * np.float32(2.0 ** (128 - (1 << (exponent_bits - 1)))))


def exponent(pattern: Any, exponent_bits: int, fraction_bits: int, finite: int) -> Any:
    """Return the exponent; NONE of a zero, INFINITE or NAN of what is no number."""
    magnitude = U(pattern & U((1 << (exponent_bits + fraction_bits)) - 1))
    field = N(magnitude >> U(fraction_bits))
    infinity = U(((1 << exponent_bits) - 1) << fraction_bits)
    last = U((1 << (exponent_bits + fraction_bits)) - 1)
    found = choose(magnitude == U(0), NONE, N(max(field, N(1)) - N((1 << (exponent_bits - 1)) - 1)))
    special = choose(magnitude == infinity, INFINITE, NAN)
    bad = ((magnitude == last) & (finite == 1)) | ((magnitude >= infinity) & (finite == 0))
    return choose(bad, choose(finite != 0, NAN, special), found)


INLINED = (significand, value, exponent)
