"""Value functions of the instructions, per lane, on bit patterns.

`value(a, b, c)` takes and gives uint32 patterns (uint64 at width 64; a conversion takes one and gives the other), as
NumPy arrays of any shape or as scalars; a comparison gives bool. Each function is an expression over operators, a few
NumPy functions, the primitives of `isa.values.lanes` and the PARTS below, so that an engine can compile the same
source. If a 32-bit operation is done in 64 bits, the caller keeps the low 32 of the result; inside, `as_u32` cuts a
computed integer before it is shifted right or compared.

Floating point is IEEE 754 to nearest even, with denormals. A NaN result is always the one quiet NaN that CUDA's
math_constants.h names, 0x7FFFFFFF; of halves 0x7FFF, as in the PTX ISA. Double arithmetic gives the NaN of an operand,
made quiet, else 0xFFF8000000000000; conversions between the two keep a NaN's upper digits (both as on an H200). The
caller silences NumPy's warnings (overflow, division by zero), once around a run: `with np.errstate(all="ignore")`.
"""

# ruff: noqa: ARG001  (every value function takes a, b and c; few need all three)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_f64, as_i32, as_u32, as_u64, choose, fma16, fma32, fma64, narrow, widen

# A comparison is true if the relation between its operands is one of those in its code.
LT, EQ, GT, UNORDERED = 1, 2, 4, 8
# GCN's names of relations; then of its scalar comparisons; then of singles, for which LG is false with a NaN.
RELATIONS = {"LT": LT, "EQ": EQ, "LE": LT | EQ, "GT": GT, "NE": LT | GT, "GE": GT | EQ}
SCALAR_RELATIONS = {"LG" if name == "NE" else name: code for name, code in RELATIONS.items()}
ORDERED_RELATIONS = SCALAR_RELATIONS | {"NEQ": LT | GT | UNORDERED}

NAN32 = np.uint32(0x7FFFFFFF)
NAN64 = np.uint64(0xFFF8000000000000)
QUIET64 = np.uint64(1 << 51)
QUIET_NAN32, QUIET_NAN64 = np.uint64(0x7FC00000), np.uint64(0x7FF8000000000000)
SIGN32, DIGITS32 = np.uint64(0x80000000), np.uint64(0x007FFFFF)
ZERO, ZERO64 = np.uint32(0), np.uint64(0)
WORD = np.uint32(32)
LAST = np.uint32(31)
HALF = np.uint64(32)
ONE = np.float64(1.0)
ALL = np.uint32(0xFFFFFFFF)
ONE16 = np.uint32(0x3C00)  # halves: 1 and -0
MINUS_ZERO16 = np.uint32(0x8000)
LOWEST, HIGHEST = np.float64(-(2**31)), np.float64(2**31 - 1)


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


def fmad(a: Any, b: Any, c: Any) -> Any:
    """Single a b + c, the product rounded before the sum (GCN's multiply-add; denormals are kept here)."""
    r = as_f32(a) * as_f32(b) + as_f32(c)
    return choose(np.isnan(r), NAN32, as_u32(r))


def fmnmx(a: Any, b: Any, c: Any) -> Any:
    """Single minimum where c is 1, maximum where 0; a number is preferred to a NaN, and -0 is below +0."""
    x, y = as_f32(a), as_f32(b)
    a_below = (x < y) | ((x == y) & (as_i32(a) < 0))
    a_above = (x > y) | ((x == y) & (as_i32(b) < 0))
    take_a = np.isnan(y) | choose(c != ZERO, a_below, a_above)
    return choose(np.isnan(x) & np.isnan(y), NAN32, choose(take_a, a, b))


def dfma(a: Any, b: Any, c: Any) -> Any:
    """Double a b + c, rounded once."""
    r = fma64(as_f64(a), as_f64(b), as_f64(c))
    return choose(np.isnan(r), nan_of(a, b, c), as_u64(r))


def dadd(a: Any, b: Any, c: Any) -> Any:
    """Double a + b."""
    r = as_f64(a) + as_f64(b)
    return choose(np.isnan(r), nan_of(a, b, ZERO64), as_u64(r))


def dmul(a: Any, b: Any, c: Any) -> Any:
    """Double a b."""
    r = as_f64(a) * as_f64(b)
    return choose(np.isnan(r), nan_of(a, b, ZERO64), as_u64(r))


def nan_of(a: Any, b: Any, c: Any) -> Any:
    """Return the NaN that three doubles give: b if it is one, else c, else a, made quiet; NAN64 if none is one."""
    of_a = choose(np.isnan(as_f64(a)), a | QUIET64, NAN64)
    return choose(np.isnan(as_f64(b)), b | QUIET64, choose(np.isnan(as_f64(c)), c | QUIET64, of_a))


def iadd(a: Any, b: Any, c: Any) -> Any:
    """Sum, modulo 2**32."""
    return a + b


def isub(a: Any, b: Any, c: Any) -> Any:
    """Difference a - b, modulo 2**32."""
    return a - b


def imad(a: Any, b: Any, c: Any) -> Any:
    """Product a b plus c, modulo 2**32."""
    return a * b + c


def imul(a: Any, b: Any, c: Any) -> Any:
    """Product, modulo 2**32."""
    return a * b


def imul_high(a: Any, b: Any, c: Any) -> Any:
    """Upper 32 bits of the signed 64-bit product: those of the unsigned one less the weight of each sign bit."""
    high = narrow((widen(a) * widen(b)) >> HALF)
    return high - choose(as_i32(a) < 0, b, ZERO) - choose(as_i32(b) < 0, a, ZERO)


def iadd3(a: Any, b: Any, c: Any) -> Any:
    """Sum of three, modulo 2**32."""
    return a + b + c


def imad_high(a: Any, b: Any, c: Any) -> Any:
    """Upper 32 bits of the signed 64-bit product a b, plus c, modulo 2**32."""
    return imul_high(a, b, c) + c


def dot_bytes(a: Any, b: Any, c: Any) -> Any:
    """Products of the four signed bytes of a with those of b, summed onto c, modulo 2**32 (PTX dp4a.s32.s32)."""
    low = signed_byte(a, 24) * signed_byte(b, 24) + signed_byte(a, 16) * signed_byte(b, 16)
    high = signed_byte(a, 8) * signed_byte(b, 8) + signed_byte(a, 0) * signed_byte(b, 0)
    return as_u32(low + high) + c


def signed_byte(x: Any, left: int) -> Any:
    """Return the signed byte of x that lies `left` bits below the top."""
    return as_i32(as_u32(x << left)) >> 24


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


def funnel_left(a: Any, b: Any, c: Any) -> Any:
    """Upper word of the pair c:a shifted left by b modulo 32 (PTX shf.l.wrap)."""
    return narrow((word_pair(a, c) << widen(b & LAST)) >> HALF)


def funnel_right(a: Any, b: Any, c: Any) -> Any:
    """Lower word of the pair c:a shifted right by b modulo 32 (PTX shf.r.wrap)."""
    return narrow(word_pair(a, c) >> widen(b & LAST))


def prmt(a: Any, b: Any, c: Any) -> Any:
    """Four of the eight bytes of the pair c:a, chosen by the lower four digits of b, the lowest first (PTX prmt)."""
    low = selected_byte(a, b, c) | (selected_byte(a, b >> 4, c) << 8)
    return low | (selected_byte(a, b >> 8, c) << 16) | (selected_byte(a, b >> 12, c) << 24)


def word_pair(a: Any, c: Any) -> Any:
    """64-bit pattern with c above a."""
    return (widen(c) << HALF) | widen(a)


def selected_byte(a: Any, digit: Any, c: Any) -> Any:
    """Byte of the pair c:a that the digit's low three bits select; with the fourth bit, its sign eight times."""
    byte = narrow(word_pair(a, c) >> widen((digit & 7) * 8)) & 255
    return choose((digit & 8) != ZERO, (byte >> 7) * 255, byte)


def lop_and(a: Any, b: Any, c: Any) -> Any:
    """Bitwise and."""
    return a & b


def lop_or(a: Any, b: Any, c: Any) -> Any:
    """Bitwise or."""
    return a | b


def lop_xor(a: Any, b: Any, c: Any) -> Any:
    """Bitwise exclusive or."""
    return a ^ b


def lop3(a: Any, b: Any, c: Any, n: Any) -> Any:
    """Bitwise function with truth table n: the bits of a, b and c number its entries, a the highest (PTX lop3)."""
    neither, only_b = by_bit(c, n >> 1, n), by_bit(c, n >> 3, n >> 2)
    only_a, both = by_bit(c, n >> 5, n >> 4), by_bit(c, n >> 7, n >> 6)
    return (~a & ((~b & neither) | (b & only_b))) | (a & ((~b & only_a) | (b & both)))


def by_bit(c: Any, yes: Any, no: Any) -> Any:
    """Word whose bits are the lowest bit of `yes` where c has a 1, of `no` where it has a 0."""
    return (c & (ZERO - (yes & 1))) | (~c & (ZERO - (no & 1)))


def popc(a: Any, b: Any, c: Any) -> Any:
    """Number of bits set in a (Hacker's Delight, figure 5-2)."""
    pairs = a - ((a >> 1) & 0x55555555)
    digits = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    return as_u32(((digits + (digits >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24


def find_leading_one(a: Any, b: Any, c: Any) -> Any:
    """Place of the highest 1, or with code 1 of the highest bit unlike the sign; 2**32 - 1 if none (PTX bfind)."""
    x = a ^ choose((c != ZERO) & (as_i32(a) < 0), ALL, ZERO)
    exponent = narrow(as_u64(np.float64(as_u32(x))) >> 52)  # the double is exact
    return choose(as_u32(x) == ZERO, ALL, as_u32(exponent - 1023))


def reverse_bits(a: Any, b: Any, c: Any) -> Any:
    """Bits of a in reverse order (Hacker's Delight, figure 7-1)."""
    x = ((a >> 1) & 0x55555555) | ((a & 0x55555555) << 1)
    x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2)
    x = ((x >> 4) & 0x0F0F0F0F) | ((x & 0x0F0F0F0F) << 4)
    x = ((x >> 8) & 0x00FF00FF) | ((x & 0x00FF00FF) << 8)
    return as_u32((x >> 16) | (x << 16))


def mov(a: Any, b: Any, c: Any) -> Any:
    """Pattern a itself."""
    return a


def sel(a: Any, b: Any, c: Any) -> Any:
    """Pattern a where c is 1, b where 0."""
    return choose(c != ZERO, a, b)


def icompare(a: Any, b: Any, c: Any) -> Any:
    """Tell whether the signed relation of a to b is one of the code c, as bool."""
    x, y = as_i32(a), as_i32(b)
    return (((c & LT) != 0) & (x < y)) | (((c & EQ) != 0) & (x == y)) | (((c & GT) != 0) & (x > y))


def ucompare(a: Any, b: Any, c: Any) -> Any:
    """Tell whether the unsigned relation of a to b is one of the code c, as bool."""
    return (((c & LT) != 0) & (a < b)) | (((c & EQ) != 0) & (a == b)) | (((c & GT) != 0) & (a > b))


def fcompare(a: Any, b: Any, c: Any) -> Any:
    """Tell whether the single relation of a to b (unordered if one is a NaN) is one of the code c, as bool."""
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


def mufu_sqrt(a: Any, b: Any, c: Any) -> Any:
    """Single square root of a."""
    r = np.float32(np.sqrt(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def mufu_tanh(a: Any, b: Any, c: Any) -> Any:
    """Single hyperbolic tangent of a."""
    r = np.float32(np.tanh(np.float64(as_f32(a))))
    return choose(np.isnan(r), NAN32, as_u32(r))


def int_to_single(a: Any, b: Any, c: Any) -> Any:
    """Single nearest to the signed integer a."""
    return as_u32(np.float32(as_i32(a)))


def single_to_double(a: Any, b: Any, c: Any) -> Any:
    """Double equal to the single a: a has 32 bits, the result 64; a NaN keeps its digits and is made quiet."""
    r = np.float64(as_f32(a))
    pattern = widen(as_u32(a))
    digits = (pattern & DIGITS32) << np.uint64(29)
    return choose(np.isnan(r), ((pattern & SIGN32) << HALF) | QUIET_NAN64 | digits, as_u64(r))


def double_to_single(a: Any, b: Any, c: Any) -> Any:
    """Single nearest to the double a: a has 64 bits, the result 32; a NaN keeps its upper digits and is made quiet."""
    r = np.float32(as_f64(a))
    sign, digits = (a >> HALF) & SIGN32, (a >> np.uint64(29)) & DIGITS32
    return choose(np.isnan(r), narrow(sign | QUIET_NAN32 | digits), as_u32(r))


def single_to_int(a: Any, b: Any, c: Any) -> Any:
    """Signed integer part of the single a, or the nearest there is; 0 for a NaN (PTX cvt.rzi.s32)."""
    x = np.float64(as_f32(a))
    return as_u32(np.int32(choose(np.isnan(x), 0.0, choose(x < LOWEST, LOWEST, choose(x > HIGHEST, HIGHEST, x)))))


# Two halves in a register, each on its own. A sum is a 1 + b, a product a b + -0: both keep the sign of a zero.


def hfma2(a: Any, b: Any, c: Any) -> Any:
    """Two halves a b + c, each rounded once."""
    return fma16(a, b, c) | (fma16(a >> 16, b >> 16, c >> 16) << 16)


def hadd2(a: Any, b: Any, c: Any) -> Any:
    """Two halves a + b."""
    return fma16(a, ONE16, b) | (fma16(a >> 16, ONE16, b >> 16) << 16)


def hmul2(a: Any, b: Any, c: Any) -> Any:
    """Two halves a b."""
    return fma16(a, b, MINUS_ZERO16) | (fma16(a >> 16, b >> 16, MINUS_ZERO16) << 16)


PARTS = (nan_of, imul_high, signed_byte, word_pair, selected_byte, by_bit)  # of other value functions
