"""Matrix instructions to the bit: as an H200 computed them, and as exact whole numbers say for every architecture."""

import lzma
from io import BytesIO
from pathlib import Path

import matrix_exact
import numpy as np
import pytest
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_exact import ADDING, QUADS, bits_of, kind_of

from isa.architecture import NVIDIA, nvidia
from isa.nvidia.rows.tensor.matrix import FAMILIES
from isa.table import machine_row

MEASURED = Path(__file__).parent / "data" / "numerics.npz.xz"  # measured on an H200, 2026-11-22: patterns
NAMES = {
    "f16_f32_k16": "HMMA.16816.F32",
    "f16_f32_k8": "HMMA.1688.F32",
    "bf16_f32_k16": "HMMA.16816.F32.BF16",
    "bf16_f32_k8": "HMMA.1688.F32.BF16",
    "tf32_f32_k8": "HMMA.1688.F32.TF32",
    "tf32_f32_k4": "HMMA.1684.F32.TF32",
    "f16_f16_k16": "HMMA.16816.F16",
    "f16_f16_k8": "HMMA.1688.F16",
    "s8_s32_k32": "IMMA.16832.S8.S8",
    "s8_s32_k32_sat": "IMMA.16832.S8.S8.SAT",
    "f64_k4": "DMMA.8x8x4",
    "f64_k16": "DMMA.16x8x16",
}
OF_WARPS = [family for family in FAMILIES if not family.base.startswith(QUADS)]
DIFFERENT = tuple({ADDING[one]: one for one in NVIDIA}.values())


def measured(name):
    """Return A, B, C and D of a kind, by tile."""
    with np.load(BytesIO(lzma.decompress(MEASURED.read_bytes()))) as held:
        return [held[f"mma_{name}/{matrix}"] for matrix in "ABCD"]


def in_registers(name, matrix, letter):
    """Return a matrix as the registers of a mnemonic's operand."""
    kind, row = kind_of(name), machine_row(name)
    bits = bits_of(kind.result if letter in "cd" else kind.types["ab".index(letter)])
    words = np.zeros((row.words_of(letter), 32), np.uint32)
    for (i, j), pattern in np.ndenumerate(matrix):
        if letter in "cd":
            at = matrix_exact.result_place(i, j, bits)
        else:
            at = matrix_exact.place(i, j, bits, kind.rows) if letter == "a" else matrix_exact.place(j, i, bits, 8)
        matrix_exact.put(words, at, bits, int(pattern))
    return words


def computed(name, a, b, c, architecture, selector=0):
    """Return D as the row of a mnemonic computes it."""
    parts = (words[:, None, :] for words in (a, b, c))
    how = np.uint64(nvidia(architecture).sums.packed | selector << 32)
    with np.errstate(all="ignore"):
        found = machine_row(name).across(*parts, np.ones((1, 32), np.bool_), how)
    return found[:, 0]


@pytest.mark.every
@pytest.mark.parametrize("kind", NAMES)
def test_a_tile_is_what_an_h200_computed(kind):
    """Random and designed tiles: cuts, cancellations, ties, subnormals, overflow, infinities and NaN."""
    name = NAMES[kind]
    for tile in few(zip(*measured(kind), strict=True), 4):
        a, b, c, d = (in_registers(name, matrix, letter) for matrix, letter in zip(tile, "abcd", strict=True))
        assert np.array_equal(computed(name, a, b, c, 90), d)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_sm_90_multiplies_8_bit_floats_as_halves(kind):
    """What its compiler writes for mma.sync gives what it gave: k % 4 in two parts from zero, then C to the nearest."""
    for a, b, c, d in few(zip(*measured(f"{kind}_f32_k32"), strict=True), 4):
        total = np.zeros((4, 32), np.uint32)
        for part in ((0, 1), (2, 3)):
            ks = [k for k in range(32) if k % 4 in part]
            halves = [in_registers("HMMA.16816.F32", as_halves(m, kind), x) for m, x in ((a[:, ks], "a"), (b[ks], "b"))]
            total = computed("HMMA.16816.F32", *halves, total, 90)
        with np.errstate(all="ignore"):
            found = total.view(np.float32) + in_registers("HMMA.16816.F32", c, "c").view(np.float32)
        expected = in_registers("HMMA.16816.F32", d, "c")
        assert np.array_equal(np.where(np.isnan(found), 0x7FFFFFFF, found.view(np.uint32)), expected)


def as_halves(patterns, kind):
    """Return the halves of 8-bit floats: their digits moved to place."""
    sign, magnitude = (patterns & 0x80).astype(np.uint16) << 8, (patterns & 0x7F).astype(np.uint16)
    if kind == "e5m2":
        return sign | magnitude << 8
    number = np.where(magnitude == 0x7F, np.nan, (magnitude << 7).view(np.float16).astype(np.float32) * 256)
    return sign | np.abs(number).astype(np.float16).view(np.uint16)


def patterns(of):
    """Patterns of a type: numbers of nearly the same size, powers of two, any."""
    bits = bits_of(of)
    if of not in matrix_exact.FORMATS:
        return st.integers(0, (1 << bits) - 1)
    exponent, fraction = matrix_exact.FORMATS[of]
    if exponent == 2 or of == "e3m2":
        return st.integers(0, (1 << bits) - 1)
    bias, low = (1 << (exponent - 1)) - 1, 13 if of == "tf32" else 0
    near = st.tuples(st.integers(0, 1), st.integers(-3, 3), st.integers(0, (1 << fraction) - 1))
    wide = st.tuples(
        st.integers(0, 1), st.integers(-bias // 2, bias // 2), st.sampled_from((0, 1, (1 << fraction) - 1))
    )
    made = (near | wide).map(lambda x: (x[0] << exponent | x[1] + bias) << fraction | x[2])
    return made.map(lambda p: p << low) | st.integers(0, (1 << bits) - 1) | st.just(0)


@st.composite
def tiles(draw, name):
    """Matrices of a mnemonic in registers: each element one of a few patterns."""
    kind, row, random = kind_of(name), machine_row(name), np.random.default_rng(draw(st.integers(0, 2**32)))
    found = []
    for letter, of in zip("abc", (*kind.types, kind.result), strict=True):
        bits = bits_of(of)
        few_patterns = draw(st.lists(patterns(of), min_size=1, max_size=12))
        chosen = np.array(few_patterns, np.uint64)[
            random.integers(0, len(few_patterns), (row.words_of(letter), 32, 64))
        ]
        words = np.zeros((row.words_of(letter), 32), np.uint64)
        if bits == 64:
            words[::2], words[1::2] = chosen[::2, :, 0] & np.uint64(0xFFFFFFFF), chosen[::2, :, 0] >> np.uint64(32)
        else:
            for part in range(32 // bits):
                words |= chosen[:, :, part % 64] << np.uint64(bits * part)
        found.append(words.astype(np.uint32))
    if kind.sparse:
        found[0] = np.vstack([found[0], random.integers(0, 2**32, (1, 32), np.uint32)])
    return found


def with_scales(kind, a, b, c, draw):
    """Return operands with scales near one another, or anywhere, and the word that says where they are."""
    random, near = np.random.default_rng(draw(st.integers(0, 2**32))), 127 if kind.scales.endswith("e8") else 56
    held = random.integers(near - 7, near + 8, (2, 32, 4))
    anywhere = random.random(held.shape) < draw(st.sampled_from((0, 0.02, 1)))
    held = np.where(anywhere, random.integers(0, 256, held.shape), held)
    words = (held.astype(np.uint32) << np.arange(0, 32, 8, dtype=np.uint32)).sum(-1, dtype=np.uint32)
    first, second = (draw(st.sampled_from(range(0, 4, int(kind.scales[0])))) for _ in "ab")
    selector = first | draw(st.integers(0, 1)) << 2 | second << 3 | draw(st.integers(0, 3)) << 5
    behind = words[:1], words[1:], np.full((1, 32), selector, np.uint32)
    return *(np.vstack(pair) for pair in zip((a, b, c), behind, strict=True)), selector


@pytest.mark.parametrize("architecture", DIFFERENT)
@pytest.mark.parametrize("name", [family.base for family in OF_WARPS])
@settings(max_examples=draws(2, 1), deadline=None)
@given(data=st.data())
def test_a_tile_is_the_exact_sum_of_its_architecture(name, architecture, data):
    """Every row, in lanes and registers as the PTX ISA has them, by bits kept and terms added at once."""
    a, b, c = data.draw(tiles(name))
    kind = kind_of(name)
    selector = data.draw(st.integers(0, 1)) if kind.sparse else 0
    if kind.scales:
        a, b, c, selector = with_scales(kind, a, b, c, data.draw)
    expected = matrix_exact.multiplied(name, a, b, c, ADDING[architecture], selector)
    assert np.array_equal(computed(name, a, b, c, architecture, selector), expected)


def test_registers_are_those_of_the_matrices():
    """Each operand has as many registers as its matrix has bits for a warp, and every element of D its own place."""
    for family in OF_WARPS:
        kind, row = kind_of(family.base), machine_row(family.base)
        bits, wide = bits_of(kind.types[0]), bits_of(kind.result)
        sizes = kind.rows * kind.numbers * bits, 8 * kind.depth * bits, kind.rows * 8 * wide
        assert tuple(row.words_of(x) for x in "abc") == tuple(size // 1024 for size in sizes)
        assert row.words_of("d") == row.words_of("c") == row.across.gives
        places = {matrix_exact.result_place(i, j, wide) for i in range(kind.rows) for j in range(8)}
        assert len(places) == 8 * kind.rows


@pytest.mark.every
@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("HMMA.SP.16816.F16", 90),
        ("HMMA.SP.16832.F32", 80),
        ("HMMA.SP.16816.F32.TF32", 90),
        ("IMMA.SP.16832.S8.U8.SAT", 80),
        ("IMMA.SP.168128.S4.U4", 80),
        ("QMMA.SP.16864.F32.E2M1.E4M3", 120),
        ("QMMA.16832.F32.E3M2.E2M3", 120),
        ("QMMA.SF.16832.F32.E4M3.E2M1.E8", 120),
        ("OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", 120),
        ("OMMA.SF.SP.168128.F32.E2M1.E2M1.UE4M3.4X", 120),
        ("OMMA.SF.SP.168128.F32.E2M1.E2M1.E8", 120),
        ("QMMA.SF.SP.16864.F32.E3M2.E2M1.E8", 120),
    ],
)
def test_sparse_and_scaled_tiles_are_exact_sums(name, architecture):
    """One tile of each kind at least: numbers of random patterns, and any words that say where they are."""
    random, kind, row = np.random.default_rng(5), kind_of(name), machine_row(name)
    a, b, c = (
        random.integers(0, 1 << 32, (row.words_of(x) + more, 32), np.uint64).astype(np.uint32)
        for x, more in (("a", kind.sparse + bool(kind.scales)), ("b", bool(kind.scales)), ("c", bool(kind.scales)))
    )
    selector = int(random.integers(0, 4))
    if kind.types[0] in ("half", "tf32"):
        low, one = (0x83FFFFFF, 0x3C000000) if kind.types[0] == "tf32" else (0x8FFF8FFF, 0x30003000)
        a[: row.words_of("a")] = a[: row.words_of("a")] & np.uint32(low) | np.uint32(one)
        b = b & np.uint32(low) | np.uint32(one)
    if kind.scales:
        a[-1], b[-1] = (random.integers(56, 72, (32, 4), np.uint8).view(np.uint32)[:, 0] for _ in "ab")
        c[-1], selector = 0, 0
    expected = matrix_exact.multiplied(name, a, b, c, ADDING[architecture], selector)
    assert np.array_equal(computed(name, a, b, c, architecture, selector), expected)
