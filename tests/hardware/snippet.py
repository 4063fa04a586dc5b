"""A snippet: a few instructions of PTX on up to three sources, and the kernel that runs them in every lane.

In a body `a b c` are the sources, `d0 d1 ...` the results, and these are free to use: `t0 .. t7` (32 bits), `u0 .. u7`
(64 bits), `h0 .. h7` (16 bits), `p0 .. p7` (predicates), `q` (128 bits). `A B C D` are the places in global memory of
the lane's sources and of its first result, and `lane` its number in the warp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TEMPORARIES = (
    ".reg .b32 t<8>; .reg .b64 u<8>; .reg .b16 h<8>; .reg .pred p<8>; .reg .b128 q; .reg .b32 i, n, lane;\n"
    ".reg .b64 A, B, C, D, E, F;\n"
)
TRUTH, HALF, WORD, PAIR = 1, 16, 32, 64  # bits of a source or result
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


@dataclass(frozen=True)
class Snippet:
    """A kernel `name` of a group; `inputs` names the set of inputs, the others are bits of sources and results.

    A source of 16 bits is the lower half of a word, a result the same. `declared` stands before the body; `uniform`
    runs a block of one lane for each row, whose sources are kernel parameters.
    """

    name: str
    group: str
    inputs: str
    sources: tuple[int, ...]
    results: tuple[int, ...]
    body: str
    declared: str = ""
    uniform: bool = False


def snippet(
    group: str, inputs: str, instruction: str, sources: tuple[int, ...], results: tuple[int, ...] = (WORD,)
) -> Snippet:
    """Return the snippet of one instruction, whose operands are the results, then the sources."""
    operands = [f"d{k}" for k in range(len(results))] + list("abc"[: len(sources)])
    return Snippet(named(instruction), group, inputs, sources, results, f"{instruction} {', '.join(operands)};")


def written(
    group: str,
    inputs: str,
    name: str,
    body: str,
    sources: tuple[int, ...],
    results: tuple[int, ...] = (WORD,),
    declared: str = "",
) -> Snippet:
    """Return the snippet of a body that is written out."""
    return Snippet(named(name), group, inputs, sources, results, body, declared)


def named(instruction: str) -> str:
    """Return the name of a kernel for an instruction."""
    return re.sub(r"\W+", "_", instruction)


def ptx(one: Snippet, rows: int) -> str:
    """Return the kernel of a snippet whose inputs have so many rows, in PTX."""
    if one.uniform:
        return _uniform(one, rows)
    lines = [
        f".visible .entry {one.name}(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{{",
        TEMPORARIES + _registers(one) + one.declared,
        "mov.u32 i, %tid.x; mov.u32 n, %ctaid.x; mov.u32 t0, %ntid.x; mad.lo.u32 i, n, t0, i;",
        "mov.u32 lane, %laneid;" if re.search(r"\blane\b", one.body) else "",
        *(_load(letter, bits) for letter, bits in zip("abc", one.sources, strict=False)),
        f"ld.param.u64 D, [pd]; mad.wide.u32 E, i, {WORD // 8}, D; mad.wide.u32 F, i, {PAIR // 8}, D;",
        one.body,
        *_stores(one, rows),
        "ret;\n}\n",
    ]
    return "\n".join(filter(None, lines))


def _uniform(one: Snippet, rows: int) -> str:
    """Return a kernel whose blocks each take one row of an array of parameters."""
    arrays = ", ".join(f".param .align 16 .b8 p{x}[{rows * b // 8}]" for x, b in zip("abc", one.sources, strict=False))
    loads = [
        f"mov.u64 {x.upper()}, p{x}; mul.lo.u32 t0, i, {b // 8}; cvt.u64.u32 u0, t0;"
        f" add.u64 {x.upper()}, {x.upper()}, u0; ld.param.b{b} {x}, [{x.upper()}];"
        for x, b in zip("abc", one.sources, strict=False)
    ]
    lines = [
        f".visible .entry {one.name}({arrays}, .param .u64 pd)\n{{",
        TEMPORARIES + _registers(one),
        "mov.u32 i, %ctaid.x;",
        *loads,
        f"ld.param.u64 D, [pd]; mad.wide.u32 E, i, {WORD // 8}, D; mad.wide.u32 F, i, {PAIR // 8}, D;",
        one.body,
        *_stores(one, rows),
        "ret;\n}\n",
    ]
    return "\n".join(lines)


def _registers(one: Snippet) -> str:
    named_bits = [*zip("abc", one.sources, strict=False), *((f"d{k}", bits) for k, bits in enumerate(one.results))]
    return "".join(f".reg {_type(bits)} {name}; " for name, bits in named_bits)


def _type(bits: int) -> str:
    return ".pred" if bits == TRUTH else f".b{bits}"


def stored_bits(bits: int) -> int:
    """Return the bits that a source or result of so many takes in memory."""
    return max(WORD, bits)


def _load(letter: str, bits: int) -> str:
    place, whole = letter.upper(), stored_bits(bits)
    address = f"ld.param.u64 {place}, [p{letter}]; mad.wide.u32 {place}, i, {whole // 8}, {place};"
    if bits == HALF:
        return f"{address} ld.global.b32 t0, [{place}]; cvt.u16.u32 {letter}, t0;"
    return f"{address} ld.global.b{bits} {letter}, [{place}];"


def _stores(one: Snippet, rows: int) -> list[str]:
    """Return the stores of the results, each a column behind the one before."""
    lines, offset = list[str](), 0
    for k, bits in enumerate(one.results):
        place = f"[{'F' if bits == PAIR else 'E'}+{offset}]"
        value = {TRUTH: f"selp.b32 t7, 1, 0, d{k}; ", HALF: f"cvt.u32.u16 t7, d{k}; "}.get(bits, "")
        register = "t7" if value else f"d{k}"
        lines.append(f"{value}st.global.b{stored_bits(bits)} {place}, {register};")
        offset += rows * stored_bits(bits) // 8
    return lines
