"""Texts of machine code that the table writes in other words: sets of predicates, constants by a uniform register.

What a text says beside these words stays, so that a row which does not have it refuses it.

`P2R` and `R2P` name all predicates, PR, and those that they mean in a mask; the table names each of them, of `UP2UR`
and `UR2UP` too. `R2UR.OR` keeps lanes in which its predicate holds; the table has that predicate as a source too. An
operation on the caches names an address and changes no value; the table has it without. `DEPBAR` names further barriers
in a set, for which its control code waits in the table. Commands of the copy engine have addresses that are registers.
`QSPC` asks where an address lies, and accesses nothing: the
table has the address as a pair of registers and a number. A texture fetch has vectors of registers, a handle in a
uniform register, a constant or such a vector, and a word for its dimensions; the table has them one by one.
A matrix instruction of a warpgroup names the descriptors of its matrices in an operand with marks, and in another one
that it closes a group; the table has the descriptors' uniform registers, and the others as modifiers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from isa.nvidia.lowering import pairs
from isa.nvidia.lowering.syntax import (
    ZERO,
    Address,
    Constant,
    Descriptors,
    Number,
    Operand,
    Register,
    Statement,
    Target,
    Word,
    parse,
)

FETCHES = "TEX", "TLD", "TLD4", "TXQ"
COMMANDS = "UBLKCP", "UBLKRED", "UBLKPF", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UTMACCTL"  # of the copy engine
_DIMENSIONS = {"1D": 1, "2D": 2, "3D": 3, "TEX_HEADER_DIMENSION": 0}
_BARRIERS = re.compile(r"\{[\d,]*\}")
_SIGN = "SIGN"  # part of a register or a constant whose sign PLOP3 takes as a predicate
_KNOWN_CALLS = ("REL", "NOINC"), ("ABS", "NOINC")  # modifiers of calls, which come to the same at a known place
_ALL = 15  # mask of four channels
_PREDICATES = 7  # P0 to P6; the next is PT
_TRUE = Register("P", ZERO["P"])
_ALL_TRUE = Register("UP", ZERO["UP"])
_SETS: Mapping[str, tuple[Literal["P", "UP"], str]] = {
    **dict.fromkeys(("P2R", "R2P"), ("P", "PR")),
    **dict.fromkeys(("UP2UR", "UR2UP"), ("UP", "UPR")),
}


def spelled(statement: Statement) -> Statement:
    """Return the statement in the table's words."""
    if respell := _BY_MNEMONIC.get(statement.mnemonic):
        return respell(statement)
    if statement.mnemonic == "ULDC" and any(isinstance(o, Constant) and o.base for o in statement.operands):
        return replace(statement, mnemonic="LDC")  # the launch does not decide what it loads
    if statement.mnemonic == "CCTL" and all(isinstance(o, Address) for o in statement.operands):
        return replace(statement, operands=())
    return statement


def awaited(text: str) -> int:
    """Return the mask of the dependency barriers for which DEPBAR waits until none of their results is out.

    `DEPBAR.LE SB0, 0x2, {1,3}` waits so for 1 and 3, and for 0 until two are out; `DEPBAR {1,3}` for 1 and 3.
    """
    words = [one.text for one in parse(text).operands if isinstance(one, Word | Number)]
    own = {words[0].removeprefix("SB")} if words[1:] and int(words[1], 0) == 0 else set()
    others = set(re.findall(r"\d+", words[-1])) if len(words) != 2 else set()
    return sum(1 << int(one) for one in own | others)


def _without_set(statement: Statement) -> Statement:
    """Return DEPBAR with a barrier and a count alone."""
    last = statement.operands[-1] if statement.operands else None
    has_set = isinstance(last, Word) and _BARRIERS.fullmatch(last.text)
    return replace(statement, operands=statement.operands[:-1]) if has_set else statement


def _command(statement: Statement) -> Statement:
    """Return a command of the copy engine with registers in the place of addresses, without a hint to the L2.

    An address of several parts stays as it is.
    """
    given = [one for one in statement.operands if not (isinstance(one, Word) and one.text.startswith("desc["))]
    return replace(statement, operands=tuple(map(_place, given)))


def _widest(statement: Statement) -> Statement:
    """Return an access of 256 bits without ENL2, which all have."""
    names = tuple(one for one in statement.modifiers if one != "ENL2")
    return replace(statement, modifiers=names) if "256" in names else statement


def _place(one: Operand) -> Operand:
    """Return the register of an address that is no more than that."""
    alone = isinstance(one, Address) and one.uniform and not (one.base or one.offset or one.descriptor)
    return one.uniform if alone and isinstance(one, Address) and one.uniform else one


def _keeping(statement: Statement) -> Statement:
    """Return R2UR.OR with its predicate as a source too; R2UR stays as it is."""
    more = statement.operands[:1] if "OR" in statement.modifiers else ()
    return replace(statement, operands=(*statement.operands, *more))


def _asleep(statement: Statement) -> Statement:
    """Return NANOSLEEP for a constant's time as one for none: how long it asks for says nothing here."""
    constants = [o for o in statement.operands if isinstance(o, Constant) and isinstance(o.bank, int)]
    known = [Constant(o.bank, o.offset) for o in constants] == list(statement.operands) and len(constants) == 1
    return replace(statement, operands=(Number("0"),)) if known else statement


def _call(statement: Statement) -> Statement:
    """Return a call of a function at a known place as such; one of an address in registers stays as it is."""
    known = any(isinstance(one, Target) for one in statement.operands) and statement.modifiers in _KNOWN_CALLS
    return replace(statement, modifiers=_KNOWN_CALLS[0]) if known else statement


def _difference(statement: Statement) -> Statement:
    """Return a difference as a + ~b + 1 (X), of pairs if it carries: a minus alone would not tell its carry.

    Bytes and sums that saturate have no other form.
    """
    names, operands = statement.modifiers, list(statement.operands)
    registers = [(place, one) for place, one in enumerate(operands) if isinstance(one, Register)]
    truths = [place for place, one in registers if one.bank == "P"]
    marked = [(place, one) for place, one in registers if one.negated and place not in truths]
    apart = "U8x4" in names or "ISAT" in names
    if len(marked) != 1 or "X" in names or not (apart or ("64" in names and truths)):
        return statement
    place, one = marked[0]
    operands[place] = replace(one, negated=False, inverted=True)
    if not apart:  # a predicate behind both says nothing without X
        operands[place + 1 :] = [*(o for at, o in enumerate(operands) if at > place and at not in truths), _TRUE]
    return replace(statement, modifiers=(*names, "X"), operands=tuple(operands))


def _extreme(statement: Statement) -> Statement:
    """Return a minimum without predicates that say nothing: two that it does not write, and a last one, !PT."""
    operands = statement.operands
    true = next((one for one in (_TRUE, _ALL_TRUE) if operands[:2] == (one, one)), None)
    if true and operands[-1] == replace(true, inverted=True) and len(operands) == 7:
        return replace(statement, operands=operands[2:-1])  # of 64 bits
    return replace(statement, operands=operands[:1] + operands[3:]) if operands[1:3] == (_TRUE, _TRUE) else statement


def _sum_of_pairs(statement: Statement) -> Statement:
    """Return UIADD3.64 without the predicates that it does not write."""
    none, operands = Register("UP", ZERO["UP"]), statement.operands
    silent = "64" in statement.modifiers and operands[1:3] == (none, none)
    return replace(statement, operands=operands[:1] + operands[3:]) if silent else statement


def _of_signs(statement: Statement) -> Statement:
    """Return PLOP3 of three words' signs with these as modifiers; one of predicates stays as it is."""
    operands = tuple(_unsigned(one) for one in statement.operands)
    count = sum(a != b for a, b in zip(operands, statement.operands, strict=True))
    return replace(statement, modifiers=(*statement.modifiers, *[_SIGN] * count), operands=operands)


def _unsigned(one: Operand) -> Operand:
    """Return a register or a constant without the part that says that its sign is taken."""
    if isinstance(one, Constant) or (isinstance(one, Register) and one.bank in ("R", "UR")):
        return replace(one, part="") if one.part == _SIGN else one
    return one


def dimensions(text: str) -> int:
    """Return in how many dimensions a fetch's text addresses a texture; 2 where it doesn't say."""
    words = re.findall(r"\b[123]D\b", text)
    return _DIMENSIONS[words[0]] if words else _DIMENSIONS["2D"]


def _with_predicates(statement: Statement) -> Statement:
    """Return P2R or R2P with all predicates in the place of PR, those outside its mask as PT; UP2UR and UR2UP alike."""
    mask, bank, all_of_them = statement.operands[-1], *_SETS[statement.mnemonic]
    if statement.mnemonic == "UR2UP" and not isinstance(mask, Number):
        mask = Number(hex((1 << _PREDICATES) - 1))
        statement = replace(statement, operands=(*statement.operands, mask))
    bits = int(mask.text, 0) if isinstance(mask, Number) and not mask.is_float else 0
    named = [Register(bank, i if bits >> i & 1 else _PREDICATES) for i in range(_PREDICATES)]
    at = next((i for i, one in enumerate(statement.operands) if one == Word(all_of_them)), len(statement.operands))
    return replace(statement, operands=(*statement.operands[:at], *named, *statement.operands[at + 1 :]))


def _with_parts(statement: Statement) -> Statement:
    """Return QSPC with base, offset and a pair to be added in the place of its address."""
    *others, address = statement.operands
    if not isinstance(address, Address):
        return statement
    registers = [one for one in (address.base, address.uniform) if one and one.number != ZERO[one.bank]]
    if not (address.base or address.uniform):
        return statement
    base, *further = registers or [Register("R", ZERO["R"])]
    if base.part not in ("", "64"):
        return statement
    parts: tuple[Operand, ...] = (replace(base, part=""), Number(hex(address.offset & 0xFFFFFFFF)), *further)
    return replace(statement, operands=(*others, *parts))


def _fetch(statement: Statement) -> Statement:
    """Return a texture fetch with one operand for each coordinate; of other shapes, with its shape as a modifier.

    The machine's two vectors of sources have the coordinates, the handle if it is no constant (`B`) and the level. They
    share these evenly where the text says so (`SCR`); else the second begins with the handle or the level.
    """
    words = [one.text for one in statement.operands if isinstance(one, Word)]
    shape = words[0] if words else ""
    if shape not in _DIMENSIONS or len(words) > 1 or not _is_plain(statement):
        return replace(statement, modifiers=(*statement.modifiers, *words))
    at = statement.operands.index(Word(shape))
    named = [one for one in statement.modifiers if one in "RGBA"]  # a gather names a channel, which may be B
    by_register = "B" in named[statement.mnemonic == "TLD4" :]
    given = _registers(statement)
    upper, target, first, *others = given
    rest = [one for one in others if one.bank == "R"]
    count, leveled = _DIMENSIONS[shape], "LL" in statement.modifiers
    values = _values(statement, first, rest[0] if rest else first, count, by_register + leveled)
    handle = _handle_of(statement, others) if not by_register else values[count] if count else first
    mask = [one for one in statement.operands[at + 1 :] if isinstance(one, Number)]
    if statement.mnemonic == "TXQ":
        mask = [one for one in statement.operands if isinstance(one, Number)][-1:]
    bits = int(mask[-1].text, 0) if mask else _ALL
    kept = [one for one in statement.modifiers if one != "SCR"]
    if by_register:
        kept.reverse()
        kept.remove("B")
        kept.reverse()
    shown = "DIMENSION" if statement.mnemonic == "TXQ" else shape
    operands = (target, upper, handle, *values[:count], Number(str(bits)))
    modifiers = (*kept, shown, f"V{bits.bit_count()}")
    return replace(statement, modifiers=modifiers, operands=operands)


def _is_plain(statement: Statement) -> bool:
    """Tell whether a fetch has registers alone, without signs and parts, and no number but 0 behind a uniform one.

    From sm_100 on the text has no number there.
    """
    plain = all(replace(one, reused=False) == Register(one.bank, one.number) for one in _registers(statement))
    pairs = zip(statement.operands, statement.operands[1:], strict=False)
    behind = [b for a, b in pairs if isinstance(a, Register) and a.bank == "UR"]
    return plain and all(b == Number("0x0") or isinstance(b, Word) for b in behind)


def _registers(statement: Statement) -> list[Register]:
    return [one for one in statement.operands if isinstance(one, Register)]


def _values(statement: Statement, first: Register, second: Register, count: int, further: int) -> list[Register]:
    """Return the registers of coordinates, handle and level in order."""
    split = -(-(count + further) // 2) if "SCR" in statement.modifiers else count
    before = [_next(first, k) for k in range(split)]
    return before + [_next(second, k) for k in range(count + further - split)]


def _next(register: Register, step: int) -> Register:
    none = register.number == ZERO[register.bank]
    return replace(register, number=register.number if none else register.number + step, reused=False)


def _handle_of(statement: Statement, others: list[Register]) -> Register | Constant:
    """Return the uniform register with the handle, or the constant whose bank and word the text says."""
    uniform = [one for one in others if one.bank == "UR"]
    if uniform:
        return uniform[0]
    bank, word = [int(one.text, 0) for one in statement.operands if isinstance(one, Number)][:2]
    return Constant(bank, 4 * word)


def _of_warpgroup(statement: Statement) -> Statement:
    """Return a product of a warpgroup with its descriptors' register, and as modifiers what else its operands say.

    Where A is in registers, the descriptor of B is the second of the two.
    """
    at = [place for place, one in enumerate(statement.operands) if isinstance(one, Descriptors)]
    if len(at) != 1:
        return statement
    first, after = list(statement.operands[: at[0]]), statement.operands[at[0] + 1 :]
    descriptors = statement.operands[at[0]]
    assert isinstance(descriptors, Descriptors)
    marks, register = set(descriptors.marks), descriptors.register
    names = list[str]()
    if len(first) == 2 and isinstance(first[1], Register):
        names.append("REG")
        marks |= {"negA"} if first[1].negated else set()
        first[1] = replace(first[1], negated=False)
        register = _next(replace(register, bank="UR"), 2)
    closes = after[-1:] == (Word("gsb0"),)
    names += [*sorted(marks), *["gsb0"] * closes]
    operands = (*first, register, *(after[:-1] if closes else after))
    return replace(statement, modifiers=(*statement.modifiers, *names), operands=operands)


def _of_quads(statement: Statement) -> Statement:
    """Return a product by eight lanes with how A and B lie as modifiers; another one stays as it is."""
    if statement.modifiers[:1] != ("884",):
        return statement
    lies = tuple(one.part for one in statement.operands[1:3] if isinstance(one, Register))
    operands = tuple(replace(one, part="") if isinstance(one, Register) else one for one in statement.operands)
    return replace(statement, modifiers=(*statement.modifiers, *lies), operands=operands)


def _of_group(statement: Statement) -> Statement:
    """Return a wait for groups of a warpgroup without their name."""
    if statement.modifiers == ("DEPBAR", "LE") and statement.operands[:1] == (Word("gsb0"),):
        return replace(statement, operands=statement.operands[1:])
    return statement


_BY_MNEMONIC = {
    **dict.fromkeys(("HGMMA", "QGMMA", "IGMMA", "BGMMA"), _of_warpgroup),
    "HMMA": _of_quads,
    "WARPGROUP": _of_group,
    "P2R": _with_predicates,
    "R2P": _with_predicates,
    "UP2UR": _with_predicates,
    "UR2UP": _with_predicates,
    "QSPC": _with_parts,
    "PLOP3": _of_signs,
    "UPLOP3": _of_signs,
    "R2UR": _keeping,
    **dict.fromkeys(("FADD2", "FMUL2", "FFMA2"), pairs.of_pairs),
    **dict.fromkeys(("FHADD", "FHFMA"), pairs.of_halves),
    "DEPBAR": _without_set,
    "CALL": _call,
    **dict.fromkeys(("IADD", "VIADD"), _difference),
    **dict.fromkeys(("IMNMX", "UIMNMX", "VIMNMX"), _extreme),
    "UIADD3": _sum_of_pairs,
    **dict.fromkeys(("LDG", "STG"), _widest),
    "NANOSLEEP": _asleep,
    **dict.fromkeys(COMMANDS, _command),
    **dict.fromkeys(FETCHES, _fetch),
}
