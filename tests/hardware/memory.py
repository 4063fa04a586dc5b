"""Snippets of atomics, each lane on a place of its own, and of accesses of all sizes."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import PAIR, WORD, Snippet, written

ATOMICS = {
    "b32": ("add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32", "exch.b32",
            "inc.u32", "dec.u32"),
    "b64": ("add.u64", "min.u64", "max.u64", "min.s64", "max.s64", "and.b64", "or.b64", "xor.b64", "exch.b64"),
    "f32": ("add.f32",),
    "f64": ("add.f64",),
    "f16": ("add.noftz.f16x2",),
    "bf16": ("add.noftz.bf16x2",),
}  # fmt: skip
SHARED = ".shared .align 16 .b8 S[16384]; .reg .b32 s; "
OWN = {WORD: "mov.u32 s, %tid.x; shl.b32 s, s, 2; mov.u32 t1, S; add.u32 s, s, t1; ",
       PAIR: "mov.u32 s, %tid.x; shl.b32 s, s, 3; mov.u32 t1, S; add.u32 s, s, t1; "}  # fmt: skip


def atomics() -> Iterator[Snippet]:
    """Each operation in global and in shared memory: what it returns and what it leaves, and without a return."""
    for inputs, names in ATOMICS.items():
        bits = PAIR if inputs in ("b64", "f64") else WORD
        for name in names:
            yield from _both(inputs, bits, name)
    for bits, kind, inputs in ((WORD, "b32", "b32"), (PAIR, "b64", "b64")):
        # c is a or b: the two ways of a comparison
        swap = f"and.b32 t2, lane, 1; setp.ne.u32 p0, t2, 0; selp.b{bits} c, a, c, p0;"
        for space in ("global", "shared"):
            body = _around(space, bits, f"atom.{space}.cas.{kind} d0, [{{place}}], a, b;", before=swap)
            name = f"atom.{space}.cas.{kind}"
            yield written("atomic", inputs, name, body, (bits,) * 3, (bits, bits), _declared(space))
    for space in ("global", "shared"):
        body = _around(space, WORD, f"atom.{space}.cas.b16 h2, [{{place}}], h0, h1; cvt.u32.u16 d0, h2;")
        before = (
            "cvt.u16.u32 h0, a; cvt.u16.u32 h1, b; and.b32 t2, lane, 1; setp.ne.u32 p0, t2, 0; selp.b32 c, a, c, p0;"
        )
        name = f"atom.{space}.cas.b16"
        yield written("atomic", "b32", name, before + body, (WORD,) * 3, (WORD, WORD), _declared(space))


def _both(inputs: str, bits: int, name: str) -> Iterator[Snippet]:
    for space in ("global", "shared"):
        body = _around(space, bits, f"atom.{space}.{name} d0, [{{place}}], a;")
        yield written(
            "atomic", inputs, f"atom.{space}.{name}", body, (bits, bits, bits), (bits, bits), _declared(space)
        )
        if not name.startswith("exch"):
            body = _around(space, bits, f"red.{space}.{name} [{{place}}], a; mov.b{bits} d0, a;")
            yield written(
                "atomic", inputs, f"red.{space}.{name}", body, (bits, bits, bits), (bits, bits), _declared(space)
            )


def _around(space: str, bits: int, atomic: str, before: str = "") -> str:
    """Return a body that puts c into the lane's own place, does the atomic there, and reads the place."""
    if space == "shared":
        put, got = f"st.shared.b{bits} [s], c; bar.sync 0;", f"bar.sync 0; ld.shared.b{bits} d1, [s];"
        return f"{before} {OWN[bits]} {put} {atomic} {got}".format(place="s")
    return f"{before} {atomic} ld.volatile.global.b{bits} d1, [C];".format(place="C")


def _declared(space: str) -> str:
    return SHARED if space == "shared" else ""


def together() -> Iterator[Snippet]:
    """All lanes of a block on one place, with operations whose order does not matter."""
    start = "mov.u32 s, S; mov.u32 t1, %tid.x; setp.eq.u32 p0, t1, 0; @p0 st.shared.b32 [s], 5; bar.sync 0; "
    for name in ("add.u32", "max.s32", "min.u32", "xor.b32", "or.b32", "and.b32"):
        body = f"{start} red.shared.{name} [s], a; bar.sync 0; ld.shared.b32 d0, [s];"
        yield written("atomic", "b32", f"together {name}", body, (WORD,), (WORD,), SHARED)
    body = f"{start} red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.b32 d0, [s];"
    yield written("atomic", "b32", "together count", body, (WORD,), (WORD,), SHARED)


SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "b32": 4, "b64": 8}


def accesses() -> Iterator[Snippet]:
    """Loads and stores of all sizes, in global, shared and local memory."""
    local = ".local .align 16 .b8 L[32]; .reg .b32 s; "
    for (kind, size), space in product(SIZES.items(), ("global", "shared", "local")):
        aligned = f"and.b64 u0, b, {8 - size};" if size < 8 else "mov.b64 u0, 0;"
        bits = PAIR if size == 8 else WORD
        value = "c" if size == 8 else "t2"
        kept = "cvt.u32.u64 t2, c;"
        put = f"st.{space}.{kind.replace('s', 'u')} [{{place}}], {value};"
        got = f"ld.{space}.{kind} d0, [{{place}}];"
        whole = f"ld.{space}.b64 d1, [{{whole}}];"
        if space == "global":
            body = (
                f"{aligned} add.u64 u1, A, u0; {kept} ld.global.{kind} d0, [u1]; {put} ld.volatile.global.b64 d1, [A];"
            )
            text = body.format(place="u1")
            yield written("access", "b64", f"access {space} {kind}", text, (PAIR,) * 3, (bits, PAIR))
            continue
        own = OWN[PAIR] if space == "shared" else "mov.u32 s, L; "
        body = (
            f"{aligned} {own} st.{space}.b64 [s], a; cvt.u32.u64 t3, u0; add.u32 t3, t3, s; {kept} {got} {put} {whole}"
        )
        declared = SHARED if space == "shared" else local
        text = body.format(place="t3", whole="s")
        yield written("access", "b64", f"access {space} {kind}", text, (PAIR,) * 3, (bits, PAIR), declared)


def vectors() -> Iterator[Snippet]:
    """Accesses of two and four words, and a lane's exchange through shared memory."""
    body = "ld.global.v2.b32 {d0, d1}, [A]; "
    yield written("access", "b64", "vector 2", body, (PAIR,), (WORD, WORD))
    body = OWN[PAIR] + "st.shared.v2.b32 [s], {a, b}; bar.sync 0; xor.b32 s, s, 24; ld.shared.v2.b32 {d0, d1}, [s];"
    yield written("access", "b32", "exchange", body, (WORD,) * 2, (WORD, WORD), SHARED)
    body = "mov.u32 s, %tid.x; shl.b32 s, s, 4; mov.u32 t1, S; add.u32 s, s, t1; st.shared.v4.b32 [s], {a, b, c, a};"
    body += "bar.sync 0; xor.b32 s, s, 16; ld.shared.v4.b32 {d0, d1, d2, d3}, [s];"
    yield written("access", "b32", "exchange 4", body, (WORD,) * 3, (WORD,) * 4, SHARED)
    body = "mov.b64 u0, 0; atom.global.add.noftz.f16 h1, [C], h0; cvt.u32.u16 d0, h1; ld.volatile.global.b32 d1, [C];"
    body = "cvt.u16.u32 h0, a; " + body
    yield written("atomic", "f16", "atom.global.add.noftz.f16", body, (WORD,) * 3, (WORD, WORD))
    body = body.replace("noftz.f16", "noftz.bf16")
    yield written("atomic", "bf16", "atom.global.add.noftz.bf16", body, (WORD,) * 3, (WORD, WORD))
    body = "mov.b32 {h0, h1}, a; mov.b32 d0, {h1, h0};"
    yield written("bytes", "b32", "swap halves", body, (WORD,))
    body = "and.b64 u0, A, -16; ld.global.nc.v4.b32 {d0, d1, d2, d3}, [u0]; ld.global.nc.b64 d4, [B];"
    yield written("access", "b64", "vector 4 constant", body, (PAIR,) * 2, (WORD,) * 4 + (PAIR,))
    body = "and.b64 u0, A, -16; ld.global.v4.b32 {d0, d1, d2, d3}, [u0]; ld.volatile.global.b64 d4, [B];"
    yield written("access", "b64", "vector 4", body, (PAIR,) * 2, (WORD,) * 4 + (PAIR,))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (atomics, together, accesses, vectors):
        yield from some()
