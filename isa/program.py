"""A program: instructions, labels and the resources that one thread or block of it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from isa.instruction import Instruction
from isa.nvidia.control import odd_one_out, uneven
from isa.operands.operand import FIRST_SCALAR
from isa.reading.origin import NOWHERE, Origin, PlaceInSource, number
from isa.row import GENERIC, Row, Unit, memory_of
from isa.support import frozen
from isa.support.brief import brief

WORD_BYTES = 4
CODE_BYTES = 16  # of an instruction: code addresses are bytes from the program's beginning
_POOL = "USETMAXREG"  # how instructions begin by which warps give registers to their block, or take some


@dataclass(frozen=True, repr=False)
class Program:
    """A program; `labels` maps a name to the index of the instruction after it (the program's length: the end).

    `reserved_bytes` of the shared memory are the system's, which each block of a machine may have anyway.
    `declared_registers` are those that its compiler has set aside for a thread, if it says so. `origins` by pc are
    those of machine code; other programs have none. `indirect` are the labels to which an indirect branch may go, by
    its pc, where its own operands do not say so. `independent`: its lanes are scheduled as from Volta on
    (isa.dataflow.lanes.convergence); so are those of any program with an instruction that needs it. `outside` are
    functions of the system, which is not here, by the code addresses behind the program that stand for them. `windows`
    is the byte of constant bank 0 from which on a launch says where the windows of generic addresses lie (None:
    nowhere).

    Raises ValueError if shared or local memory is not a whole number of words, if only some instructions have a control
    code, or some an origin.
    """

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    shared_bytes: int = 0
    local_bytes: int = 0
    declared_registers: int = 0
    origins: tuple[Origin, ...] = field(default=(), compare=False)
    indirect: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    independent: bool = False
    reserved_bytes: int = 0
    outside: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    windows: int | None = None

    __repr__ = brief
    __getstate__ = frozen.state
    __setstate__ = frozen.restore

    def __post_init__(self) -> None:
        """Check the sizes, control codes and origins."""
        check_size(self.shared_bytes)
        check_size(self.local_bytes)
        odd = odd_one_out(i.control for i in self.instructions)
        if odd is not None:
            raise ValueError(f"instruction {odd}: {uneven(self.instructions[odd].control)}")
        if self.origins and len(self.origins) != len(self.instructions):
            raise ValueError(f"{len(self.origins)} origins of {len(self.instructions)} instructions; give one for each")

    @property
    def own_shared_bytes(self) -> int:
        """Return the bytes of shared memory that a block asks for: those without the system's."""
        return self.shared_bytes - self.reserved_bytes

    @cached_property
    def allocated_registers(self) -> int:
        """Return the registers that a launch sets aside for a thread.

        Where warps give registers back to their block and take others (USETMAXREG) these are as many as the compiler
        says, though some warps need more; else as many as a thread needs.
        """
        pooled = self.declared_registers and any(one.row.mnemonic.startswith(_POOL) for one in self.instructions)
        return self.declared_registers if pooled else self.registers

    @cached_property
    def registers(self) -> int:
        """Return the 32-bit registers that a thread needs: the highest index plus one, without scalar ones."""
        return max(self.declared_registers, max((r for r in self._used if r < FIRST_SCALAR), default=-1) + 1)

    @cached_property
    def scalars(self) -> int:
        """Return the scalar registers that a warp needs."""
        return max((r + 1 - FIRST_SCALAR for r in self._used if r >= FIRST_SCALAR), default=0)

    @cached_property
    def has_independent_lanes(self) -> bool:
        """Return whether its lanes are scheduled by convergence barriers, as from Volta on."""
        return self.independent or any(i.row.needs_independent_lanes for i in self.instructions)

    @property
    def register_rows(self) -> int:
        """Return the index after the last register of either kind."""
        return FIRST_SCALAR + self.scalars if self.scalars else self.registers

    @cached_property
    def leaves_global(self) -> bool:
        """Return whether its generic accesses may leave global memory: it takes the address of another memory."""
        return any(i.row.generic for i in self.instructions) and any(
            i.takes_window(self.windows) for i in self.instructions
        )

    def memories(self, row: Row) -> frozenset[Unit]:
        """Return the memories that an instruction of that row may access, by the unit classes of their stores."""
        return self.read(row) | self.written(row)

    def read(self, row: Row) -> frozenset[Unit]:
        """Return those that it may read, if it reads any: an asynchronous copy does not read where it writes."""
        return frozenset(GENERIC if row.generic and self.leaves_global else {memory_of(row.unit)})

    def written(self, row: Row) -> frozenset[Unit]:
        """Return those that it may write, if it writes any."""
        return frozenset({Unit.SHARED}) if row.copies else self.read(row)

    @cached_property
    def _used(self) -> frozenset[int]:
        return frozenset(r for i in self.instructions for r in (*i.reads(), *i.writes()))

    def place(self, pc: int) -> str:
        """Return the place of an instruction for messages: of machine code its origin, else its line, or its index."""
        return (self.origins and str(self.origins[pc])) or self.instructions[pc].place(pc)

    def source(self, pc: int, listing: str = "") -> PlaceInSource:
        """Return file and line of the source of the instruction at pc: its origin's, else of the listing so named."""
        one = self.origins[pc] if self.origins else Origin(file=listing, line=self.instructions[pc].line)
        return (one.file, one.line) if one.line else NOWHERE

    def offset(self, pc: int) -> int:
        """Return the byte offset of the instruction at pc, or of the end, in machine code; -1 if it is none."""
        if not self.origins:
            return -1
        return self.origins[pc].offset if pc < len(self.origins) else CODE_BYTES * pc

    @property
    def numbering(self) -> str:
        """Return what `number` gives, as the head of a column: offset for machine code, else pc."""
        return "offset" if self.origins else "pc"

    def number(self, pc: int) -> str:
        """Return what tables call the instruction at pc: in machine code its offset, as 0x0cf0, else its pc."""
        return number(pc, self.offset(pc))

    def inlined(self, pc: int) -> PlaceInSource:
        """Return the place in a header from which the instruction at pc was inlined; NOWHERE if it was not."""
        return self.origins[pc].inlined if self.origins else NOWHERE

    def __len__(self) -> int:
        """Return the number of instructions."""
        return len(self.instructions)


def check_size(nbytes: int) -> None:
    """Raise ValueError unless so many bytes of shared or local memory are whole 32-bit words, like their accesses."""
    if nbytes % WORD_BYTES:
        words = -(-nbytes // WORD_BYTES)
        raise ValueError(f"{nbytes} bytes are no whole 32-bit words; take {words * WORD_BYTES}")
