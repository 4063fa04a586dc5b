"""Snippets of conversions between all types, with each rounding, saturation and flush."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import HALF, PAIR, WORD, Snippet, snippet, written

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
BYTES = ("u8", "s8")  # which ptxas does not convert to bfloat16 or from it
FLOATS = {"f16": HALF, "bf16": HALF, "f32": WORD, "f64": PAIR}
NEAREST_INTEGER = ("rni", "rzi", "rmi", "rpi")
NEAREST = ("rn", "rz", "rm", "rp")


def bits_of(kind: str, beside: str = "") -> int:
    """Return the bits of a register that holds an integer type; beside a bfloat16 it may not be longer than it."""
    if beside == "bf16" and kind[1:] == "16":
        return HALF
    return PAIR if kind.endswith("64") else WORD


def limits(kind: str) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type."""
    bits = int(kind[1:])
    return (0, (1 << bits) - 1) if kind[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def to_integers() -> Iterator[Snippet]:
    """Each float type to each integer type."""
    for source, to, rounding in product(FLOATS, INTEGERS, NEAREST_INTEGER):
        if source == "bf16" and to in BYTES:
            continue
        for flush in ("", ".ftz") if source == "f32" else ("",):
            name = f"cvt.{rounding}{flush}.{to}.{source}"
            yield snippet("to integer", f"from_{source}", name, (FLOATS[source],), (bits_of(to, source),))


def from_integers() -> Iterator[Snippet]:
    """Each integer type to each float type."""
    for source, to, rounding in product(INTEGERS, FLOATS, NEAREST):
        if to == "bf16" and source in BYTES:
            continue
        bits = bits_of(source, to)
        name = f"cvt.{rounding}.{to}.{source}"
        yield snippet("from integer", f"from_b{max(WORD, bits)}", name, (bits,), (FLOATS[to],))
    for source in ("u32", "s32"):
        yield snippet("from integer", "from_b32", f"cvt.rn.sat.f32.{source}", (WORD,))


def between_integers() -> Iterator[Snippet]:
    """Each integer type to each other, with and without saturation."""
    for source, to, saturate in product(INTEGERS, INTEGERS, ("", ".sat")):
        (low, high), (least, most) = limits(source), limits(to)
        if source != to and not (saturate and least <= low and high <= most):
            bits = bits_of(source)
            name = f"cvt{saturate}.{to}.{source}"
            yield snippet("between integers", f"from_b{bits}", name, (bits,), (bits_of(to),))


def between_floats() -> Iterator[Snippet]:
    """Each float type to each other, and integers nearest to floats."""
    for rounding, saturate in product(NEAREST, ("", ".sat")):
        for flush in ("", ".ftz"):
            yield _float(f"cvt.{rounding}{flush}{saturate}.f32.f64")
            yield _float(f"cvt.{rounding}{flush}{saturate}.f16.f32")
        yield _float(f"cvt.{rounding}{saturate}.f16.f64")
    for form in ("rn", "rz", "rm", "rp", "rn.relu", "rz.relu"):
        yield _float(f"cvt.{form}.bf16.f32")
    for name in ("f32.f16", "ftz.f32.f16", "sat.f32.f16", "f64.f16", "f64.f32", "ftz.f64.f32", "sat.f64.f32"):
        yield _float(f"cvt.{name}")
    yield from (_float(f"cvt.{name}") for name in ("f32.bf16", "f64.bf16", "rn.bf16.f64", "rn.bf16.f16", "rn.f16.bf16"))
    for rounding, kind in product(NEAREST_INTEGER, FLOATS):
        for more in ("", ".ftz", ".sat") if kind == "f32" else ("",):
            yield _float(f"cvt.{rounding}{more}.{kind}.{kind}")
    for rounding, more in product(("rn", "rz"), ("", ".relu")):
        yield _float(f"cvt.{rounding}{more}.tf32.f32")
    yield _float("cvt.rna.tf32.f32")


def _float(name: str) -> Snippet:
    to, source = (kind.replace("tf32", "f32") for kind in name.split(".")[-2:])
    return snippet("between floats", f"from_{source}", name, (FLOATS[source],), (FLOATS[to],))


def packed() -> Iterator[Snippet]:
    """Two singles to two halves in a word, and 8-bit floats."""
    for to, rounding, more in product(("f16x2", "bf16x2"), ("rn", "rz"), ("", ".relu")):
        yield snippet("packed conversion", "from_f32", f"cvt.{rounding}{more}.{to}.f32", (WORD,) * 2)
    for to, more in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        name = f"cvt.rn.satfinite{more}.{to}"
        yield snippet("packed conversion", "from_f32", f"{name}.f32", (WORD,) * 2, (HALF,))
        yield snippet("packed conversion", "every_half", f"{name}.f16x2", (WORD,), (HALF,))
    for source, more in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield snippet("packed conversion", "from_f16", f"cvt.rn{more}.f16x2.{source}", (HALF,))
    body = "cvt.u16.u32 h0, a; cvt.u16.u32 h1, b; mov.b32 d0, {h0, h1};"
    yield written("packed conversion", "b32", "pack halves", body, (WORD,) * 2)
    body = "mov.b32 {h0, h1}, a; cvt.f32.f16 d0, h0; cvt.f32.f16 d1, h1;"
    yield written("packed conversion", "from_f16", "unpack halves", body, (WORD,), (WORD, WORD))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (to_integers, from_integers, between_integers, between_floats, packed):
        yield from some()
