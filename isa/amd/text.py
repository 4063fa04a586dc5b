"""Operands of GCN's instructions in its assemblers' notation: v3, v[4:7], s0, s[8:15], VCC, off, offset:16.

Vector instructions read at most one scalar register beside vector ones, scalar instructions only scalar ones. Words
that are the same in the text of each instruction of a row are not operands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from isa.operands.operand import (
    FIRST_SCALAR,
    RZ_INDEX,
    SCALARS,
    Address,
    Immediate,
    Operand,
    Predicate,
    Register,
    is_scalar,
)
from isa.reading import literals
from isa.reading.source import AssemblyError, Token, part
from isa.row import Gcn, Row, Unit

LAST_VECTOR = RZ_INDEX - 1
_REGISTER = re.compile(r"(-?)([vs])(?:(\d{1,9})|\[\s*(\d{1,9})\s*:\s*(\d{1,9})\s*\])")
_OFFSET = re.compile(r"\soffset:(\w+)$")
_COUNTERS = ("vmcnt", "lgkmcnt")
_COUNT = re.compile(r"(vmcnt|lgkmcnt)\(\s*(\d{1,9})\s*\)")


def usage(row: Row) -> str:
    """Return how an instruction of the row is written."""
    kinds = {"d": "vdst", "D": "vdst", "m": "vaddr", "l": "label", "n": "number"}
    if row.gcn is Gcn.SCALAR:
        kinds |= {"d": "sdst", "m": "sbase, offset"}
    names = [kinds.get(letter, f"{'s' if row.gcn is Gcn.SCALAR else 'v'}{letter}") for letter in row.form]
    before, after = _words(row)
    return f"write {row.mnemonic} {', '.join((*before, *names, *after))}".strip()


def pieces(row: Row, tokens: Sequence[Token]) -> tuple[tuple[Token, ...], int]:
    """Return the pieces of the text that are operands, and the offset of the address; raises AssemblyError."""
    kept, offset = list(tokens), 0
    if row.unit is Unit.SMEM and len(kept) == 3:
        offset = _offset(kept.pop(), row)
    elif kept and row.unit in (Unit.SHARED, Unit.GLOBAL) and (match := _OFFSET.search(kept[-1].text)):
        offset = _offset(part(kept[-1], match.start(1)), row)
        kept[-1] = part(kept[-1], 0, match.start())
    for word, place in (*((word, 0) for word in _words(row)[0]), *((word, -1) for word in _words(row)[1])):
        if not kept or kept[place].text != word:
            at = kept[place] if kept else tokens[0] if tokens else Token(row.mnemonic, "", 1, 1)
            raise AssemblyError(at, f"{row.mnemonic} has {word} here; {usage(row)}")
        del kept[place]
    return tuple(kept), offset


def with_offset(operand: Operand, offset: int) -> Operand:
    """Return an address moved by the offset after the other operands; return other operands unchanged."""
    return replace(operand, offset=offset) if isinstance(operand, Address) else operand


def register(token: Token, letter: str, row: Row) -> Register:
    """Return the vector or scalar registers that the row takes at that letter; raises AssemblyError."""
    match, kinds = _REGISTER.fullmatch(token.text), _kinds(row, letter)
    if not match or match[2] not in kinds:
        wanted = " or ".join(f"{kind}3" for kind in kinds)
        raise AssemblyError(
            token, f"{token.text!r} is no register that {row.mnemonic} takes here; write one as {wanted}"
        )
    words = row.words_of(letter)
    first = int(match[3] or match[4])
    if (int(match[5]) if match[5] else first) - first + 1 != words:
        fix = f"{match[2]}{first}" if words == 1 else f"{match[2]}[{first}:{first + words - 1}]"
        raise AssemblyError(token, f"{row.mnemonic} takes {32 * words} bits here; write {fix}")
    _check_place(token, match[2], first, words)
    if match[1] and (letter not in "abc" or not row.is_float):
        raise AssemblyError(token, f"{token.text} can't be negated in {row.mnemonic}; leave out the -")
    return Register(first + (FIRST_SCALAR if match[2] == "s" else 0), negated=bool(match[1]))


def counts(tokens: Sequence[Token]) -> tuple[Immediate, ...] | None:
    """Return both counts of `vmcnt(1) lgkmcnt(0)`, the maximum for a missing one; None for other text."""
    if len(tokens) != 1 or not _COUNT.match(tokens[0].text):
        return None
    found = dict(_COUNT.findall(tokens[0].text))
    if left := _COUNT.sub("", tokens[0].text).replace("&", "").strip():
        raise AssemblyError(tokens[0], f"{left!r} is no count; write vmcnt(1) lgkmcnt(0), or one of them")
    return tuple(Immediate(int(found.get(name, NO_LIMIT)), "int") for name in _COUNTERS)


NO_LIMIT = 63  # as large as a count can be


def check_scalars(row: Row, tokens: Sequence[Token], operands: Sequence[Operand]) -> None:
    """Raise AssemblyError if a vector instruction reads two scalar registers: it has one port to them."""
    if row.gcn is Gcn.VECTOR:
        read = dict.fromkeys(o for o in operands if is_scalar(o))
        if len({o.index for o in read if isinstance(o, Register)}) > 1:
            second = next(t for t, o in zip(tokens, operands, strict=True) if o == list(read)[1])
            fix = f"V_MOV_B32 {second.text} into a vector register first"
            raise AssemblyError(second, f"{row.mnemonic} reads one scalar register at most; {fix}")


def show(row: Row, operands: Sequence[tuple[str, str, Operand]]) -> str:
    """Return the text of an instruction after its mnemonic, from letter, other text and operand of each."""
    before, after = _words(row)
    texts = [_show(row, letter, text, operand) for letter, text, operand in operands]
    offset = next((o.offset for _, _, o in operands if isinstance(o, Address)), 0)
    if row.unit is Unit.SMEM:
        return ", ".join((*texts, f"{offset:#x}"))
    return ", ".join((*before, *texts, *after)) + (f" offset:{offset:#x}" if offset else "")


def show_register(index: int, words: int) -> str:
    """Return v3, v[4:7] or s[8:15] for the register with that index and those after it."""
    kind, first = ("s", index - FIRST_SCALAR) if index >= FIRST_SCALAR else ("v", index)
    return f"{kind}{first}" if words == 1 else f"{kind}[{first}:{first + words - 1}]"


def _show(row: Row, letter: str, text: str, operand: Operand) -> str:
    if isinstance(operand, Address):
        return show_register(operand.base.index, 1)
    if isinstance(operand, Register) and letter != "n":
        return f"{'-' * operand.negated}{show_register(operand.index, row.words_of(letter))}"
    return text


def _words(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words before and after the operands that each instruction of the row has."""
    if row.unit is Unit.GLOBAL:
        return (), ("off",)
    implied = [letter for letter, o in row.implied if isinstance(o, Predicate) and row.gcn is Gcn.VECTOR]
    return (("VCC",) if "P" in implied else ()), (("VCC",) if "Q" in implied else ())


def _kinds(row: Row, letter: str) -> str:
    if row.gcn is Gcn.SCALAR:
        return "s"
    return "vs" if row.unit is Unit.SPECIAL or (row.gcn is Gcn.VECTOR and letter in "abc") else "v"


def _check_place(token: Token, kind: str, first: int, words: int) -> None:
    last = LAST_VECTOR if kind == "v" else SCALARS - 1
    if first + words - 1 > last:
        raise AssemblyError(token, f"{token.text} reaches above {kind}{last}, the last one here; take lower ones")
    aligned = 1 if kind == "v" else min(words, 4)
    if first % aligned:
        raise AssemblyError(
            token, f"{token.text} begins at no multiple of {aligned}; take s{first - first % aligned} on"
        )


def _offset(token: Token, row: Row) -> int:
    try:
        return literals.integer_bits(token.text)
    except ValueError as error:
        raise AssemblyError(token, f"offset of {row.mnemonic}: {error}") from None
