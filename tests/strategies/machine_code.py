"""Straight programs of machine code: any family with any of its modifiers, on random registers and constants."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from matrix_exact import QUADS

from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN, Instruction
from isa.kernel import Kernel
from isa.operands.operand import (
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT,
    RZ,
    BankConstant,
    Immediate,
    Operand,
    Predicate,
    Register,
    Special,
)
from isa.program import Program
from isa.row import Row, Unit
from isa.table import FAMILIES, TABLE, machine_row
from strategies.bit_patterns import patterns32, patterns64

GATHERED = (
    "S2UR",
    "CS2UR",
    "R2UR",
    "REDUX",
    "CREDUX",
    "ELECT",
    "VOTEU",
)  # what they write, but not what they read, is the warp's
REGISTERS, UNIFORMS, PREDICATES = 8, 4, 3  # few, so that instructions depend on each other
BANK_BYTES = 64
COMPUTED = tuple(
    f
    for f in FAMILIES
    if set(f.form) <= set("dabcPpQqxnNs") and f.form[:1] in ("d", "P") and not f.base.startswith(QUADS)
)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A row of any family with up to three of its modifiers."""
    family = draw(st.sampled_from(COMPUTED))
    names = (
        draw(st.lists(st.sampled_from(sorted({*family.modifiers, *family.silent})), max_size=3, unique=True))
        if (family.modifiers or family.silent)
        else []
    )
    parts = tuple(draw(st.sampled_from(sorted(some))) for some in family.parts.values() if some and draw(st.booleans()))
    row = machine_row(".".join((family.base, *names)), parts)
    return row if row is not None else draw(rows())


EVERY_ROW = rows()


def is_uniform(row: Row) -> bool:
    """Tell whether a row reads and writes only what all lanes of a warp share."""
    return row.unit is Unit.UNIFORM and not row.mnemonic.startswith(GATHERED)


def is_shared(row: Row, letter: str) -> bool:
    """Tell whether an operand is one that all lanes of a warp share; of an ELECT each lane has its own predicate."""
    if row.mnemonic.startswith(GATHERED):
        return letter == "d" or (letter == "P" and row.mnemonic.startswith("VOTEU"))
    return is_uniform(row)


@st.composite
def operand(draw: st.DrawFn, letter: str, row: Row) -> Operand:
    """An operand for a letter of the row's form."""
    words, shared = row.words_of(letter), is_shared(row, letter)
    if letter in PREDICATES_READ + PREDICATES_WRITTEN:
        index = draw(st.integers(0, PREDICATES - 1)) + (FIRST_UNIFORM if shared else 0)
        written = letter in PREDICATES_WRITTEN
        return draw(st.just(PT) | st.builds(Predicate, st.just(index), st.just(False) if written else st.booleans()))
    if letter in "nN":
        return Immediate(draw(st.integers(0, 31 if letter == "n" and row.mnemonic.startswith("LEA") else 255)), "int")
    if letter == "s":
        own = ("TID.X", "LANEID", "LANEMASK_LT", "VIRTID")
        own = own if not row.mnemonic.startswith(("S2UR", "CS2UR")) else ("CTAID.X", "NTID.X")
        return Special(draw(st.sampled_from((*own, "ZERO", "SWINHI", "LWINHI", "VIRTCFG", "SMEMSZ"))))
    if row.matrix:  # whole registers, without marks
        chosen = st.integers(0, max(1, 2 * REGISTERS // words)).map(lambda i: i * words)
        return Register(draw(chosen | st.just(RZ.index)))
    many, first = (UNIFORMS, FIRST_SCALAR) if shared else (REGISTERS, 0)
    index = st.integers(0, many // words - 1).map(lambda i: first + i * words)
    if letter == "d":
        return Register(draw(index | st.just(RZ.index)))
    flags = (st.booleans(), st.just(False), st.booleans(), st.booleans())
    source = st.builds(Register, index | st.just(RZ.index), *flags)
    uniform = st.integers(0, UNIFORMS // words - 1).map(lambda i: Register(FIRST_SCALAR + i * words))
    offsets = st.integers(0, BANK_BYTES // 8 - 1).map(lambda i: BankConstant(0, 8 * i))
    patterns = patterns64() if words == 2 else patterns32()
    return draw(source | uniform | offsets | st.builds(Immediate, patterns, st.just("int")))


@st.composite
def instruction(draw: st.DrawFn, some: st.SearchStrategy[Row] = EVERY_ROW) -> Instruction:
    """An instruction of any family, or of some rows, perhaps under a guard."""
    row = draw(some)
    guard = draw(st.just(PT) | st.builds(Predicate, st.integers(0, PREDICATES - 1), st.booleans()))
    if is_uniform(row) and guard != PT:
        guard = replace(guard, index=guard.index + FIRST_UNIFORM)
    return Instruction(row, tuple(draw(operand(letter, row)) for letter in row.form), guard)


@st.composite
def kernels(draw: st.DrawFn, some: st.SearchStrategy[Row] = EVERY_ROW) -> Kernel:
    """A launch of one block whose registers begin with random numbers that differ between lanes."""
    lane, mix = Register(REGISTERS), TABLE["IMAD"]
    start = [Instruction(TABLE["S2R"], (lane, Special("LANEID")))]
    for index in range(REGISTERS):
        factor, first = (Immediate(draw(patterns32()), "int") for _ in range(2))
        start += [
            Instruction(TABLE["MOV"], (Register(index), first)),
            Instruction(mix, (Register(index), lane, factor, Register(index))),
        ]
    body = draw(st.lists(instruction(some), min_size=1, max_size=12))
    program = Program((*start, *body, Instruction(TABLE["EXIT"], ())))
    bank = draw(st.binary(min_size=BANK_BYTES, max_size=BANK_BYTES))
    return Kernel("drawn", program, (1, 1, 1), (draw(st.sampled_from((32, 40))), 1, 1), banks={0: bank})
