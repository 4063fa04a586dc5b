import math
from bisect import bisect_left
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import launches as strategies

from isa.table import ROWS, TABLE
from isa.values import semantics as v

WORDS = strategies.patterns32()
NAN32, NAN64 = 0x7FFFFFFF, 0xFFF8000000000000
QUIET32, QUIET64 = 1 << 22, 1 << 51


def word(x):
    """Return the 32-bit pattern of a Python int or float, as a one-element array."""
    return np.array([x], np.float32).view(np.uint32) if isinstance(x, float) else np.array([x % 2**32], np.uint32)


def value(mnemonic, a, b=0, c=None):
    """Return the result pattern of a 32-bit row for Python ints (patterns) or floats."""
    row = TABLE[mnemonic]
    third = row.code if c is None else c
    with np.errstate(all="ignore"):
        return int(row.value(word(a), word(b), word(third))[0])


def single(pattern):
    """Return the single that a pattern stands for."""
    return float(np.uint32(pattern).view(np.float32))


def signed(pattern):
    """Return the signed integer that a pattern stands for."""
    return pattern - 2**32 if pattern >> 31 else pattern


VALUED = [row for row in ROWS if row.value is not None]


@pytest.mark.long
@pytest.mark.parametrize("row", VALUED, ids=lambda row: row.mnemonic)
@given(data=st.data())
@settings(max_examples=draws(40))
def test_every_value_function_is_elementwise_and_keeps_its_type(row, data):
    """A row gives one pattern of its width (a comparison: bool) per lane, the same for an array as for each scalar."""
    kind, source = (np.uint32, WORDS) if row.source.width == 32 else (np.uint64, strategies.patterns64())
    lanes = st.lists(source, min_size=6, max_size=6)
    a, b, c = (np.array(data.draw(lanes), kind).reshape(2, 3) for _ in range(3))
    if "Q" in row.form:
        c = (c & 1).astype(np.uint32)
    elif not {"c", "D"} & set(row.form):
        c = np.full((2, 3), row.code, np.uint32)
    number = [np.uint32(0xCA)] if "n" in row.form else []
    with np.errstate(all="ignore"):
        whole = row.value(a, b, c, *number)
        each = [int(row.value(x, y, z, *number)) for x, y, z in zip(a.flat, b.flat, c.flat, strict=True)]
    assert whole.dtype == (bool if row.compares else np.uint32 if row.width == 32 else np.uint64)
    assert whole.shape == (2, 3)
    assert [int(x) for x in whole.flat] == each


@given(WORDS, WORDS, WORDS)
def test_integer_arithmetic_is_modulo_2_to_32(a, b, c):
    """IADD, IMUL and IMAD keep the low 32 bits of the exact result."""
    assert value("IADD", a, b) == (a + b) % 2**32
    assert value("IMUL", a, b) == a * b % 2**32
    assert value("IMAD", a, b, c) == (a * b + c) % 2**32


@given(WORDS, WORDS)
def test_imul_high_is_the_upper_word_of_the_signed_product(a, b):
    """IMUL.HI is floor(a b / 2**32) of the signed factors."""
    assert value("IMUL.HI", a, b) == (signed(a) * signed(b) >> 32) % 2**32


@given(WORDS, st.integers(0, 31))
def test_shifts_below_32_are_those_of_integers(a, b):
    """SHL drops what leaves the word, SHR copies the sign, SHR.U32 brings in zeros."""
    assert value("SHL", a, b) == (a << b) % 2**32
    assert value("SHR", a, b) == (signed(a) >> b) % 2**32
    assert value("SHR.U32", a, b) == a >> b


@given(WORDS, st.integers(32, 2**32 - 1))
def test_shifts_from_32_on_leave_zero_or_the_sign(a, b):
    """A shift count is not taken modulo 32."""
    assert value("SHL", a, b) == value("SHR.U32", a, b) == 0
    assert value("SHR", a, b) == (2**32 - 1 if a >> 31 else 0)


@given(WORDS, WORDS)
def test_bitwise_operations_are_those_of_integers(a, b):
    """LOP works bit by bit; MOV passes its pattern."""
    assert (value("LOP.AND", a, b), value("LOP.OR", a, b), value("LOP.XOR", a, b)) == (a & b, a | b, a ^ b)
    assert value("MOV", a) == a


@given(WORDS, WORDS)
def test_selection_and_signed_extrema_follow_the_predicate(a, b):
    """SEL picks a for a true predicate; IMNMX gives the minimum then, else the maximum, of signed integers."""
    assert (value("SEL", a, b, 1), value("SEL", a, b, 0)) == (a, b)
    assert signed(value("IMNMX", a, b, 1)) == min(signed(a), signed(b))
    assert signed(value("IMNMX", a, b, 0)) == max(signed(a), signed(b))


RELATIONS = {
    "LT": lambda x, y: x < y,
    "LE": lambda x, y: x <= y,
    "GT": lambda x, y: x > y,
    "GE": lambda x, y: x >= y,
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
}


@pytest.mark.parametrize("name", RELATIONS)
@given(a=WORDS, b=WORDS)
def test_comparisons_are_those_of_the_numbers(name, a, b):
    """ISETP compares signed, ISETP.U32 unsigned integers, FSETP singles, with Python's result for each relation."""
    for y in (a, b):
        assert value(f"ISETP.{name}", a, y) == RELATIONS[name](signed(a), signed(y))
        if f"ISETP.{name}.U32" in TABLE:
            assert value(f"ISETP.{name}.U32", a, y) == RELATIONS[name](a, y)
        if not (math.isnan(single(a)) or math.isnan(single(y))):
            assert value(f"FSETP.{name}", a, y) == RELATIONS[name](single(a), single(y))


@pytest.mark.parametrize("name", [*RELATIONS, "NEU"])
def test_a_nan_satisfies_only_the_unordered_comparison(name):
    """With a NaN on either side FSETP.NEU is true, and every other FSETP is false."""
    for a, b in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)):
        assert value(f"FSETP.{name}", a, b) == (name == "NEU")


@given(WORDS, WORDS)
def test_single_sum_and_product_are_rounded_once(a, b):
    """FADD and FMUL equal the double result (exact product; sum with room for one innocuous rounding) as a single."""
    with np.errstate(all="ignore"):
        total = np.float32(np.float64(single(a)) + np.float64(single(b)))
        product = np.float32(np.float64(single(a)) * np.float64(single(b)))
    for mnemonic, expected in (("FADD", total), ("FMUL", product)):
        got = value(mnemonic, a, b)
        assert got == (NAN32 if np.isnan(expected) else int(expected.view(np.uint32)))


def test_denormals_are_kept():
    """The smallest denormal survives a sum, a product by one and a fused multiply-add."""
    assert value("FADD", 1, 0) == value("FMUL", 1, 1.0) == value("FFMA", 1, 1.0, 0) == 1


@pytest.mark.parametrize("payload", [0x7F800001, 0x7FC00000, 0xFFC12345])
def test_every_single_nan_result_is_the_canonical_one(payload):
    """Single arithmetic and MUFU give 0x7FFFFFFF for any NaN and for an invalid operation."""
    for mnemonic in ("FADD", "FMUL", "FFMA", "FMNMX"):
        assert value(mnemonic, payload, payload, payload if mnemonic == "FFMA" else 1) == NAN32
    for mnemonic in (m for m in TABLE if m.startswith("MUFU")):
        assert value(mnemonic, payload) == NAN32
    assert value("FADD", math.inf, -math.inf) == value("FMUL", math.inf, 0.0) == NAN32


def pair(pattern):
    """Return a 64-bit pattern as a one-element array."""
    return np.array([pattern], np.uint64)


def test_an_invalid_operation_gives_the_one_double_nan():
    """Infinity times zero and infinity less infinity are 0xFFF8000000000000."""
    inf, minus, zero = pair(0x7FF0000000000000), pair(0xFFF0000000000000), pair(0)
    with np.errstate(all="ignore"):
        results = (v.dadd(inf, minus, zero), v.dmul(inf, zero, zero), v.dfma(inf, zero, zero))
    assert [int(r[0]) for r in results] == [NAN64] * 3


@pytest.mark.parametrize("payload", [0x7FF0000000000001, 0xFFF123456789ABCD, 0x7FF8000000000000])
def test_a_double_nan_keeps_its_digits_and_is_made_quiet(payload):
    """A NaN among the operands is the result with its quiet bit set: b's goes before c's, c's before a's (H200)."""
    nan, other, zero = pair(payload), pair(0x7FF00000DEADBEEF), pair(0)
    with np.errstate(all="ignore"):
        results = (
            v.dadd(nan, zero, zero), v.dadd(other, nan, zero), v.dmul(other, nan, zero),
            v.dfma(other, nan, other), v.dfma(other, zero, nan), v.dfma(nan, zero, zero),
        )  # fmt: skip
    assert [int(r[0]) for r in results] == [payload | QUIET64] * 6


@given(WORDS, WORDS)
def test_fmnmx_gives_the_number_and_orders_the_zeros(a, b):
    """A NaN loses to a number; otherwise the lesser (c = 1) or greater wins, -0 counting as less than +0."""
    x, y = single(a), single(b)
    if math.isnan(x) or math.isnan(y):
        expected = NAN32 if math.isnan(x) and math.isnan(y) else b if math.isnan(x) else a
        assert value("FMNMX", a, b, 1) == value("FMNMX", a, b, 0) == expected
    else:
        order = sorted((a, b), key=lambda p: (single(p), not p >> 31))
        assert (value("FMNMX", a, b, 1), value("FMNMX", a, b, 0)) == tuple(order)


def test_mufu_at_exact_points_and_limits():
    """MUFU gives the exact result where there is one, and IEEE's limits at zero, infinity and below zero."""
    points = {
        "RCP": ((4.0, 0.25), (0.0, math.inf), (-0.0, -math.inf), (-math.inf, -0.0)),
        "RSQ": ((4.0, 0.5), (0.0, math.inf), (-0.0, -math.inf), (math.inf, 0.0)),
        "LG2": ((8.0, 3.0), (0.0, -math.inf), (math.inf, math.inf)),
        "EX2": ((-3.0, 0.125), (200.0, math.inf), (-math.inf, 0.0), (-149.0, 2.0**-149)),
        "SIN": ((0.0, 0.0), (-0.0, -0.0)),
        "COS": ((0.0, 1.0),),
    }
    for name, pairs in points.items():
        for a, expected in pairs:
            assert value(f"MUFU.{name}", a) == int(word(expected)[0]), (name, a)
    assert value("MUFU.RSQ", -1.0) == value("MUFU.LG2", -1.0) == value("MUFU.SIN", math.inf) == NAN32


@given(st.floats(-100, 100, width=32))
def test_mufu_is_within_one_last_place_of_the_mathematical_function(a):
    """MUFU differs from the double library function by at most the rounding to single."""
    functions = {"SIN": math.sin, "COS": math.cos, "EX2": lambda x: 2.0**x}
    for name, function in functions.items():
        got, expected = single(value(f"MUFU.{name}", a)), function(a)
        assert abs(got - expected) <= np.spacing(np.float32(abs(expected)))


@given(WORDS, WORDS, WORDS, st.integers(0, 255))
def test_lop3_looks_each_bit_up(a, b, c, table):
    """Bit i of LOP3 is the table's entry whose number is made of bit i of a, b and c; a ^ b ^ c is table 0x96."""
    with np.errstate(all="ignore"):
        got, parity = (int(v.lop3(word(a), word(b), word(c), np.uint32(n))[0]) for n in (table, 0x96))
    digits = zip(*(f"{x:032b}" for x in (a, b, c)), strict=True)
    assert got == int("".join(str(table >> int("".join(bits), 2) & 1) for bits in digits), 2)
    assert parity == a ^ b ^ c


@given(WORDS, WORDS, WORDS)
def test_three_operand_integers_are_modulo_2_to_32(a, b, c):
    """IADD3 sums three words; IMAD.HI adds the third to the upper word of the signed product."""
    assert value("IADD3", a, b, c) == (a + b + c) % 2**32
    assert value("IMAD.HI", a, b, c) == ((signed(a) * signed(b) >> 32) + c) % 2**32


@given(WORDS, WORDS, WORDS)
def test_a_byte_product_sums_four_signed_products(a, b, c):
    """IDP.4A is c plus the dot product of the bytes of a and b read as signed numbers."""
    x, y = (np.frombuffer(p.to_bytes(4, "little"), np.int8).tolist() for p in (a, b))
    assert value("IDP.4A", a, b, c) == (c + sum(p * q for p, q in zip(x, y, strict=True))) % 2**32


@given(WORDS, WORDS, WORDS)
def test_a_funnel_shift_moves_two_words_as_one(a, b, c):
    """SHF.L gives the upper word of c:a moved left by b modulo 32, SHF.R the lower word of it moved right."""
    pair = c << 32 | a
    assert value("SHF.L", a, b, c) == (pair << b % 32) % 2**64 >> 32
    assert value("SHF.R", a, b, c) == (pair >> b % 32) % 2**32


@given(WORDS, WORDS, WORDS)
def test_prmt_picks_bytes_by_hex_digits(a, b, c):
    """Digit i of b names byte i of the result among a's and c's; with 8 added, eight copies of that byte's sign."""
    held = a.to_bytes(4, "little") + c.to_bytes(4, "little")
    digits = [b >> 4 * i & 15 for i in range(4)]
    picked = [0xFF * (held[digit - 8] >> 7) if digit >= 8 else held[digit] for digit in digits]
    assert value("PRMT", a, b, c) == int.from_bytes(bytes(picked), "little")


@given(WORDS)
def test_bits_are_counted_found_and_turned_round(a):
    """POPC, FLO.U32, FLO and BREV agree with Python's view of the 32 binary digits; no bit to find gives -1."""
    digits = f"{a:032b}"
    assert value("POPC", a) == digits.count("1")
    assert value("FLO.U32", a) == (a.bit_length() - 1) % 2**32
    assert value("FLO", a) == (31 - digits.find("1" if a < 2**31 else "0") if a not in (0, 2**32 - 1) else 2**32 - 1)
    assert value("BREV", a) == int(digits[::-1], 2)


@given(WORDS)
def test_an_integer_becomes_the_nearest_single(a):
    """I2F has no single nearer to the integer, and of two as near the one whose last bit is 0."""
    exact, got = signed(a), value("I2F", a)
    error = abs(int(single(got)) - exact)
    for other in (got - 1, got + 1) if exact else ():
        distance = abs(int(single(other)) - exact)
        assert error < distance or (error == distance and got % 2 == 0)


@given(WORDS)
def test_a_single_becomes_the_integer_before_its_point(a):
    """F2I drops the fraction, stays within 32 signed bits, and gives 0 for a NaN."""
    number = single(a)
    inside = 0 if math.isnan(number) else int(max(-(2.0**31), min(number, 2.0**31 - 1)))
    assert signed(value("F2I", a)) == inside


def halves(pattern):
    """Return the two halves of a pattern as numbers, the lower first."""
    return np.array([pattern], np.uint32).view(np.float16).tolist()


@cache
def half_steps():
    """Return the numbers of patterns 0 to 0x7BFF, and 65536, which would follow them if the next were not infinity."""
    return [Fraction(float(np.uint16(p).view(np.float16))) for p in range(0x7C00)] + [Fraction(65536)]


def nearest_half(exact):
    """Return the pattern of the half nearest to a Fraction, by search: patterns of positive halves are in order."""
    steps = half_steps()
    above = bisect_left(steps, abs(exact))
    near = [p for p in (above - 1, above) if 0 <= p <= 0x7C00]
    best = min(near, key=lambda p: (abs(steps[p] - abs(exact)), p % 2), default=0x7C00)
    return best | (0x8000 if exact < 0 else 0)


HALF_CASES = st.integers(0, 0xFFFF) | st.sampled_from(
    (0, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00)
)


HALF_OPERATIONS = (
    ("HFMA2", 3, lambda x, y, z: x * y + z),
    ("HADD2", 2, lambda x, y: x + y),
    ("HMUL2", 2, lambda x, y: x * y),
)


@given(*[st.tuples(HALF_CASES, HALF_CASES)] * 3)
def test_halves_are_rounded_once_each(a, b, c):
    """HFMA2, HADD2 and HMUL2 give for both halves what is nearest to the exact result; NaN and infinity as IEEE."""
    operands = [high << 16 | low for low, high in (a, b, c)]
    for mnemonic, count, exact in HALF_OPERATIONS:
        result = value(mnemonic, *operands[:count])
        for shift, numbers in zip((0, 16), zip(*map(halves, operands[:count]), strict=True), strict=True):
            check_half(result >> shift & 0xFFFF, exact, numbers)


def check_half(got, exact, numbers):
    """Assert that a half is the exact function of these numbers, rounded once."""
    loose = exact(*numbers)
    if math.isnan(loose):
        assert got == 0x7FFF
    elif math.isinf(loose):
        assert got == (0xFC00 if loose < 0 else 0x7C00)
    elif (precise := exact(*map(Fraction, numbers))) != 0:
        assert got == nearest_half(precise)
    else:
        assert got == (0x8000 if math.copysign(1, loose) < 0 else 0)


def test_mufu_of_later_generations_at_exact_points():
    """MUFU.SQRT and MUFU.TANH give the exact result where there is one; the root of a negative number is a NaN."""
    for name, points in {
        "SQRT": ((4.0, 2.0), (0.0, 0.0), (-0.0, -0.0), (math.inf, math.inf)),
        "TANH": ((0.0, 0.0), (-0.0, -0.0), (math.inf, 1.0), (-math.inf, -1.0), (20.0, 1.0)),
    }.items():
        for a, expected in points:
            assert value(f"MUFU.{name}", a) == int(word(expected)[0]), (name, a)
    assert value("MUFU.SQRT", -1.0) == NAN32


@given(WORDS)
def test_a_single_becomes_the_equal_double_and_comes_back(a):
    """F2F.F64.F32 gives the equal double, F2F.F32.F64 the single again; a NaN keeps its digits and is made quiet."""
    with np.errstate(all="ignore"):
        wide = TABLE["F2F.F64.F32"].value(word(a), word(0), word(0))
        narrow = TABLE["F2F.F32.F64"].value(wide, wide, wide)
    if math.isnan(single(a)):
        quiet = a | QUIET32
        sign, digits = quiet >> 31 << 63, (quiet & 0x7FFFFF) << 29
        assert (int(wide[0]), int(narrow[0])) == (sign | 0x7FF0000000000000 | digits, quiet)
    else:
        assert (float(wide.view(np.float64)[0]), int(narrow[0])) == (single(a), a)


@given(strategies.patterns64())
def test_a_double_becomes_the_nearest_single(a):
    """F2F.F32.F64 rounds as Python's conversion does, infinities included; a NaN keeps its upper digits (H200)."""
    pattern = pair(a)
    number = float(pattern.view(np.float64)[0])
    nan = a >> 63 << 31 | 0x7FC00000 | a >> 29 & 0x3FFFFF
    with np.errstate(all="ignore"):
        result = int(TABLE["F2F.F32.F64"].value(pattern, pattern, pattern)[0])
        assert result == (nan if math.isnan(number) else int(np.float32(number).view(np.uint32)))
