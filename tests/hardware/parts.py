"""Snippets of conversions of a part of a word, of products that are scaled, and of comparisons that give numbers."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import PAIR, WORD, Snippet, written

COMPARED = ("lt", "eq", "le", "gt", "ne", "ge", "ltu", "equ", "leu", "gtu", "neu", "geu", "num", "nan")


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (of_parts, scaled, wide, compared):
        yield from some()


def of_parts() -> Iterator[Snippet]:
    """Conversions of each byte of a word, and of its upper half."""
    for place, kind in product(range(4), ("u8", "s8")):
        body = f"bfe.{kind[0]}32 t0, a, {8 * place}, 8; cvt.{kind[0]}32.{kind} t0, t0; cvt.rn.f32.{kind} d0, t0;"
        yield written("from part", "b32", f"byte {place} {kind}", body, (WORD,))
    for name, form in {
        "cvt.rmi.s32.f16": "d0, h1",
        "cvt.rzi.s64.f16": "u0, h1; cvt.u32.u64 d0, u0",
        "cvt.rni.f16.f16": "h2, h1; cvt.u32.u16 d0, h2",
        "cvt.rmi.f16.f16": "h2, h1; cvt.u32.u16 d0, h2",
        "cvt.f64.f16": "u0, h1; mov.b64 {t0, d0}, u0",
    }.items():
        body = f"mov.b32 {{h0, h1}}, a; {name} {form};"
        yield written("from part", "from_f16", f"{name} upper", body, (WORD,))


def scaled() -> Iterator[Snippet]:
    """Products that are multiplied or divided by 2, 4 or 8."""
    for flush, factor in product(("", ".ftz"), ("0f3F000000", "0f40000000", "0f40800000", "0f3E000000")):
        body = f"mul{flush}.f32 t0, a, b; mul{flush}.f32 d0, t0, {factor};"
        yield written("single operands", "f32", f"mul{flush} scaled {factor}", body, (WORD,) * 2)


def wide() -> Iterator[Snippet]:
    """Conversions to integers of 64 bits for which denormals are 0, and of bytes to doubles."""
    for way, kind in product(("rni", "rmi", "rpi", "rzi"), ("s64", "u64")):
        yield written(
            "to integer", "from_f32", f"cvt.{way}.ftz.{kind}.f32", f"cvt.{way}.ftz.{kind}.f32 d0, a;", (WORD,), (PAIR,)
        )
    for place, kind in product(range(4), ("u8", "s8")):
        body = f"bfe.{kind[0]}32 t0, a, {8 * place}, 8; cvt.{kind[0]}32.{kind} t0, t0; cvt.rn.f64.{kind[0]}32 d0, t0;"
        yield written("from part", "b32", f"byte {place} {kind} to double", body, (WORD,), (PAIR,))


def compared() -> Iterator[Snippet]:
    """Comparisons whose result is a single or a word, alone and with a predicate."""
    for name, kind in product(COMPARED, ("f32", "u32")):
        yield written("compare", "f32", f"set.{name}.{kind}.f32", f"set.{name}.{kind}.f32 d0, a, b;", (WORD,) * 2)
    for kind in ("f32", "u32"):
        yield written("compare", "f32", f"set.lt.ftz.{kind}.f32", f"set.lt.ftz.{kind}.f32 d0, a, b;", (WORD,) * 2)
        for joined in ("and", "or", "xor"):
            body = f"setp.gt.f32 p0, a, 0f3F800000; set.lt.{joined}.{kind}.f32 d0, a, b, p0;"
            yield written("compare", "f32", f"set.lt.{joined}.{kind}.f32", body, (WORD,) * 2)
