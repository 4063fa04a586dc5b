"""Straight programs of one warp whose loads, stores and atomics, of all sizes, meet in a few bytes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from interpreter.interpret import Interpretation, interpret

from isa.family import Family
from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi.launch import WINDOW
from isa.nvidia.rows import atomic, memory
from isa.operands.operand import PT, RZ, Address, Constant, Immediate, Operand, Predicate, Register, Special
from isa.program import Program
from isa.row import Row, Unit
from isa.table import TABLE, machine_row
from strategies.bit_patterns import patterns32

SIZE = 256  # bytes of each memory
REGISTERS = 12  # of data, in groups of four
LANE, BASES = 16, (17, 18, 19)  # places of 16 bytes: of shared and local memory, and the same in global memory
GENERIC, PART = 24, 23  # the lower register of generic addresses; a lane's bits
OF_SHARED, OF_LOCAL = Predicate(3), Predicate(4)  # the lanes whose generic address lies there
MEMORIES = Unit.SHARED, Unit.GLOBAL, Unit.LOCAL
FAMILIES = tuple(f for f in (*memory.FAMILIES, *atomic.FAMILIES) if f.unit in MEMORIES and "M" not in f.form)
STRIDES = (0, 1, 4, 8, 16, 16, 48)  # bytes from lane to lane, in whole 16


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A row of any family that accesses memory; the sizes of loads and stores are modifiers."""
    plain = [family for family in FAMILIES if "update" not in family.fields]
    family: Family = draw(st.sampled_from(plain) | st.sampled_from(FAMILIES))
    names = [name for name, change in family.modifiers.items() if change]
    row = machine_row(
        ".".join((family.base, *([draw(st.sampled_from(names))] if names and draw(st.booleans()) else [])))
    )
    assert row is not None
    return row


@st.composite
def instruction(draw: st.DrawFn) -> Instruction:
    """An access of any size, perhaps under a guard."""
    row = draw(rows())
    place = draw(st.integers(0, (SIZE // 2 - row.accessed_bytes) // row.accessed_bytes)) * row.accessed_bytes
    base = draw(st.sampled_from(BASES)) + (len(BASES) if row.unit is Unit.GLOBAL else 0)
    data = st.integers(0, REGISTERS // row.words - 1).map(lambda i: Register(i * row.words))
    given: dict[str, st.SearchStrategy[Operand]] = {
        "m": st.just(_generic(place) if row.generic else Address(Register(base), place)),
        "P": st.integers(0, 2).map(Predicate) | st.just(PT),
        "d": data | st.just(RZ),
    }
    guard = draw(st.just(PT) | st.builds(Predicate, st.integers(0, 2), st.booleans()))
    return Instruction(row, tuple(draw(given.get(letter, data | st.just(RZ))) for letter in row.form), guard)


def _generic(place: int) -> Address:
    return Address(Register(GENERIC), place, wide=True, pair=True)


def _windows(shared: int, local: int) -> list[Instruction]:
    """Return what gives each lane a generic address in one memory, by the bits of its number."""
    low, high, part, lane = Register(GENERIC), Register(GENERIC + 1), Register(PART), Register(LANE)
    code = [
        Instruction(TABLE["MOV"], (low, Register(BASES[0] + len(BASES)))),
        Instruction(TABLE["MOV"], (high, Immediate(WINDOW >> 32, "int"))),
    ]
    for base, name, chosen, mask in (
        (BASES[0], "LWINHI", OF_LOCAL, local),
        (BASES[1], "SWINHI", OF_SHARED, shared),
    ):
        code += [
            Instruction(TABLE["LOP.AND"], (part, lane, Immediate(mask, "int"))),
            Instruction(TABLE["ISETP.NE"], (chosen, part, RZ)),
            Instruction(TABLE["S2R"], (high, Special(name)), chosen),
            Instruction(TABLE["MOV"], (low, Register(base)), chosen),
        ]
    return code


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """A launch of one warp; its predicates begin with random lanes, its registers with random numbers."""
    lane = Register(LANE)
    start = [Instruction(TABLE["S2R"], (lane, Special("LANEID")))]
    for index in range(REGISTERS):
        first, factor = (Immediate(draw(patterns32()), "int") for _ in range(2))
        start += [
            Instruction(TABLE["MOV"], (Register(index), first)),
            Instruction(TABLE["IMAD"], (Register(index), lane, factor, Register(index))),
        ]
    for base in BASES:
        stride = Immediate(draw(st.sampled_from(STRIDES)), "int")
        start += [
            Instruction(TABLE["IMUL"], (Register(base), lane, stride)),
            Instruction(TABLE["LOP.AND"], (Register(base), Register(base), Immediate(SIZE // 2 - 16, "int"))),
            Instruction(TABLE["IADD"], (Register(base + len(BASES)), Register(base), Constant("y"))),
        ]
    start += _windows(draw(st.integers(0, 31)), draw(st.integers(0, 31)))
    body = draw(st.lists(instruction(), min_size=1, max_size=12))
    program = Program((*start, *body, Instruction(TABLE["EXIT"], ())), {}, SIZE, SIZE, declared_registers=32)
    return Kernel("drawn", program, (1, 1, 1), (32, 1, 1), buffers=(Buffer("y", "<u4", SIZE // 4),), window=WINDOW)


def up_to(kernel: Kernel, pc: int) -> Interpretation:
    """Return the state in which a kernel is before the instruction at `pc`."""
    code = (*kernel.program.instructions[:pc], Instruction(TABLE["EXIT"], ()))
    return interpret(replace(kernel, program=replace(kernel.program, instructions=code)))
