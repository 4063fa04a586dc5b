"""One instruction: a row of the table, its operands and its guard predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from isa.control import Control
from isa.operand import PT, PT_INDEX, RZ_INDEX, Address, Operand, Predicate, Register
from isa.table import Row


@dataclass(frozen=True, slots=True)
class Instruction:
    """`operands` stand in the order of `row.form`; `line` is where the text had it (0: generated)."""

    row: Row
    operands: tuple[Operand, ...]
    guard: Predicate = PT
    line: int = field(default=0, compare=False)
    control: Control | None = None

    def slots(self) -> Iterator[tuple[str, Operand]]:
        """Pairs of form letter and operand, in the order of the text."""
        return zip(self.row.form, self.operands, strict=False)

    def reads(self) -> tuple[int, ...]:
        """Indices of the 32-bit registers read (each word of a wide operand; RZ excluded), address base included."""
        return tuple(r for letter, operand in self.slots() for r in _words_read(letter, operand, self.row.words))

    def writes(self) -> tuple[int, ...]:
        """Indices of the 32-bit registers written (RZ excluded)."""
        return tuple(
            r
            for letter, operand in self.slots()
            if letter == "d" and isinstance(operand, Register)
            for r in _words(operand, self.row.words)
        )

    def predicates_read(self) -> tuple[int, ...]:
        """Indices of the predicates read, the guard included (PT excluded)."""
        sources = [o for letter, o in self.slots() if letter == "Q"] + [self.guard]
        return tuple(p.index for p in sources if isinstance(p, Predicate) and p.index != PT_INDEX)

    def predicates_written(self) -> tuple[int, ...]:
        """Indices of the predicates written (PT excluded)."""
        return tuple(
            o.index for letter, o in self.slots() if letter == "P" and isinstance(o, Predicate) and o.index != PT_INDEX
        )

    def address(self) -> Address | None:
        """The memory operand, if there is one."""
        return next((o for o in self.operands if isinstance(o, Address)), None)


def _words(register: Register, words: int) -> range:
    return range(0) if register.index == RZ_INDEX else range(register.index, register.index + words)


def _words_read(letter: str, operand: Operand, words: int) -> range:
    if isinstance(operand, Address):
        return _words(operand.base, 1)
    if letter in "abc" and isinstance(operand, Register):
        return _words(operand, words)
    return range(0)
