"""Registers, labels and instructions for kernels that a Python function writes.

Operands may be given as plain values, which the letter of the table's form turns into operands: an int or float for a
number, a string for a label, a special register or a texture.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from isa.errors import UserError
from isa.instruction import Instruction
from isa.operands.operand import (
    PT,
    RZ_INDEX,
    SPECIALS,
    Address,
    Constant,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
    Targets,
    Texture,
    is_scalar,
)
from isa.program import Program
from isa.row import Row
from isa.table import TABLE

Value = Operand | int | float | str
KINDS: dict[str, tuple[type, ...]] = {
    "d": (Register,),
    "D": (Register,),
    "a": (Register, Immediate, Constant, Label),
    "b": (Register, Immediate, Constant),
    "c": (Register, Immediate, Constant),
    "m": (Address,),
    "M": (Address,),
    "P": (Predicate,),
    "Q": (Predicate,),
    "s": (Special,),
    "l": (Label,),
    "t": (Texture,),
    "n": (Immediate,),
    "B": (Convergence,),
    "k": (Immediate, Register),
    "T": (Targets,),
    "y": (Dependency,),
}


@dataclass
class RegisterMap:
    """Names for a kernel's registers, from R0 up: `blocks` maps each name to its registers, `count` are used."""

    kernel: str
    blocks: dict[str, tuple[Register, ...]] = field(default_factory=dict)
    count: int = 0

    def block(self, name: str, size: int, align: int = 1) -> tuple[Register, ...]:
        """Return `size` consecutive new registers, the first a multiple of `align`.

        Raises ValueError if the name is taken, UserError if registers beyond R254, the last, are needed.
        """
        if name in self.blocks:
            raise ValueError(f"register name {name!r} is taken")
        first = -(-self.count // align) * align
        if first + size > RZ_INDEX:
            raise UserError(
                f"{self.kernel}: needs {first + size} registers; an instruction names {RZ_INDEX}: ask for less"
            )
        self.blocks[name] = tuple(Register(first + i) for i in range(size))
        self.count = first + size
        return self.blocks[name]

    def skip(self, period: int, allowed: Container[int]) -> None:
        """Skip registers until the number of the next one modulo `period` is among those allowed."""
        while self.count % period not in allowed:
            self.count += 1

    def one(self, name: str) -> Register:
        """Return one new register."""
        return self.block(name, 1)[0]


@dataclass
class Builder:
    """A program under construction."""

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0

    def emit(self, mnemonic: str, *operands: Value, guard: Predicate = PT) -> None:
        """Append one instruction; errors as `instruction`."""
        self.instructions.append(instruction(mnemonic, *operands, guard=guard))

    def extend(self, instructions: Iterable[Instruction]) -> None:
        """Append instructions."""
        self.instructions.extend(instructions)

    def label(self, name: str) -> None:
        """Name the place before the next instruction; ValueError if the name is taken."""
        if name in self.labels:
            raise ValueError(f"label {name!r} is taken")
        self.labels[name] = len(self.instructions)

    def build(self) -> Program:
        """Return the program so far; ValueError if a branch goes to an undefined label."""
        operands = [o for i in self.instructions for o in i.operands]
        targets = {o.name for o in operands if isinstance(o, Label)}
        targets |= {name for o in operands if isinstance(o, Targets) for name in o.names}
        if missing := targets - self.labels.keys():
            raise ValueError(f"no such label: {', '.join(sorted(missing))}")
        return Program(
            tuple(self.instructions), MappingProxyType(dict(self.labels)), self.shared_bytes, self.local_bytes
        )


def instruction(mnemonic: str, *operands: Value, guard: Predicate = PT) -> Instruction:
    """Return one instruction; ValueError if the table has no such row or the operands don't fit its form."""
    row = TABLE.get(mnemonic)
    if row is None:
        raise ValueError(f"no instruction {mnemonic!r} in the table")
    if not len(row.form) - row.optional <= len(operands) <= len(row.form):
        raise ValueError(f"{mnemonic} takes {len(row.form)} operands, not {len(operands)}")
    chosen = tuple(_operand(row, letter, o) for letter, o in zip(row.form, operands, strict=False))
    literals = [o for x, o in zip(row.form, chosen, strict=False) if x in "abc" and isinstance(o, Immediate | Constant)]
    if len(literals) > 1:
        raise ValueError(f"{mnemonic} takes one number or constant, the other sources must be registers")
    return Instruction(row, chosen, guard)


def at(base: Register, offset: int = 0) -> Address:
    """Return the memory operand [base + offset], in bytes."""
    return Address(base, offset)


def float_bits(value: float) -> int:
    """Return the 32-bit pattern of the nearest IEEE single."""
    return int(np.float32(value).view(np.uint32))


def double_words(name: str, value: float) -> dict[str, int]:
    """Return the two constants, NAME_low and NAME_high, for the words of a double."""
    bits = double_bits(value)
    return {f"{name}_low": bits & 0xFFFFFFFF, f"{name}_high": bits >> 32}


def double_bits(value: float) -> int:
    """Return the 64-bit pattern of the IEEE double."""
    return int(np.float64(value).view(np.uint64))


def _operand(row: Row, letter: str, value: Value) -> Operand:
    row = row.at(letter)
    operand = _number(row, value) if isinstance(value, int | float) else _name(letter, value)
    if not isinstance(operand, KINDS[letter]):
        raise ValueError(f"{row.mnemonic}: {value!r} can't stand for {letter!r}")
    if letter in "dDabc" and isinstance(operand, Register):
        _check_alignment(row, operand)
    return operand


def _number(row: Row, value: float) -> Immediate:
    if isinstance(value, int):
        return Immediate(value & 0xFFFFFFFF, "int")
    return Immediate(double_bits(value), "double") if row.width == 64 else Immediate(float_bits(value), "float")


def _name(letter: str, value: Operand | str) -> Operand:
    if not isinstance(value, str):
        return value
    if letter == "s" and value not in SPECIALS:
        raise ValueError(f"no special register {value!r}")
    named: dict[str, type[Special | Label | Texture]] = {"s": Special, "l": Label, "t": Texture}
    return named[letter](value) if letter in named else Constant(value)


def _check_alignment(row: Row, register: Register) -> None:
    aligned = min(row.words, 4) if is_scalar(register) else 1 if row.is_gcn else row.words
    if register.index % aligned and register.index != RZ_INDEX:
        raise ValueError(f"{row.mnemonic} needs registers in multiples of {row.words}, not R{register.index}")
