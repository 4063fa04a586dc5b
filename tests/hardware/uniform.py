"""Snippets whose operands are the same in all lanes, so that the compiler may choose the uniform datapath."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hardware.snippet import PAIR, Snippet, written

BODIES = {
    "add": "add.u32 t0, a, b; sub.u32 d0, t0, c;",
    "mad": "mad.lo.u32 d0, a, b, c;",
    "multiply": "mul.lo.u32 d0, a, b;",
    "high": "mul.hi.u32 d0, a, b; mul.hi.s32 d1, a, b;",
    "lop3": "lop3.b32 d0, a, b, c, 0x6A; lop3.b32 d1, a, b, c, 0xCA;",
    "not": "not.b32 d0, a; neg.s32 d1, b;",
    "scaled": "shl.b32 t0, a, 4; add.u32 d0, t0, b; shr.u32 d1, a, 7;",
    "bits": "popc.b32 d0, a; brev.b32 d1, a;",
    "find": "bfind.u32 d0, a; bfind.s32 d1, a;",
    "count": "clz.b32 d0, a; abs.s32 d1, b;",
    "permute": "prmt.b32 d0, a, b, 0x5140; prmt.b32 d1, a, c, b;",
    "min max": "min.s32 d0, a, b; max.u32 d1, b, c;",
    "select": "setp.lt.s32 p0, a, b; selp.b32 d0, b, c, p0; setp.ge.u32 p1, a, c; selp.b32 d1, 1, a, p1;",
    "carry": "add.cc.u32 d0, a, b; addc.u32 d1, b, c;",
    "borrow": "sub.cc.u32 d0, a, b; subc.u32 d1, b, c;",
    "field": "bfe.u32 d0, a, 5, 9; bfi.b32 d1, a, b, 3, 12;",
    "single": "fma.rn.f32 d0, a, b, c; add.rn.f32 d1, a, c;",
    "predicates": "setp.lt.s32 p0, a, b; setp.eq.or.u32 p1, b, c, p0; xor.pred p2, p0, p1; selp.b32 d0, 5, 9, p2;"
    " and.pred p3, p1, p2; selp.b32 d1, a, b, p3;",
}
WIDE = {
    "add 64": "add.u64 u0, a, b; sub.u64 d0, u0, c;",
    "multiply 64": "mul.lo.u64 d0, a, b;",
    "logic 64": "and.b64 u0, a, b; xor.b64 d0, u0, c;",
    "compare 64": "setp.lt.s64 p0, a, b; selp.b64 d0, b, c, p0;",
    "shifts 64": "shl.b64 u0, a, 7; shr.s64 u1, b, 13; add.u64 d0, u0, u1;",
}


SHIFTS = {
    "shl.b32": "shl.b32 d0, a, n;",
    "shr.u32": "shr.u32 d0, a, n;",
    "shr.s32": "shr.s32 d0, a, n;",
    "shf.l.clamp": "shf.l.clamp.b32 d0, a, b, n;",
    "shf.r.clamp": "shf.r.clamp.b32 d0, a, b, n;",
    "shf.l.wrap": "shf.l.wrap.b32 d0, a, b, n;",
    "shf.r.wrap": "shf.r.wrap.b32 d0, a, b, n;",
    "bmsk": "and.b32 t4, b, 31; bmsk.clamp.b32 d0, t4, n; bmsk.wrap.b32 d1, t4, n;",
    "szext": "szext.clamp.s32 d0, a, n; szext.wrap.u32 d1, a, n;",
}
WIDE_SHIFTS = {
    f"{name} count": f"and.b64 u2, b, 127; cvt.u32.u64 t1, u2; {name} d0, a, t1;"
    for name in ("shl.b64", "shr.u64", "shr.s64")
}
WORDS = {"a": "t1", "b": "t2", "c": "t3", "d0": "t5", "d1": "t6", "n": "t4"}


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    relations = {
        f"{name} {kind}": f"setp.{name}.{kind} p0, a, b; selp.b32 d0, 1, c, p0;"
        for name, kind in product(("eq", "ne", "lt", "le", "gt", "ge"), ("u32", "s32"))
    }
    for name, body in (BODIES | relations).items():
        yield _of_words(name, body)
    for name, body in SHIFTS.items():
        yield _of_words(name, f"and.b32 n, n, 63; {body}")
    for name, body in (WIDE | WIDE_SHIFTS).items():
        yield _uniform(name, body)


def _of_words(name: str, body: str) -> Snippet:
    """Return the snippet of a body on three words and a count n, halves of the sources: so it becomes uniform code."""
    renamed = re.sub(r"\b(a|b|c|d0|d1|n)\b", lambda found: WORDS[found[1]], body)
    return _uniform(
        name, f"mov.b64 {{t1, t2}}, a; mov.b64 {{t3, t4}}, b; mov.b32 t6, t3; {renamed} mov.b64 d0, {{t5, t6}};"
    )


def _uniform(name: str, body: str) -> Snippet:
    return replace(written("uniform", "uniform64", f"uniform {name}", body, (PAIR,) * 3, (PAIR,)), uniform=True)
