"""One instruction: a row of the table, its operands and its guard predicate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from isa.nvidia.control import Control
from isa.operands import windows
from isa.operands.operand import (
    PT,
    PT_INDEX,
    RZ_INDEX,
    Address,
    BankConstant,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
)
from isa.row import BEHIND, Row, Unit
from isa.values.general import MINUS

PREDICATES_READ, PREDICATES_WRITTEN = "Qqxefgh", "Ppuvwrz"  # form letters, by their bit in a word of truths


@dataclass(frozen=True)
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
        return self._reads

    @cached_property
    def _reads(self) -> tuple[int, ...]:
        return tuple(r for letter, operand in self.slots() for r in _words_read(letter, operand, self.row))

    def writes(self) -> tuple[int, ...]:
        """Return the indices of the 32-bit registers written (without RZ)."""
        return self._writes

    @cached_property
    def _writes(self) -> tuple[int, ...]:
        return tuple(
            r
            for letter, operand in self.slots()
            if letter in "dDo" and isinstance(operand, Register)
            for r in _words(operand, self.row.words_of(letter))
        )

    def predicates_read(self) -> tuple[int, ...]:
        """Return the indices of the predicates read, including the guard (without PT)."""
        sources = [o for letter, o in self.slots() if letter in PREDICATES_READ] + [self.guard]
        return tuple(p.index for p in sources if isinstance(p, Predicate) and p.index != PT_INDEX)

    def predicates_written(self) -> tuple[int, ...]:
        """Return the indices of the predicates written (without PT)."""
        return tuple(
            o.index
            for letter, o in self.slots()
            if letter in PREDICATES_WRITTEN and isinstance(o, Predicate) and o.index != PT_INDEX
        )

    def place(self, pc: int) -> str:
        """Return the place of this instruction for messages: its line of the source, or its index without source."""
        return f"line {self.line}" if self.line else f"instruction {pc}"

    def barrier(self) -> tuple[int, int | None]:
        """Return the number of the barrier at which it waits, and the threads that release it if it says how many.

        A register, which says so only when it executes, counts as saying nothing.
        """
        said = [o.bits if isinstance(o, Immediate) else None for letter, o in self.slots() if letter == "k"]
        return (said[0] if said else 0) or 0, said[1] if len(said) > 1 else None

    def label(self) -> Label | None:
        """Return the label that it names, if it names one."""
        return next((o for o in self.operands if isinstance(o, Label)), None)

    def gates(self) -> tuple[Predicate, ...]:
        """Return the predicates that must hold beside the guard: of control flow those that it reads, without PT."""
        if self.row.unit is not Unit.CONTROL:
            return ()
        return tuple(o for x, o in self.slots() if x == "Q" and isinstance(o, Predicate) and o != PT)

    def channels(self) -> tuple[int, ...]:
        """Return the channels that a fetch by a texture object gives to its registers, in order."""
        mask = self.number() >> 32
        return tuple(k for k in range(4) if mask >> k & 1)

    def number(self) -> int:
        """Return what result and truth functions get as n: its row's code and its numbers (isa.values.general)."""
        found = {letter: o.bits for letter, o in self.slots() if letter in "nN" and isinstance(o, Immediate)}
        code = self.row.code | (MINUS if self._shifts_negated() else 0)
        return code | found.get("n", 0) << 32 | found.get("N", 0) << 48

    def _shifts_negated(self) -> bool:
        """Tell whether a minus stands before a source that is shifted first."""
        shifted = (o for letter, o in self.slots() if letter == "a" and isinstance(o, Register | BankConstant))
        return self.row.shifts and any(o.negated for o in shifted)

    def address(self) -> Address | None:
        """Return the memory operand, if there is one."""
        return next((o for x, o in self.slots() if isinstance(o, Address) and x != "M"), None)

    def destination_in_shared(self) -> Address | None:
        """Return the place in shared memory that it writes beside, if it does."""
        return next((o for x, o in self.slots() if isinstance(o, Address) and x == "M"), None)

    def descriptors(self) -> tuple[int, ...]:
        """Return the indices of the uniform registers that say where matrices lie in shared memory."""
        row = self.row
        return tuple(
            r
            for letter, o in self.slots()
            if letter == "b" and row.unit is Unit.WARPGROUP and isinstance(o, Register)
            for r in _words(o, row.words_of(letter))
        )

    def takes_window(self, first: int | None) -> bool:
        """Tell whether it reads where shared or local memory lies among generic addresses.

        Constant bank 0 says so from byte `first` on, if there is one.
        """
        if any(isinstance(one, Special) and one.name in windows.SPECIALS for one in self.operands):
            return True
        held = [(o, 4 * self.row.words_of(x)) for x, o in self.slots() if isinstance(o, BankConstant)]
        address = self.address()
        if address is not None and address.bank is not None:
            held.append((address.bank, self.row.nbytes))
        return first is not None and any(
            one.bank == windows.BANK and one.offset < first + windows.BYTES and one.offset + nbytes > first
            for one, nbytes in held
        )

    def reads_memory(self) -> bool:
        """Tell whether what it loads depends on what memory holds when it executes."""
        row = self.row
        reads = bool(row.is_load or row.signal or row.bulk) and not self.loads_constant()
        return reads or row.unit is Unit.WARPGROUP

    def reads_clock(self) -> bool:
        """Tell whether it reads a special register that depends on time."""
        return any(isinstance(o, Special) and o.name.startswith(("CLOCK", "GLOBALTIMER")) for o in self.operands)

    def loads_constant(self) -> bool:
        """Tell whether it loads from a fixed place of a constant bank, so that the launch decides what."""
        address = self.address()
        return address is not None and address.bank is not None and not address.registers


def _words(register: Register, words: int) -> range:
    return range(0) if register.index == RZ_INDEX else range(register.index, register.index + words)


def _words_read(letter: str, operand: Operand, row: Row) -> Iterable[int]:
    if isinstance(operand, Address):
        return operand.registers
    if letter in "abcD" + BEHIND and isinstance(operand, Register):
        return _words(operand, row.words_of(letter))
    if letter in "kt" and isinstance(operand, Register):
        return _words(operand, 1)
    return ()
