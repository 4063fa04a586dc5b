"""Snippets of halves and bfloat16s, two in a register."""

from collections.abc import Iterator
from itertools import product

from hardware.floats import RELATIONS
from hardware.snippet import HALF, TRUTH, WORD, Snippet, snippet, written


def half_arithmetic() -> Iterator[Snippet]:
    """Sums, products, multiply-adds and choices of halves."""
    for kind, bits in (("f16", HALF), ("f16x2", WORD)):
        for name, form in product(("add", "sub", "mul", "fma"), (".rn", ".rn.ftz", ".rn.sat", ".rn.ftz.sat")):
            count = 3 if name == "fma" else 2
            yield snippet("half", "f16", f"{name}{form}.{kind}", (bits,) * count, (bits,))
        for form in (".rn.relu", ".rn.ftz.relu"):
            yield snippet("half", "f16", f"fma{form}.{kind}", (bits,) * 3, (bits,))
        for name, form in product(("min", "max"), ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs")):
            yield snippet("half", "f16", f"{name}{form}.{kind}", (bits,) * 2, (bits,))
        for name in ("neg", "abs", "neg.ftz", "abs.ftz"):
            yield snippet("half", "f16", f"{name}.{kind}", (bits,), (bits,))
    body = "neg.f16x2 t0, a; abs.f16x2 t1, c; fma.rn.f16x2 d0, t0, b, t1;"
    yield written("half", "f16", "f16x2 signs", body, (WORD,) * 3)
    body = "mov.b32 {h0, h1}, a; mov.b32 {h2, h3}, b; fma.rn.f16 h4, h1, h2, h0; fma.rn.f16 h5, h0, h3, h3;"
    yield written("half", "f16", "f16x2 parts", body + "mov.b32 d0, {h4, h5};", (WORD,) * 2)
    body = "mov.b32 {h0, h1}, a; mov.b32 t0, {h1, h1}; fma.rn.f16x2 d0, t0, b, c;"
    yield written("half", "f16", "f16x2 broadcast", body, (WORD,) * 3)
    yield written("half", "f16", "f16x2 immediate", "mov.b32 t0, 0x3c00c100; fma.rn.f16x2 d0, a, t0, b;", (WORD,) * 2)


def bfloat_arithmetic() -> Iterator[Snippet]:
    """The same of bfloat16s, which have fewer forms."""
    for kind, bits in (("bf16", HALF), ("bf16x2", WORD)):
        for name, count in (("add.rn", 2), ("sub.rn", 2), ("mul.rn", 2), ("fma.rn", 3), ("fma.rn.relu", 3)):
            yield snippet("bfloat16", "bf16", f"{name}.{kind}", (bits,) * count, (bits,))
        for name, form in product(("min", "max"), ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")):
            yield snippet("bfloat16", "bf16", f"{name}{form}.{kind}", (bits,) * 2, (bits,))
        for name in ("neg", "abs"):
            yield snippet("bfloat16", "bf16", f"{name}.{kind}", (bits,), (bits,))


def comparisons() -> Iterator[Snippet]:
    """Each relation, of one half and of two."""
    for relation in RELATIONS:
        for kind in ("f16", "bf16"):
            yield snippet("half comparison", kind, f"setp.{relation}.{kind}", (HALF,) * 2, (TRUTH,))
            body = f"setp.{relation}.{kind}x2 d0|d1, a, b;"
            yield written("half comparison", kind, f"setp.{relation}.{kind}x2", body, (WORD,) * 2, (TRUTH, TRUTH))
            yield snippet("half comparison", kind, f"set.{relation}.{kind}x2.{kind}x2", (WORD,) * 2)
            yield snippet("half comparison", kind, f"set.{relation}.u32.{kind}x2", (WORD,) * 2)
    for relation in ("lt", "geu"):
        body = f"setp.{relation}.ftz.f16x2 d0|d1, a, b;"
        yield written("half comparison", "f16", f"setp.{relation}.ftz.f16x2", body, (WORD,) * 2, (TRUTH, TRUTH))
    for operation in ("and", "or", "xor"):
        body = f"setp.lt.f16 p0, h1, h2; setp.gt.{operation}.f16x2 d0|d1, a, b, p0;"
        body = "mov.b32 {h0, h1}, a; mov.b32 {h2, h3}, b;" + body
        yield written("half comparison", "f16", f"setp {operation} f16x2", body, (WORD,) * 2, (TRUTH, TRUTH))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (half_arithmetic, bfloat_arithmetic, comparisons):
        yield from some()
