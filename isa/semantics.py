"""Value functions: what each instruction computes, per lane, on bit patterns.

`value(a, b, c)` takes and gives uint32 patterns (uint64 at width 64), as NumPy arrays of any shape or as scalars; a
comparison gives bool. Each function is one expression over operators, a few NumPy functions and the primitives of
`isa.lanes`, so that an engine can compile the same source. Where a 32-bit operation may be carried out in 64 bits, the
caller keeps the low 32 of the result; inside, `as_u32` cuts a computed integer before it is shifted right or compared.

Floating point is IEEE 754 to nearest even, with denormals. A NaN result is always the one quiet NaN that CUDA's
math_constants.h names: 0x7FFFFFFF single, 0xFFF8000000000000 double. NumPy's warnings (overflow, division by zero) are
the caller's to silence, once around a run: `with np.errstate(all="ignore")`.
"""

# ruff: noqa: ARG001  (every value function takes a, b and c; few need all three)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.lanes import as_f32, as_f64, as_i32, as_u32, as_u64, choose, fma32, fma64, narrow, widen

# A comparison is true if the relation between its operands is one of its code.
LT, EQ, GT, UNORDERED = 1, 2, 4, 8

NAN32 = np.uint32(0x7FFFFFFF)
NAN64 = np.uint64(0xFFF8000000000000)
ZERO = np.uint32(0)
WORD = np.uint32(32)
LAST = np.uint32(31)
HALF = np.uint64(32)
ONE = np.float64(1.0)


def ffma(a: Any, b: Any, c: Any) -> Any:
    """Single a b + c, rounded once."""
    r = fma32(as_f32(a), as_f32(b), as_f32(c))
    return choose(np.isnan(r), NAN32, as_u32(r))


def fadd(a: Any, b: Any, c: Any) -> Any:
    """Single a + b."""
    r = as_f32(a) + as_f32(b)
    return choose(np.isnan(r), NAN32, as_u32(r))


def fmul(a: Any, b: Any, c: Any) -> Any:
    """Single a b."""
    r = as_f32(a) * as_f32(b)
    return choose(np.isnan(r), NAN32, as_u32(r))


def fmnmx(a: Any, b: Any, c: Any) -> Any:
    """Single minimum where c is 1, maximum where 0; a NaN loses to a number, and -0 is below +0."""
    x, y = as_f32(a), as_f32(b)
    a_below = (x < y) | ((x == y) & (as_i32(a) < 0))
    a_above = (x > y) | ((x == y) & (as_i32(b) < 0))
    take_a = np.isnan(y) | choose(c != ZERO, a_below, a_above)
    return choose(np.isnan(x) & np.isnan(y), NAN32, choose(take_a, a, b))


def dfma(a: Any, b: Any, c: Any) -> Any:
    """Double a b + c, rounded once."""
    r = fma64(as_f64(a), as_f64(b), as_f64(c))
    return choose(np.isnan(r), NAN64, as_u64(r))


def dadd(a: Any, b: Any, c: Any) -> Any:
    """Double a + b."""
    r = as_f64(a) + as_f64(b)
    return choose(np.isnan(r), NAN64, as_u64(r))


def dmul(a: Any, b: Any, c: Any) -> Any:
    """Double a b."""
    r = as_f64(a) * as_f64(b)
    return choose(np.isnan(r), NAN64, as_u64(r))


def iadd(a: Any, b: Any, c: Any) -> Any:
    """Sum, modulo 2**32."""
    return a + b


def imad(a: Any, b: Any, c: Any) -> Any:
    """Product a b plus c, modulo 2**32."""
    return a * b + c


def imul(a: Any, b: Any, c: Any) -> Any:
    """Product, modulo 2**32."""
    return a * b


def imul_high(a: Any, b: Any, c: Any) -> Any:
    """Upper 32 bits of the signed 64-bit product: those of the unsigned one less what each sign bit weighs in it."""
    high = narrow((widen(a) * widen(b)) >> HALF)
    return high - choose(as_i32(a) < 0, b, ZERO) - choose(as_i32(b) < 0, a, ZERO)


def imnmx(a: Any, b: Any, c: Any) -> Any:
    """Signed minimum where c is 1, maximum where 0."""
    return choose((as_i32(a) < as_i32(b)) == (c != ZERO), a, b)


def shl(a: Any, b: Any, c: Any) -> Any:
    """Left shift of a by b; 0 from 32 on."""
    return choose(b < WORD, as_u32(a << (b & LAST)), ZERO)


def shr(a: Any, b: Any, c: Any) -> Any:
    """Arithmetic right shift of a by b; all sign bits from 32 on."""
    return as_u32(as_i32(a) >> as_i32(choose(b < WORD, b, LAST)))


def shr_u32(a: Any, b: Any, c: Any) -> Any:
    """Logical right shift of a by b; 0 from 32 on."""
    return choose(b < WORD, as_u32(a >> (b & LAST)), ZERO)


def lop_and(a: Any, b: Any, c: Any) -> Any:
    """Bitwise and."""
    return a & b


def lop_or(a: Any, b: Any, c: Any) -> Any:
    """Bitwise or."""
    return a | b


def lop_xor(a: Any, b: Any, c: Any) -> Any:
    """Bitwise exclusive or."""
    return a ^ b


def mov(a: Any, b: Any, c: Any) -> Any:
    """Pattern a itself."""
    return a


def sel(a: Any, b: Any, c: Any) -> Any:
    """Pattern a where c is 1, b where 0."""
    return choose(c != ZERO, a, b)


def icompare(a: Any, b: Any, c: Any) -> Any:
    """Is the signed relation of a to b one of the code c? bool."""
    x, y = as_i32(a), as_i32(b)
    return (((c & LT) != 0) & (x < y)) | (((c & EQ) != 0) & (x == y)) | (((c & GT) != 0) & (x > y))


def ucompare(a: Any, b: Any, c: Any) -> Any:
    """Is the unsigned relation of a to b one of the code c? bool."""
    return (((c & LT) != 0) & (a < b)) | (((c & EQ) != 0) & (a == b)) | (((c & GT) != 0) & (a > b))


def fcompare(a: Any, b: Any, c: Any) -> Any:
    """Is the single relation of a to b (unordered if one is a NaN) one of the code c? bool."""
    x, y = as_f32(a), as_f32(b)
    ordered = (((c & LT) != 0) & (x < y)) | (((c & EQ) != 0) & (x == y)) | (((c & GT) != 0) & (x > y))
    return ordered | (((c & UNORDERED) != 0) & (np.isnan(x) | np.isnan(y)))


# MUFU: the double library function rounded to single, so more exact than the hardware's table and interpolation
# (Oberman and Siu, ARITH-17, 2005), whose last bits no vendor documents.


def mufu_rcp(a: Any, b: Any, c: Any) -> Any:
    """Single 1 / a."""
    r = np.float32(np.divide(ONE, np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_rsq(a: Any, b: Any, c: Any) -> Any:
    """Single 1 / sqrt(a)."""
    r = np.float32(np.divide(ONE, np.sqrt(np.float64(as_f32(a)))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_lg2(a: Any, b: Any, c: Any) -> Any:
    """Single base-2 logarithm of a."""
    r = np.float32(np.log2(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_ex2(a: Any, b: Any, c: Any) -> Any:
    """Single 2 to the power a."""
    r = np.float32(np.exp2(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_sin(a: Any, b: Any, c: Any) -> Any:
    """Single sine of a in radians (the hardware's separate range reduction included)."""
    r = np.float32(np.sin(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_cos(a: Any, b: Any, c: Any) -> Any:
    """Single cosine of a in radians (the hardware's separate range reduction included)."""
    r = np.float32(np.cos(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))
