"""Operands of an instruction, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

RZ_INDEX = 255
PT_INDEX = 7


@dataclass(frozen=True, slots=True)
class Register:
    """A 32-bit register of each thread, or the first of an aligned pair or quad; RZ reads zero and drops writes."""

    index: int
    negated: bool = False
    reuse: bool = False  # control code of a source: keep it for the next instruction's operand of the same place


@dataclass(frozen=True, slots=True)
class Predicate:
    """A one-bit register of each thread, P0 to P6; PT is always true."""

    index: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal: `bits` is its pattern (32 bits, or 64 for a double), `kind` how the text writes it."""

    bits: int
    kind: str  # "int", "float" or "double"


@dataclass(frozen=True, slots=True)
class Constant:
    """c[name]: a launch parameter, or the base byte address of the buffer of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset] in bytes, modulo 2**32; `offset` is 0 to 2**32 - 1 (a negative one is written so as well)."""

    base: Register
    offset: int


@dataclass(frozen=True, slots=True)
class Special:
    """A read-only register of the launch, such as TID.X."""

    name: str


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a place in the program."""

    name: str


@dataclass(frozen=True, slots=True)
class Texture:
    """tex[name]: a buffer read by element index through the texture path, clamped at its ends."""

    name: str


Operand = Register | Predicate | Immediate | Constant | Address | Special | Label | Texture

RZ = Register(RZ_INDEX)
PT = Predicate(PT_INDEX)
SPECIALS = (
    "TID.X", "TID.Y", "TID.Z", "CTAID.X", "CTAID.Y", "CTAID.Z",
    "NTID.X", "NTID.Y", "NTID.Z", "NCTAID.X", "NCTAID.Y", "NCTAID.Z", "LANEID", "WARPID",
)  # fmt: skip
