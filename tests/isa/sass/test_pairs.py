"""Pairs of singles, and halves with singles: what sm_100 and sm_120 have beside older instructions (data/pairs.cu)."""

from fractions import Fraction

import numpy as np
import pytest
from test_single_operands import DATA, launched

from isa.nvidia.abi.launch import Value
from isa.nvidia.lowering.lower import UnknownError, lowered
from isa.values.floating import single

LANES = 32
S, P = np.float32(0.75), np.array([1.5, -2.0], np.float32)


def numbers(seed, count):
    """Return multiples of 1/16 below 64: sums and products of these are exact."""
    return (np.random.default_rng(seed).integers(-1000, 1000, count) / 16).astype(np.float32)


def test_pairs_compute_what_their_text_says():
    """Each half of each pair is the sum or the product of the halves that the CUDA C names, without any rounding."""
    x = numbers(1, 2 * 3 * LANES)
    given = {"x": x, "y": np.zeros(2 * 12 * LANES, np.float32)}
    further = [Value(S.tobytes(), 4), Value(P.tobytes(), 8)]
    found = launched(DATA / "pairs_100.cubin.xz", "pairs", (1, 1, 1), (LANES, 1, 1), given, further)["y"]
    a, b, c = x.reshape(3, LANES, 2)
    first, second, flip = a[:, :1], a[:, 1:], np.array([1, -1])
    wanted = [
        a * [2.5, 3.5],
        a * b + 2.5,
        a * P + c,
        a * S,
        a[:, ::-1] + b,
        first * b - c,
        second * b + c[:, 1:],
        a * flip * b,
        abs(a) + 1,
        P * S + c,
        a * flip * b[:, ::-1] + c,
        a - b,
    ]
    assert np.array_equal(found.reshape(12, LANES, 2), np.array(wanted, np.float32))


def rounded(exact, down):
    """Return the single below an exact number, or the one nearer to zero."""
    nearest = np.float32(float(exact))
    beyond = Fraction(float(nearest)) > exact if down else abs(Fraction(float(nearest))) > abs(exact)
    return np.nextafter(nearest, np.float32(-np.inf if down else 0)) if beyond else nearest


def test_halves_with_singles_are_rounded_once():
    """A half of a register and a single are added, or multiplied by another half, as PTX's add and fma say."""
    random = np.random.default_rng(2)
    h = random.integers(0x2C00, 0x4400, 4 * LANES).astype(np.uint16) | random.choice([0, 1 << 15], 4 * LANES).astype(
        "u2"
    )
    x = random.normal(size=LANES).astype(np.float32)
    given = {"h": h.view(np.uint32), "x": x, "y": np.zeros(7 * LANES, np.float32)}
    found = launched(DATA / "pairs_120.cubin.xz", "mixed", (1, 1, 1), (LANES, 1, 1), given)["y"].reshape(7, LANES)
    a, b, e, g = (h[i::2].reshape(2, LANES)[k] for k in (0, 1) for i in (0, 1))
    real = {name: y.view(np.float16).astype(np.float64) for name, y in (("a", a), ("b", b), ("e", e), ("g", g))}
    wide = {name: (y.astype(np.uint32) << 16).view(np.float32) for name, y in (("a", a), ("b", b), ("g", g))}
    assert np.array_equal(found[0], (real["b"] + x).astype(np.float32))
    assert np.array_equal(found[1], (real["b"] - x).astype(np.float32))
    assert np.array_equal(found[3], (real["a"] + abs(x)).astype(np.float32))
    fused = [Fraction(p) * Fraction(q) + Fraction(float(z)) for p, q, z in zip(real["b"], real["e"], x, strict=True)]
    assert found[4].tolist() == [np.float32(float(one)) for one in fused]
    assert np.array_equal(found[5], np.clip(real["a"] * real["g"] + x, 0, 1).astype(np.float32))
    exact = [Fraction(float(p)) - Fraction(float(z)) for p, z in zip(wide["a"], x, strict=True)]
    assert found[2].tolist() == [rounded(one, down=True) for one in exact]
    exact = [
        Fraction(float(p)) * Fraction(float(q)) - Fraction(float(z))
        for p, q, z in zip(wide["b"], wide["g"], x, strict=True)
    ]
    assert found[6].tolist() == [rounded(one, down=False) for one in exact]


@pytest.mark.parametrize("modes", ["", ".RZ", ".FTZ.RM", ".RP", ".FTZ"])
def test_each_half_is_what_a_single_is(modes):
    """FFMA2 with a mode gives in each half what FFMA gives, on denormals, infinities and NaN too."""
    random = np.random.default_rng(3)
    a, b, c = random.integers(0, 1 << 64, (3, 4096), np.uint64)
    edges = np.array([0, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000], np.uint64)
    a[:49], b[:49] = np.repeat(edges, 7) | np.uint64(0x3F80000000000000), np.tile(edges, 7) << np.uint64(32)
    row = lowered(f"FFMA2{modes} R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO").row
    one = lowered(f"FFMA{modes} R0, R2, R4, R6").row
    code, low, high = np.uint64(row.code), np.uint64(0xFFFFFFFF), np.uint64(32)
    with np.errstate(all="ignore"):
        found = row.result(a, b, c, np.uint32(0), code)
        halves = [
            single.multiply_add(x, y, z, np.uint32(0), np.uint64(one.code))
            for x, y, z in ((a & low, b & low, c & low), (a >> high, b >> high, c >> high))
        ]
    assert np.array_equal(found & low, halves[0] & low)
    assert np.array_equal(found >> high, halves[1] & low)


def test_sources_that_are_one_single_have_one_register():
    """`R0.F32` and a number are 32 bits, a pair 64; the others are refused."""
    row = lowered("FFMA2 R6, R6.F32x2.HI_LO, R0.F32, 2.5").row
    assert [row.words_of(letter) for letter in "dabc"] == [2, 2, 1, 1]


@pytest.mark.every
@pytest.mark.parametrize(
    "text",
    [
        "FADD2 R2, R4, R6",
        "FADD2 R2, R4.F32x2.HI, R6.F32",
        "FADD2 R2, R4.F32x2.HI_LO.XP, R6.F32",
        "FADD2 R2, ~R4.F32x2.HI_LO, R6.F32",
        "FADD2.SAT R2, R4.F32x2.HI_LO, R6.F32x2.HI_LO",
        "FMUL2 R2, R4.F32x2.HI_LO",
        "FFMA2 R2, R4.F32x2.HI_LO, P1, R6.F32",
        "FFMA2 R2, R4.F32x2.HI_LO, [R8], R6.F32",
        "FFMA2 UR2, R4.F32x2.HI_LO, R8.F32, R6.F32",
        "FHADD R2, |R4|.H1, R6",
        "FHADD R2, R4.H2, R6",
        "FHADD R2, R4, R6.H1",
        "FHFMA R2, R4.H1, 2, R6",
        "FHFMA.FTZ R2, R4, R5, R6",
    ],
)
def test_other_marks_refuse(text):
    """What no compiler was seen to write of a pair or a half is no instruction of the table."""
    with pytest.raises(UnknownError):
        lowered(text)
