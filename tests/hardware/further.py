"""Snippets that are not recorded yet: extremes of three and of sums, bytes and upper halves, generic addresses."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import WORD, Snippet, written


def extremes() -> Iterator[Snippet]:
    """Extremes of sums and of three numbers, alone and two in a word, with and without a floor of 0."""
    for kind, name, relu in product(("s32", "u32", "s16x2", "u16x2"), ("min", "max"), ("", ".relu")):
        if kind[0] == "u" and relu:
            continue
        floor = relu.replace(".", " ")
        body = f"add.{kind} t0, a, b; {name}{relu}.{kind} d0, t0, c;"
        yield written("extreme", "b32", f"{name} of sum {kind}{floor}", body, (WORD,) * 3)
        body = f"{name}.{kind} t0, a, b; {name}{relu}.{kind} d0, t0, c;"
        yield written("extreme", "b32", f"{name} of three {kind}{floor}", body, (WORD,) * 3)


def parts() -> Iterator[Snippet]:
    """Conversions of each byte of a word, and of its upper half; products that are scaled."""
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
    for flush, factor in product(("", ".ftz"), ("0f3F000000", "0f40000000", "0f40800000", "0f3E000000")):
        body = f"mul{flush}.f32 t0, a, b; mul{flush}.f32 d0, t0, {factor};"
        yield written("single operands", "f32", f"mul{flush} scaled {factor}", body, (WORD,) * 2)


def generic() -> Iterator[Snippet]:
    """Loads, stores and atomics by addresses of which the code does not say the space."""
    for name in ("add.u32", "min.s32", "max.u32", "xor.b32", "exch.b32"):
        body = f"atom.{name} d0, [C], a; ld.volatile.b32 d1, [C];"
        yield written("atomic", "b32", f"atom generic {name}", body, (WORD,) * 3, (WORD, WORD))
    yield written(
        "access", "b32", "generic", "ld.b32 d0, [A]; st.b32 [A], b; ld.volatile.b32 d1, [A];", (WORD,) * 2, (WORD,) * 2
    )


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (extremes, parts, generic):
        yield from some()
