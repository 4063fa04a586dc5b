"""The syntax of an instruction as NVIDIA's tools print it: guard, mnemonic with modifiers, operands.

Only the form is read here: these records are parts of a text, not the operands that the instruction table takes
(isa/operands/operand.py). The table says what an instruction does with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

Bank = Literal["R", "UR", "P", "UP", "B"]
ZERO: dict[str, int] = {"R": 255, "UR": 255, "P": 7, "UP": 7}  # number of RZ, URZ, PT and UPT (URZ: from sm_100 on)
DISTINCT = 1 << 15  # operands kept as read: a section of 30,000 instructions has some 3,000
_ZERO_NAMES = {"R": "RZ", "UR": "URZ", "P": "PT", "UP": "UPT"}


@dataclass(frozen=True, slots=True)
class Register:
    """A register; RZ, URZ, PT and UPT have the number of ZERO.

    `part` is the text after a dot, such as `64` (a pair, as an address), `H0_H0` or `X4`; `inverted` is `!` of a
    predicate and `~` of bits.
    """

    bank: Bank
    number: int
    part: str = ""
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """`c[bank][base+offset]`; `bank` is a uniform register where a descriptor names it (`cx[UR4][0x8]`)."""

    bank: int | Register
    offset: int
    base: Register | None = None
    part: str = ""
    negated: bool = False
    absolute: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """`desc[descriptor][base+uniform+offset]`; the offset is in bytes."""

    base: Register | None
    uniform: Register | None
    offset: int
    descriptor: Register | None = None


@dataclass(frozen=True, slots=True)
class Descriptors:
    """`gdesc[register]` with what stands behind it: where matrices lie in shared memory."""

    register: Register
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """An immediate as printed; a number with a point, `INF` or `QNAN` is the value of a float of the row's type."""

    text: str

    @property
    def is_float(self) -> bool:
        """Whether the text is that of a float."""
        return _INTEGER.fullmatch(self.text) is None

    @property
    def value(self) -> int | float:
        """The number."""
        return float(self.text.replace("QNAN", "nan").replace("SNAN", "nan")) if self.is_float else int(self.text, 0)


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the code by its label."""

    label: str


@dataclass(frozen=True, slots=True)
class Word:
    """A special register, scoreboard, a word such as `2D` or `{0,1}`, half of an address, or a descriptor alone."""

    text: str


Operand = Register | Constant | Address | Descriptors | Number | Target | Word


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction; without a guard it always executes."""

    mnemonic: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    guard: Register | None = field(default=None)


_REGISTER = (
    r"(?P<negated>-)?(?P<inverted>[!~])?(?P<bar>\|)?(?P<bank>UR|UP|R|P|B)(?P<number>\d+|Z|T)"
    r"(?P<inner>(?:\.\w+)*)(?(bar)\|)(?P<parts>(?:\.\w+)*)"
)
_CONSTANT = (
    r"(?P<negated>-)?(?P<inverted>~)?(?P<bar>\|)?c(?P<bindless>x)?\[(?P<bank>[^\]]*)\] ?\[(?P<place>[^\]]*)\]"
    r"(?P<part>\.\w+)?(?(bar)\|)"
)
_ADDRESS = r"(?:desc\[(?P<descriptor>UR\w+)\])?\[(?P<terms>[^\]]*)\]"
_REGISTER_FORM, _CONSTANT_FORM, _ADDRESS_FORM = map(re.compile, (_REGISTER, _CONSTANT, _ADDRESS))
_DESCRIPTORS_FORM = re.compile(r"gdesc\[(?P<register>UR\w+)\](?P<marks>(?:\.\w+)*)")
_INTEGER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
_FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|INF|QNAN|SNAN)")
_TARGET = re.compile(r"`\((?P<label>[^)]+)\)")
_WORD = re.compile(r"[A-Za-z_0-9]\w*(?:\.\w+)*|\{[\d,]*\}|32@(?:lo|hi)\(.*\)|desc\[UR\w+\]")
_REMARK = re.compile(r"\s*\(\*.*\*\)")  # of an indirect branch: the labels that it may go to
_STATEMENT = re.compile(
    r"(?:@(?P<guard>!?U?P[\dT]) )?\s*(?P<mnemonic>[A-Z]\w*)(?P<modifiers>(?:\.\w+)*)(?: (?P<operands>.*))?"
)
_BLANK = "CALL", "RET", "BRX", "BRXU", "JMX", "JMXU"  # whose target follows the register after a blank
_BETWEEN = re.compile(r",\s*(?![^\[{]*[\]}])|\s+(?=`\(|-?0x)")  # between operands; a target may follow after a blank


def parse(text: str) -> Statement:
    """Return the parts of an instruction's text; raises ValueError, which names the part that has no known form."""
    match = _matched(text)
    guard = _register(match["guard"]) if match["guard"] else None
    parts = _BETWEEN.split(match["operands"]) if match["operands"] else []
    modifiers = tuple(match["modifiers"].split(".")[1:])
    return Statement(match["mnemonic"], modifiers, tuple(operand(part.strip()) for part in parts), guard)


def head(text: str) -> str:
    """Return the mnemonic of an instruction's text with its modifiers; raises ValueError if there is none."""
    match = _matched(text)
    return match["mnemonic"] + match["modifiers"]


def _matched(text: str) -> re.Match[str]:
    match = _STATEMENT.fullmatch(_REMARK.sub("", text.strip()) if "(*" in text else text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no instruction")
    return match


@lru_cache(DISTINCT)  # code repeats its operands much more often than its instructions
def operand(text: str) -> Operand:
    """Return one operand; raises ValueError for a text of no known form."""
    if _REGISTER_FORM.fullmatch(text):
        return _register(text)
    if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return Number(text)
    if match := _CONSTANT_FORM.fullmatch(text):
        return _constant(match)
    if match := _ADDRESS_FORM.fullmatch(text):
        return _address(match)
    return _name(text)


def _name(text: str) -> Operand:
    """Return an operand that is no number and no plain register; raises ValueError for another text."""
    if match := _DESCRIPTORS_FORM.fullmatch(text):
        return Descriptors(_register(match["register"]), tuple(match["marks"].split(".")[1:]))
    if match := _TARGET.fullmatch(text):
        return Target(match["label"])
    if _WORD.fullmatch(text):
        return Word(text)
    raise ValueError(f"{text!r} is no operand")


def _register(text: str) -> Register:
    match = _REGISTER_FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no register")
    parts = [part for part in (match["inner"] + match["parts"]).split(".") if part]
    kept = [part for part in parts if part != "reuse"]
    return Register(
        match["bank"],  # type: ignore[arg-type]  # the pattern has no other
        ZERO[match["bank"]] if match["number"] in "ZT" else int(match["number"]),
        ".".join(kept),
        negated=bool(match["negated"]),
        absolute=bool(match["bar"]),
        inverted=bool(match["inverted"]),
        reused="reuse" in parts,
    )


def _terms(text: str) -> tuple[list[Register], int]:
    """Return the registers and the sum of the numbers of `R2.64+UR4+-0x8`."""
    registers, offset = list[Register](), 0
    for term in text.split("+"):
        if _INTEGER.fullmatch(term):
            offset += int(term, 0)
        else:
            registers.append(_register(term))
    return registers, offset


def _constant(match: re.Match[str]) -> Constant:
    registers, offset = _terms(match["place"])
    if len(registers) > 1:
        raise ValueError(f"{match[0]!r} has two registers")
    return Constant(
        _register(match["bank"]) if match["bindless"] else int(match["bank"], 0),
        offset,
        registers[0] if registers else None,
        (match["part"] or "").removeprefix("."),
        negated=bool(match["negated"]),
        absolute=bool(match["bar"]),
        inverted=bool(match["inverted"]),
    )


def _address(match: re.Match[str]) -> Address:
    registers, offset = _terms(match["terms"])
    own, uniform = ([r for r in registers if r.bank == bank] for bank in ("R", "UR"))
    if len(own) > 1 or len(uniform) > 1 or len(own) + len(uniform) != len(registers):
        raise ValueError(f"{match[0]!r} adds more than a register, a uniform register and a number")
    descriptor = _register(match["descriptor"]) if match["descriptor"] else None
    return Address(own[0] if own else None, uniform[0] if uniform else None, offset, descriptor)


def show(statement: Statement) -> str:
    """Return an instruction's text, which `parse` reads back."""
    guard = f"@{show_operand(statement.guard)} " if statement.guard else ""
    head = ".".join((statement.mnemonic, *statement.modifiers))
    texts = [show_operand(one) for one in statement.operands]
    if statement.mnemonic in _BLANK:
        texts[-2:] = [" ".join(texts[-2:])]
    return f"{guard}{head} {', '.join(texts)}".rstrip()


def show_operand(one: Operand) -> str:
    """Return an operand's text."""
    match one:
        case Register():
            return _show_register(one)
        case Constant():
            return _show_constant(one)
        case Address():
            descriptor = f"desc[{_show_register(one.descriptor)}]" if one.descriptor else ""
            return f"{descriptor}[{_sum([one.base, one.uniform], one.offset)}]"
        case Descriptors():
            return ".".join((f"gdesc[{_show_register(one.register)}]", *one.marks))
        case Target():
            return f"`({one.label})"
        case Number() | Word():
            return one.text


def _show_register(one: Register) -> str:
    name = _ZERO_NAMES[one.bank] if one.number == ZERO.get(one.bank) else f"{one.bank}{one.number}"
    part = f".{one.part}" if one.part else ""
    if one.bank == "UR":  # as the tools print it: a part of a uniform register stands within its bars
        return _signed(name + part, one)
    return _signed(name, one) + (".reuse" if one.reused else "") + part


def _show_constant(one: Constant) -> str:
    bank = f"cx[{_show_register(one.bank)}]" if isinstance(one.bank, Register) else f"c[{one.bank:#x}]"
    part = f".{one.part}" if one.part else ""
    between = " " if one.part else ""  # as the tools print it
    return _signed(f"{bank}{between}[{_sum([one.base], one.offset)}]{part}", one)


def _signed(name: str, one: Register | Constant) -> str:
    name = f"|{name}|" if one.absolute else name
    inverted = ("!" if isinstance(one, Register) and one.bank in ("P", "UP") else "~") if one.inverted else ""
    return f"{'-' if one.negated else ''}{inverted}{name}"


def _sum(registers: list[Register | None], offset: int) -> str:
    """Return a sum as printed: a number only if it isn't 0, or stands alone."""
    terms = [_show_register(one) for one in registers if one]
    return "+".join([*terms, *([f"{offset:#x}"] if offset or not terms else [])])
