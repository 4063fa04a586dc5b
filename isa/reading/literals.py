"""Numbers in text: exact conversion between literals and bit patterns."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from isa.values.semantics import NAN32, NAN64

INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|\d+)")
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PATTERN = {32: re.compile(r"0[fF]([0-9a-fA-F]{8})"), 64: re.compile(r"0[dD]([0-9a-fA-F]{16})")}
MOST = 2**31 - 1  # of anything counted: sizes are signed 32-bit integers on the machine
MOST_DIGITS = 100  # of an integer literal; its value needs 10 to 20
CANONICAL_NAN = {32: int(NAN32), 64: int(NAN64)}


def is_integer(text: str) -> bool:
    """Tell whether the text is an integer literal: decimal or 0x, with or without a sign."""
    return INTEGER.fullmatch(text) is not None


def integer(text: str) -> int:
    """Return the value of an integer literal; raises ValueError."""
    if not is_integer(text):
        raise ValueError(f"{text!r} is not an integer; write a decimal or 0x number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:MOST_DIGITS]}... has {len(text)} digits; write {MOST_DIGITS} at most")
    return int(text, 16 if "x" in text.lower() else 10)


def integer_bits(text: str, width: int = 32) -> int:
    """Return the two's-complement pattern, `width` bits, of an integer literal; ValueError with cause and fix."""
    value = integer(text)
    if not -(1 << (width - 1)) <= value < 1 << width:
        raise ValueError(f"{text} does not fit {width} bits; write {-(1 << (width - 1))} to {(1 << width) - 1}")
    return value & ((1 << width) - 1)


def real_bits(text: str, width: int = 32) -> int:
    """Return the IEEE pattern, `width` bits, of a literal with point or exponent, of inf or nan, or of a hex pattern.

    A decimal is rounded once, to nearest even; a pattern is 0f and 8, or 0d and 16 digits, as in PTX. Raises
    ValueError with cause and fix.
    """
    if pattern := PATTERN[width].fullmatch(text):
        return int(pattern[1], 16)
    sign, magnitude = (1 << (width - 1) if text.startswith("-") else 0), text.lstrip("+-").lower()
    if magnitude == "nan":
        return CANONICAL_NAN[width] ^ sign
    if magnitude == "inf":
        return _bits(np.float64(np.inf), width) | sign
    if is_integer(text) or not DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is not a floating-point number; write one with a point or exponent, inf or nan")
    return _rounded(magnitude, width) | sign


def show_integer(bits: int, width: int = 32) -> str:
    """Return the signed decimal literal of a pattern; `integer_bits` reads it back."""
    return str(bits - (1 << width) if bits >> (width - 1) else bits)


def show_real(bits: int, width: int = 32) -> str:
    """Return the shortest literal of an IEEE pattern; `real_bits` reads it back."""
    value = np.uint32(bits).view(np.float32) if width == 32 else np.uint64(bits).view(np.float64)
    if not np.isnan(value):
        return str(value)
    if bits == CANONICAL_NAN[width]:
        return "nan"
    return f"0f{bits:08x}" if width == 32 else f"0d{bits:016x}"


def _rounded(magnitude: str, width: int) -> int:
    value = np.float64(magnitude)
    if width == 32 and np.isfinite(value):
        value = _towards(value, Fraction(magnitude) if value else Fraction(0))
    with np.errstate(over="ignore"):
        bits = _bits(value, width)
    if bits == _bits(np.float64(np.inf), width):
        raise ValueError(f"{magnitude} is beyond the {width}-bit range; write inf if that is meant")
    return bits


def _towards(value: np.float64, exact: Fraction) -> np.float64:
    # Rounded to odd, the double then rounds to the same single as the exact value.
    pattern, error = int(value.view(np.uint64)), exact - Fraction(float(value))
    if error and pattern % 2 == 0:
        pattern += 1 if error > 0 else -1
    return np.float64(np.uint64(pattern).view(np.float64))


def _bits(value: np.float64, width: int) -> int:
    return int(np.float32(value).view(np.uint32)) if width == 32 else int(value.view(np.uint64))
