"""Operands of an instruction, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

RZ_INDEX = 255
FIRST_SCALAR = 256  # index of s0: scalar registers, one for all lanes of a warp (GCN)
SCALARS = 102  # s0 to s101
PT_INDEX = 7


@dataclass(frozen=True, slots=True)
class Register:
    """A 32-bit register of each thread, or the first of several; RZ reads zero and drops writes.

    From FIRST_SCALAR on it is a scalar register, which all lanes of a warp share.
    """

    index: int
    negated: bool = False
    reuse: bool = False  # control code of a source: keep it for the next instruction's operand in the same slot


@dataclass(frozen=True, slots=True)
class Predicate:
    """A one-bit register of each thread, P0 to P6; PT is always true.

    `whole`: whether it is true in any thread of the warp (GCN's VCCNZ; negated, in none: VCCZ).
    """

    index: int
    negated: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal: `bits` is its pattern (32 bits, or 64 for a double), `kind` its notation in the text."""

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
    """tex[name]: a buffer read by element through the texture path, coordinates clamped at its ends."""

    name: str


@dataclass(frozen=True, slots=True)
class Convergence:
    """A convergence barrier of a warp, B0 to B15, at which its diverged lanes reconverge."""

    index: int


Operand = Register | Predicate | Immediate | Constant | Address | Special | Label | Texture | Convergence

RZ = Register(RZ_INDEX)
PT = Predicate(PT_INDEX)
VCC, SCC = Predicate(5), Predicate(6)  # GCN's condition codes, of each lane and of the warp, are P5 and P6
SPECIALS = (
    "TID.X", "TID.Y", "TID.Z", "CTAID.X", "CTAID.Y", "CTAID.Z",
    "NTID.X", "NTID.Y", "NTID.Z", "NCTAID.X", "NCTAID.Y", "NCTAID.Z", "LANEID", "WARPID",
)  # fmt: skip


def scalar(index: int) -> Register:
    """Return the scalar register s0, s1, ... of that number."""
    return Register(FIRST_SCALAR + index)


def is_scalar(operand: object) -> bool:
    """Tell whether an operand is a scalar register."""
    return isinstance(operand, Register) and operand.index >= FIRST_SCALAR


def register_name(index: int) -> str:
    """Return the name of the 32-bit register with that index: R3, or s3 for a scalar one."""
    return f"s{index - FIRST_SCALAR}" if index >= FIRST_SCALAR else f"R{index}"
