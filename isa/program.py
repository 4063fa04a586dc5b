"""A program: instructions, labels and the resources that one thread or block of it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from isa import frozen
from isa.brief import brief
from isa.control import odd_one_out, uneven
from isa.instruction import Instruction
from isa.operand import FIRST_SCALAR

WORD_BYTES = 4


@dataclass(frozen=True, repr=False)
class Program:
    """A program; `labels` maps a name to the index of the instruction after it (the program's length: the end).

    Raises ValueError if shared or local memory is not a whole number of words, or if only some instructions have a
    control code.
    """

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    shared_bytes: int = 0
    local_bytes: int = 0

    __repr__ = brief
    __getstate__ = frozen.state
    __setstate__ = frozen.restore

    def __post_init__(self) -> None:
        """Check the sizes and control codes."""
        check_size(self.shared_bytes)
        check_size(self.local_bytes)
        odd = odd_one_out(i.control for i in self.instructions)
        if odd is not None:
            raise ValueError(f"instruction {odd}: {uneven(self.instructions[odd].control)}")

    @cached_property
    def registers(self) -> int:
        """Return the 32-bit registers that a thread needs: the highest index plus one, without scalar ones."""
        return max((r for r in self._used if r < FIRST_SCALAR), default=-1) + 1

    @cached_property
    def scalars(self) -> int:
        """Return the scalar registers that a warp needs."""
        return max((r + 1 - FIRST_SCALAR for r in self._used if r >= FIRST_SCALAR), default=0)

    @property
    def register_rows(self) -> int:
        """Return the index after the last register of either kind."""
        return FIRST_SCALAR + self.scalars if self.scalars else self.registers

    @cached_property
    def _used(self) -> frozenset[int]:
        return frozenset(r for i in self.instructions for r in (*i.reads(), *i.writes()))

    def __len__(self) -> int:
        """Return the number of instructions."""
        return len(self.instructions)


def check_size(nbytes: int) -> None:
    """Raise ValueError unless so many bytes of shared or local memory are whole 32-bit words, like their accesses."""
    if nbytes % WORD_BYTES:
        words = -(-nbytes // WORD_BYTES)
        raise ValueError(f"{nbytes} bytes are no whole 32-bit words; take {words * WORD_BYTES}")
