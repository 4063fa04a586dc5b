"""Snippets of instructions that read other lanes of their warp."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import TRUTH, WORD, Snippet, written

CLAMPS = {"up": ("0x0", "0x1800", "0x1C00"), "down": ("0x1f", "0x181f", "0x1f1f"), "bfly": ("0x1f", "0x181f", "0xf07")}
ALL = "0xffffffff"


def shuffles() -> Iterator[Snippet]:
    """Each mode with whole warps, segments and limits; distances that differ by lane, then constant ones."""
    for mode, clamps in (CLAMPS | {"idx": ("0x1f", "0x181f", "0x1c0b")}).items():
        for clamp in clamps:
            body = f"shfl.sync.{mode}.b32 d0|d1, a, b, {clamp}, {ALL};"
            yield written("shuffle", "lanes", f"shfl.{mode} {clamp}", body, (WORD,) * 2, (WORD, TRUTH))
        body = f"shfl.sync.{mode}.b32 d0|d1, a, 3, {clamps[0]}, {ALL};"
        yield written("shuffle", "lanes", f"shfl.{mode} by 3", body, (WORD,), (WORD, TRUTH))
        body = f"and.b32 t0, c, 1; or.b32 t0, t0, {clamps[1]}; shfl.sync.{mode}.b32 d0|d1, a, b, t0, {ALL};"
        yield written("shuffle", "lanes", f"shfl.{mode} clamp register", body, (WORD,) * 3, (WORD, TRUTH))


def votes() -> Iterator[Snippet]:
    """Votes, matches and reductions of whole warps, some also of a part of them."""
    for mode in ("all", "any", "uni"):
        body = f"setp.ne.u32 p0, c, 0; vote.sync.{mode}.pred d0, p0, {ALL};"
        yield written("vote", "lanes", f"vote.{mode}", body, (WORD,) * 3, (TRUTH,))
    body = f"setp.ne.u32 p0, c, 0; vote.sync.ballot.b32 d0, p0, {ALL}; activemask.b32 d1;"
    yield written("vote", "lanes", "vote.ballot", body, (WORD,) * 3, (WORD, WORD))
    yield written("vote", "lanes", "elect", f"elect.sync d0|d1, {ALL};", (WORD,), (WORD, TRUTH))
    for letter in "bc":
        body = f"match.any.sync.b32 d0, {letter}, {ALL};"
        yield written("match", "lanes", f"match.any {letter}", body, (WORD,) * 3)
        body = f"match.all.sync.b32 d0|d1, {letter}, {ALL};"
        yield written("match", "lanes", f"match.all {letter}", body, (WORD,) * 3, (WORD, TRUTH))
        body = f"mov.b64 u0, {{c, {letter}}}; match.any.sync.b64 d0, u0, {ALL}; match.all.sync.b64 d1|d2, u0, {ALL};"
        yield written("match", "lanes", f"match.b64 {letter}", body, (WORD,) * 3, (WORD, WORD, TRUTH))
    for name, kind in product(("add", "min", "max"), ("u32", "s32")):
        yield _reduction(f"redux.sync.{name}.{kind}")
    yield from (_reduction(f"redux.sync.{name}.b32") for name in ("and", "or", "xor"))


def _reduction(name: str) -> Snippet:
    return written("reduction", "lanes", name, f"{name} d0, a, {ALL};", (WORD,))


def parts() -> Iterator[Snippet]:
    """The same in a part of a warp: the lanes below 13 go one way, the others the other way."""
    for name, one in {
        "shfl": "shfl.sync.idx.b32 d0, a, {lane}, 0x1f, {mask};",
        "ballot": "setp.ne.u32 p1, c, 0; vote.sync.ballot.b32 d0, p1, {mask};",
        "match": "match.any.sync.b32 d0, c, {mask};",
        "redux": "redux.sync.add.s32 d0, a, {mask};",
        "activemask": "activemask.b32 d0;",
    }.items():
        low, high = one.format(mask="0x1fff", lane=5), one.format(mask="0xffffe000", lane=20)
        label = f"L{name}"
        body = f"setp.lt.u32 p0, lane, 13; @p0 bra {label}1; {high} bra {label}2; {label}1: {low} {label}2:"
        yield written("part of a warp", "lanes", f"part {name}", body, (WORD,) * 3)


def blocks() -> Iterator[Snippet]:
    """Votes of a whole block at a barrier."""
    test = "setp.ne.u32 p0, c, 0; "
    yield written("vote", "lanes", "bar.red.popc", f"{test} bar.red.popc.u32 d0, 0, p0;", (WORD,) * 3)
    for name in ("and", "or"):
        body = f"{test} bar.red.{name}.pred d0, 0, p0;"
        yield written("vote", "lanes", f"bar.red.{name}", body, (WORD,) * 3, (TRUTH,))


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    for some in (shuffles, votes, parts, blocks):
        yield from some()
