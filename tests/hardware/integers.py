"""Snippets of integer arithmetic, logic, shifts, bits, bytes and comparison."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import HALF, PAIR, TRUTH, WORD, Snippet, snippet, written

BITS = {"16": HALF, "32": WORD, "64": PAIR}
SETS = {"16": "b16", "32": "b32", "64": "b64"}
DIVISORS = (3, 5, 7, 10, 100, 641, 1000, -7)


def sums() -> Iterator[Snippet]:
    """Sums, differences, products and choices of each type."""
    for kind, width in product("us", ("16", "32", "64")):
        bits, inputs = BITS[width], SETS[width]
        for name in ("add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"):
            group = "integer division" if name in ("div", "rem") else "integer"
            yield snippet(group, inputs, f"{name}.{kind}{width}", (bits,) * 2, (bits,))
        yield snippet("integer", inputs, f"mad.lo.{kind}{width}", (bits,) * 3, (bits,))
        yield snippet("integer", inputs, f"mad.hi.{kind}{width}", (bits,) * 3, (bits,))
        yield snippet("integer", inputs, f"sad.{kind}{width}", (bits,) * 3, (bits,))
    for width in ("16", "32", "64"):
        yield snippet("integer", SETS[width], f"abs.s{width}", (BITS[width],), (BITS[width],))
        yield snippet("integer", SETS[width], f"neg.s{width}", (BITS[width],), (BITS[width],))
    for kind in "us":
        yield snippet("integer", "b32", f"mul.wide.{kind}32", (WORD,) * 2, (PAIR,))
        yield snippet("integer", "b16", f"mul.wide.{kind}16", (HALF,) * 2, (WORD,))
        yield snippet("integer", "wide", f"mad.wide.{kind}32", (WORD, WORD, PAIR), (PAIR,))
        yield snippet("integer", "b32", f"mul24.lo.{kind}32", (WORD,) * 2)
        yield snippet("integer", "b32", f"mul24.hi.{kind}32", (WORD,) * 2)
        yield snippet("integer", "b32", f"mad24.lo.{kind}32", (WORD,) * 3)
    for name, count in (("add.sat.s32", 2), ("sub.sat.s32", 2), ("mad.hi.sat.s32", 3), ("min.relu.s32", 2)):
        yield snippet("integer", "b32", name, (WORD,) * count)
    for name in ("add.u16x2", "add.s16x2", "min.u16x2", "max.u16x2", "min.s16x2", "max.s16x2", "max.relu.s16x2"):
        yield snippet("integer", "b32", name, (WORD,) * 2)


CARRIES = {
    "add 128": "add.cc.u64 d0, a, b; addc.u64 d1, b, c;",
    "sub 128": "sub.cc.u64 d0, a, b; subc.u64 d1, b, c;",
    "mad 128": "mad.lo.cc.u64 d0, a, b, c; madc.hi.u64 d1, a, b, c;",
}
CARRIES_32 = {
    "add 96": "add.cc.u32 d0, a, b; addc.cc.u32 d1, b, c; addc.u32 d2, c, a;",
    "sub 96": "sub.cc.u32 d0, a, b; subc.cc.u32 d1, b, c; subc.u32 d2, c, a;",
    "mad 64": "mad.lo.cc.u32 d0, a, b, c; madc.hi.cc.u32 d1, a, b, b; addc.u32 d2, c, a;",
    "madc": "add.cc.u32 d0, a, b; madc.lo.cc.u32 d1, b, c, a; madc.hi.s32 d2, b, c, a;",
    "carry out": "add.cc.u32 d0, a, b; addc.u32 d1, 0, 0; sub.cc.u32 d2, a, c;",
}
SUMS_32 = {
    "three": "add.u32 t0, a, b; add.u32 d0, t0, c;",
    "three signs": "sub.u32 t0, a, b; sub.u32 d0, t0, c;",
    "negative": "neg.s32 t0, a; sub.u32 d0, t0, b;",
    "add immediate": "add.u32 t0, a, 0xfffffff3; add.u32 d0, t0, b;",
    "mad immediate": "mad.lo.u32 d0, a, 0x12345, c;",
    "mad negative": "mul.lo.u32 t0, a, b; sub.u32 d0, c, t0;",
    "scaled": "shl.b32 t0, a, 5; add.u32 d0, t0, b;",
    "scaled up": "shl.b32 t0, a, 2; sub.u32 d0, b, t0;",
    "min max": "min.s32 t0, a, b; max.s32 d0, t0, c;",
    "unsigned min max": "max.u32 t0, a, b; min.u32 d0, t0, c;",
    "add max": "add.s32 t0, a, b; max.s32 d0, t0, c;",
    "add min": "add.u32 t0, a, b; min.u32 d0, t0, c;",
    "abs difference": "sub.s32 t0, a, b; abs.s32 d0, t0;",
    "select": "setp.gt.s32 p0, a, 17; selp.b32 d0, b, c, p0;",
    "square": "mul.lo.u32 d0, a, a;",
    "cnot": "cnot.b32 d0, a;",
    "select by sign": "slct.u32.s32 d0, a, b, c;",
}
SUMS_64 = {
    "three 64": "add.u64 u0, a, b; add.u64 d0, u0, c;",
    "negative 64": "neg.s64 u0, a; sub.u64 d0, u0, b;",
    "scaled 64": "shl.b64 u0, a, 3; add.u64 d0, u0, b;",
    "add immediate 64": "add.u64 d0, a, 0x123456789;",
    "mul immediate 64": "mul.lo.u64 d0, a, 0x10001;",
    "select 64": "setp.gt.s64 p0, a, 17; selp.b64 d0, b, c, p0;",
    "min max 64": "min.s64 u0, a, b; max.s64 d0, u0, c;",
}


def bodies() -> Iterator[Snippet]:
    """Chains of carries, sums that one instruction may hold, and immediates."""
    for name, body in CARRIES.items():
        yield written("carry", "b64", name, body, (PAIR,) * 3, (PAIR,) * 2)
    for name, body in CARRIES_32.items():
        yield written("carry", "b32", name, body, (WORD,) * 3, (WORD,) * 3)
    for name, body in SUMS_32.items():
        yield written("integer", "b32", f"int {name}", body, (WORD,) * 3)
    for name, body in SUMS_64.items():
        yield written("integer", "b64", f"int {name}", body, (PAIR,) * 3, (PAIR,))
    for kind, inputs, divisor in product("us", ("b32", "b64"), DIVISORS):
        if kind == "s" or divisor > 0:
            width, bits = inputs[1:], BITS[inputs[1:]]
            for name in ("div", "rem"):
                what = f"{name}.{kind}{width} by {divisor}".replace("-", "minus ")
                body = f"{name}.{kind}{width} d0, a, {divisor};"
                yield written("integer division", inputs, what, body, (bits,), (bits,))


def logic() -> Iterator[Snippet]:
    """Bitwise operations, all 256 truth tables among them."""
    for name, width in product(("and", "or", "xor"), ("16", "32", "64")):
        yield snippet("logic", SETS[width], f"{name}.b{width}", (BITS[width],) * 2, (BITS[width],))
    yield from (snippet("logic", SETS[w], f"not.b{w}", (BITS[w],), (BITS[w],)) for w in ("16", "32", "64"))
    for first in range(0, 256, 32):
        body = "\n".join(f"lop3.b32 d{k}, a, b, c, {first + k};" for k in range(32))
        yield written("logic", "truths", f"lop3 from {first}", body, (WORD,) * 3, (WORD,) * 32)
    yield written("logic", "b32", "lop3 zero", "lop3.b32 d0, a, b, c, 0xCA;", (WORD,) * 3)
    yield written("logic", "b32", "and immediate", "and.b32 d0, a, 0xff00ff;", (WORD,))
    for operation in ("and", "or", "xor"):
        body = f"setp.lt.u32 p0, a, b; setp.lt.s32 p1, b, c; {operation}.pred d0, p0, p1; not.pred d1, d0;"
        yield written("logic", "b32", f"{operation}.pred", body, (WORD,) * 3, (TRUTH, TRUTH))
    body = "setp.lt.u32 p0, a, b; setp.lt.s32 p1, b, c; setp.eq.u32 p2, a, c; and.pred p3, p0, p1; xor.pred d0, p3, p2;"
    yield written("logic", "b32", "three predicates", body, (WORD,) * 3, (TRUTH,))
    body = "setp.lt.u32 p0, a, b; lop3.or.b32 d0|d1, a, b, c, 0x6A, p0;"
    yield written("logic", "b32", "lop3.or", body, (WORD,) * 3, (WORD, TRUTH))


def shifts() -> Iterator[Snippet]:
    """Shifts and funnel shifts by registers, then by constants."""
    for name in ("shl.b32", "shr.u32", "shr.s32"):
        yield snippet("shift", "shift32", name, (WORD,) * 2)
    for name in ("shl.b64", "shr.u64", "shr.s64"):
        yield snippet("shift", "shift64", name, (PAIR, WORD), (PAIR,))
        yield from (
            written("shift", "shift64", f"{name} by {k}", f"{name} d0, a, {k};", (PAIR,), (PAIR,)) for k in (5, 32, 40)
        )
    for name in ("shl.b16", "shr.u16", "shr.s16"):
        yield snippet("shift", "shift32", name, (HALF, WORD), (HALF,))
    for side, mode in product("lr", ("clamp", "wrap")):
        yield written("shift", "shift32", f"shf.{side}.{mode}.b32", f"shf.{side}.{mode}.b32 d0, a, c, b;", (WORD,) * 3)
    yield written("shift", "shift32", "rotate", "shf.l.wrap.b32 d0, a, a, 7;", (WORD,))
    yield written("shift", "shift32", "shr.s32 by 31", "shr.s32 d0, a, 31;", (WORD,))


def bits() -> Iterator[Snippet]:
    """Fields, counts, searches and orders of bits; bytes; dot products."""
    for kind, (width, word) in product("us", (("32", WORD), ("64", PAIR))):
        yield snippet("bits", f"field{width}", f"bfe.{kind}{width}", (word, WORD, WORD), (word,))
        yield snippet("bits", SETS[width], f"bfind.{kind}{width}", (word,))
        yield snippet("bits", SETS[width], f"bfind.shiftamt.{kind}{width}", (word,))
    for width, word in (("32", WORD), ("64", PAIR)):
        yield snippet("bits", SETS[width], f"brev.b{width}", (word,), (word,))
        yield snippet("bits", SETS[width], f"clz.b{width}", (word,))
        yield snippet("bits", SETS[width], f"popc.b{width}", (word,))
        zero = "0" if width == "32" else "0x1234567890abcdef"
        body = f"bfi.b{width} d0, a, {zero}, b, c;"
        yield written("bits", f"field{width}", f"bfi.b{width}", body, (word, WORD, WORD), (word,))
    body = "and.b32 t0, b, 31; and.b32 t1, c, 7; sub.s32 t1, t1, 3; fns.b32 d0, a, t0, t1;"
    yield written("bits", "field32", "fns.b32", body, (WORD,) * 3)
    for mode in ("clamp", "wrap"):
        yield written("bits", "field32", f"bmsk.{mode}", f"bmsk.{mode}.b32 d0, b, c;", (WORD,) * 3)
        for kind in "us":
            yield snippet("bits", "shift32", f"szext.{mode}.{kind}32", (WORD,) * 2)
    yield written("bytes", "b32", "prmt", "prmt.b32 d0, a, b, c;", (WORD,) * 3)
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield snippet("bytes", "b32", f"prmt.b32.{mode}", (WORD,) * 3)
    yield written("bytes", "b32", "prmt immediate", "prmt.b32 d0, a, b, 0x9a41;", (WORD,) * 2)
    for left, right in product("us", "us"):
        yield snippet("bytes", "b32", f"dp4a.{left}32.{right}32", (WORD,) * 3)
        yield snippet("bytes", "b32", f"dp2a.lo.{left}32.{right}32", (WORD,) * 3)
        yield snippet("bytes", "b32", f"dp2a.hi.{left}32.{right}32", (WORD,) * 3)
    for name in (
        "vabsdiff4.u32.u32.u32",
        "vabsdiff4.s32.s32.s32",
        "vabsdiff4.u32.u32.u32.add",
        "vadd4.s32.s32.s32.sat",
    ):
        yield snippet("bytes", "b32", name, (WORD,) * 3)


def comparisons() -> Iterator[Snippet]:
    """Each relation of the integer types."""
    for relation, kind, width in product(("eq", "ne", "lt", "le", "gt", "ge"), "us", ("16", "32", "64")):
        bits = BITS[width]
        yield snippet("integer comparison", SETS[width], f"setp.{relation}.{kind}{width}", (bits,) * 2, (TRUTH,))
    yield from (
        snippet("integer comparison", "b32", f"set.{relation}.{result}.{kind}32", (WORD,) * 2)
        for relation, result, kind in product(("lt", "ge"), ("u32", "f32"), "us")
    )
    for operation, kind in product(("and", "or", "xor"), ("u32", "s32", "u64", "s64")):
        bits, inputs = BITS[kind[1:]], SETS[kind[1:]]
        body = f"setp.lt.{kind} p0, b, c; setp.le.{operation}.{kind} d0|d1, a, b, !p0;"
        yield written("integer comparison", inputs, f"setp {operation} {kind}", body, (bits,) * 3, (TRUTH, TRUTH))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (sums, bodies, logic, shifts, bits, comparisons):
        yield from some()
