"""One instruction: a row of the table, its operands and its guard predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from isa.control import Control
from isa.operand import PT, PT_INDEX, RZ_INDEX, Address, Immediate, Operand, Predicate, Register
from isa.table import Row


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: `operands` are in the order of `row.form`; `line` is its line in the text (0: generated)."""

    row: Row
    operands: tuple[Operand, ...]
    guard: Predicate = PT
    line: int = field(default=0, compare=False)
    control: Control | None = None

    def __post_init__(self) -> None:
        """Set the guard of a row that has its own condition."""
        if self.row.condition is not None:
            object.__setattr__(self, "guard", self.row.condition)

    def slots(self) -> Iterator[tuple[str, Operand]]:
        """Yield pairs of form letter and operand, in the order of the text, then those that the row implies."""
        return chain(zip(self.row.form, self.operands, strict=False), self.row.implied)

    def reads(self) -> tuple[int, ...]:
        """Return the indices of the 32-bit registers read (each word of a wide operand, address base; without RZ)."""
        words = self.row.source.words
        return tuple(r for letter, operand in self.slots() for r in _words_read(letter, operand, words))

    def writes(self) -> tuple[int, ...]:
        """Return the indices of the 32-bit registers written (without RZ)."""
        return tuple(
            r
            for letter, operand in self.slots()
            if letter in "dD" and isinstance(operand, Register)
            for r in _words(operand, self.row.words)
        )

    def predicates_read(self) -> tuple[int, ...]:
        """Return the indices of the predicates read, including the guard (without PT)."""
        sources = [o for letter, o in self.slots() if letter == "Q"] + [self.guard]
        return tuple(p.index for p in sources if isinstance(p, Predicate) and p.index != PT_INDEX)

    def predicates_written(self) -> tuple[int, ...]:
        """Return the indices of the predicates written (without PT)."""
        return tuple(
            o.index for letter, o in self.slots() if letter == "P" and isinstance(o, Predicate) and o.index != PT_INDEX
        )

    def place(self, pc: int) -> str:
        """Return the place of this instruction for messages: its line of the source, or its index without source."""
        return f"line {self.line}" if self.line else f"instruction {pc}"

    def barrier(self) -> tuple[int, int | None]:
        """Return the number of the barrier at which it waits, and the threads that release it if it says how many."""
        numbers = [o.bits for o in self.operands if isinstance(o, Immediate)]
        return (numbers[0] if numbers else 0), (numbers[1] if len(numbers) > 1 else None)

    def address(self) -> Address | None:
        """Return the memory operand, if there is one."""
        return next((o for o in self.operands if isinstance(o, Address)), None)


def _words(register: Register, words: int) -> range:
    return range(0) if register.index == RZ_INDEX else range(register.index, register.index + words)


def _words_read(letter: str, operand: Operand, words: int) -> range:
    if isinstance(operand, Address):
        return _words(operand.base, 1)
    if letter in "abcD" and isinstance(operand, Register):
        return _words(operand, words)
    return range(0)
