"""Operands of an instruction, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

RZ_INDEX = 255
FIRST_SCALAR = 256  # index of s0: scalar registers, one for all lanes of a warp (GCN)
SCALARS = 102  # s0 to s101
PT_INDEX = 7
FIRST_UNIFORM = 8  # index of UP0: uniform predicates, one for all lanes of a warp


@dataclass(frozen=True, slots=True)
class Register:
    """A 32-bit register of each thread, or the first of several; RZ reads zero and drops writes.

    From FIRST_SCALAR on it is a scalar register, which all lanes of a warp share.
    """

    index: int
    negated: bool = False
    reuse: bool = False  # control code of a source: keep it for the next instruction's operand in the same slot
    absolute: bool = False  # without its sign, before it is negated
    inverted: bool = False  # each bit
    part: str = ""  # halves that are taken: H0_H0, H1_H1; both as they lie if empty


@dataclass(frozen=True, slots=True)
class Predicate:
    """A one-bit register of each thread, P0 to P6; PT is always true. From FIRST_UNIFORM on it is one for all lanes.

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
class BankConstant:
    """c[bank][offset]: 32 or 64 bits of a constant bank, from that byte on; the launch says what it holds."""

    bank: int
    offset: int
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """[base * scale + uniform + offset] in bytes.

    With 32 bits it is modulo 2**32, and `offset` is 0 to 2**32 - 1 (a negative one is written so as well). An address
    of 64 bits (`wide`) lies in the kernel's window; registers with `pair` set have 64 bits, others are zero-extended.
    """

    base: Register
    offset: int
    uniform: Register | None = None
    wide: bool = False
    pair: bool = False
    uniform_pair: bool = False
    scale: int = 1
    bank: BankConstant | None = None  # of which `offset` is the place in global memory

    @property
    def registers(self) -> tuple[int, ...]:
        """Indices of the 32-bit registers of which it is the sum, without RZ."""
        parts = [(self.base, self.pair), *([(self.uniform, self.uniform_pair)] if self.uniform else [])]
        return tuple(r.index + i for r, pair in parts if r.index != RZ_INDEX for i in range(1 + pair))


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


@dataclass(frozen=True, slots=True)
class Targets:
    """[one, two]: the labels to which an indirect branch may go."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency barrier of a warp, SB0 to SB5, as control codes number them."""

    index: int


Operand = (
    Register
    | Predicate
    | Immediate
    | Constant
    | BankConstant
    | Address
    | Special
    | Label
    | Texture
    | Convergence
    | Targets
    | Dependency
)

RZ = Register(RZ_INDEX)
PT = Predicate(PT_INDEX)
VCC, SCC = Predicate(5), Predicate(6)  # GCN's condition codes, of each lane and of the warp, are P5 and P6
SPECIALS = (
    "TID.X", "TID.Y", "TID.Z", "CTAID.X", "CTAID.Y", "CTAID.Z",
    "NTID.X", "NTID.Y", "NTID.Z", "NCTAID.X", "NCTAID.Y", "NCTAID.Z", "LANEID", "WARPID",
)  # fmt: skip
MACHINE_SPECIALS = (
    "CLOCKLO", "CLOCKHI", "SMID", "NSMID",
    "LANEMASK_EQ", "LANEMASK_LT", "LANEMASK_LE", "LANEMASK_GT", "LANEMASK_GE", "ZERO",
    "GLOBALTIMERLO", "GLOBALTIMERHI", "VIRTID", "VIRTCFG", "SMEMSZ", "SWINLO", "SWINHI", "LWINLO", "LWINHI",
    "CLUSTER_RANK",
)  # fmt: skip
EVERY_SPECIAL = SPECIALS + MACHINE_SPECIALS  # those of listings, then those of machine code alone


def scalar(index: int) -> Register:
    """Return the scalar register s0, s1, ... of that number."""
    return Register(FIRST_SCALAR + index)


def is_scalar(operand: object) -> bool:
    """Tell whether an operand is a scalar register."""
    return isinstance(operand, Register) and operand.index >= FIRST_SCALAR


def register_name(index: int) -> str:
    """Return the name of the 32-bit register with that index: R3, or s3 for a scalar one."""
    return f"s{index - FIRST_SCALAR}" if index >= FIRST_SCALAR else f"R{index}"
