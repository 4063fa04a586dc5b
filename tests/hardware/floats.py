"""Snippets of single and double arithmetic, comparison and choice."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import PAIR, TRUTH, WORD, Snippet, snippet, written

ROUNDINGS = ("rn", "rz", "rm", "rp")
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
KINDS = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")


def singles() -> Iterator[Snippet]:
    """Sums, products and multiply-adds with each rounding, flush and saturation."""
    for rounding, flush, saturate in product(ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        suffix = f".{rounding}{flush}{saturate}.f32"
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            yield snippet("single", "f32", name + suffix, (WORD,) * count)
    for name in ("div.rn", "div.rz", "div.rm", "div.rp", "div.approx", "div.full"):
        yield from (snippet("single division", "f32", f"{name}{flush}.f32", (WORD,) * 2) for flush in ("", ".ftz"))
    for name in ("rcp", "sqrt"):
        for rounding, flush in product(ROUNDINGS, ("", ".ftz")):
            yield snippet("single division", "f32", f"{name}.{rounding}{flush}.f32", (WORD,))


def single_choices() -> Iterator[Snippet]:
    """Minima and maxima, signs, kinds of numbers and selections."""
    for name, form in product(("min", "max"), ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs")):
        yield snippet("single choice", "f32", f"{name}{form}.f32", (WORD,) * 2)
    for name, flush in product(("abs", "neg"), ("", ".ftz")):
        yield snippet("single choice", "f32", f"{name}{flush}.f32", (WORD,))
    yield snippet("single choice", "f32", "copysign.f32", (WORD,) * 2)
    yield from (snippet("single choice", "f32", f"testp.{kind}.f32", (WORD,), (TRUTH,)) for kind in KINDS)
    for form in ("b32.f32", "ftz.b32.f32", "b32.s32"):
        yield snippet("single choice", "f32", f"slct.{form}", (WORD,) * 3)
    for relation in RELATIONS:
        yield snippet("single comparison", "f32", f"set.{relation}.u32.f32", (WORD,) * 2)
        yield snippet("single comparison", "f32", f"set.{relation}.ftz.f32.f32", (WORD,) * 2)


def operands() -> Iterator[Snippet]:
    """Signs, bars, immediates and constants as operands."""
    for name, body in {
        "fma signs": "neg.f32 t0, a; abs.f32 t1, c; neg.f32 t1, t1; fma.rn.f32 d0, t0, b, t1;",
        "fma negative addend": "neg.f32 t0, c; fma.rn.ftz.f32 d0, a, b, t0;",
        "add bars": "abs.f32 t0, a; abs.f32 t1, b; neg.f32 t1, t1; add.rn.f32 d0, t0, t1;",
        "add ftz bars": "abs.ftz.f32 t0, a; neg.ftz.f32 t1, b; add.rn.ftz.f32 d0, t0, t1;",
        "mul signs": "neg.f32 t0, a; abs.f32 t1, b; mul.rn.f32 d0, t0, t1;",
        "min signs": "neg.f32 t0, a; abs.f32 t1, b; min.f32 d0, t0, t1;",
        "add immediate": "add.rn.f32 d0, a, 0f3FC00000;",
        "mul immediate": "mul.rn.f32 d0, a, 0f3DCCCCCD;",
        "fma immediate": "fma.rn.f32 d0, a, b, 0fBF800001;",
        "fma immediate factor": "fma.rn.f32 d0, a, 0f40490FDB, c;",
        "select single": "setp.gt.f32 p0, a, 0f00000000; selp.f32 d0, b, c, p0;",
    }.items():
        yield written("single operands", "f32", f"f32 {name}", body, (WORD,) * 3)
    for name, body in {
        "fma signs": "neg.f64 u0, a; abs.f64 u1, c; fma.rn.f64 d0, u0, b, u1;",
        "add bars": "abs.f64 u0, a; neg.f64 u1, b; add.rn.f64 d0, u0, u1;",
        "mul signs": "neg.f64 u0, a; abs.f64 u1, b; mul.rn.f64 d0, u0, u1;",
        "add immediate": "add.rn.f64 d0, a, 0d3FF8000000000000;",
        "fma immediate": "fma.rn.f64 d0, a, b, 0dBFF0000000000000;",
        "mul immediate": "mul.rn.f64 d0, a, 0d400921FB54442D18;",
    }.items():
        yield written("double operands", "f64", f"f64 {name}", body, (PAIR,) * 3, (PAIR,))


def doubles() -> Iterator[Snippet]:
    """Arithmetic, division, roots, choice and comparison of doubles."""
    for rounding in ROUNDINGS:
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            yield snippet("double", "f64", f"{name}.{rounding}.f64", (PAIR,) * count, (PAIR,))
        for name, count in (("div", 2), ("rcp", 1), ("sqrt", 1)):
            yield snippet("double division", "f64", f"{name}.{rounding}.f64", (PAIR,) * count, (PAIR,))
    yield snippet("double division", "f64", "rcp.approx.ftz.f64", (PAIR,), (PAIR,))
    yield snippet("double division", "f64", "rsqrt.approx.f64", (PAIR,), (PAIR,))
    yield snippet("double division", "f64", "rsqrt.approx.ftz.f64", (PAIR,), (PAIR,))
    for name, count in (("min", 2), ("max", 2), ("abs", 1), ("neg", 1), ("copysign", 2)):
        yield snippet("double choice", "f64", f"{name}.f64", (PAIR,) * count, (PAIR,))
    yield from (snippet("double choice", "f64", f"testp.{kind}.f64", (PAIR,), (TRUTH,)) for kind in KINDS)
    body = "setp.gt.f64 p0, a, 0d0000000000000000; selp.f64 d0, b, c, p0;"
    yield written("double choice", "f64", "f64 select double", body, (PAIR,) * 3, (PAIR,))


def comparisons() -> Iterator[Snippet]:
    """Each relation of singles and doubles, and pairs of predicates that combine with a third."""
    for relation in RELATIONS:
        yield snippet("single comparison", "f32", f"setp.{relation}.f32", (WORD,) * 2, (TRUTH,))
        yield snippet("single comparison", "f32", f"setp.{relation}.ftz.f32", (WORD,) * 2, (TRUTH,))
        yield snippet("double comparison", "f64", f"setp.{relation}.f64", (PAIR,) * 2, (TRUTH,))
    for operation, (kind, bits) in product(("and", "or", "xor"), (("f32", WORD), ("f64", PAIR))):
        body = f"setp.lt.{kind} p0, b, c; setp.leu.{operation}.{kind} d0|d1, a, b, !p0;"
        group = {"f32": "single", "f64": "double"}[kind]
        yield written(f"{group} comparison", kind, f"setp {operation} {kind}", body, (bits,) * 3, (TRUTH, TRUTH))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (singles, single_choices, operands, doubles, comparisons):
        yield from some()
