import pytest
from hypothesis import given
from strategies import launches as strategies

from isa.instruction import Instruction
from isa.operands.operand import (
    RZ,
    Address,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Predicate,
    Register,
    Special,
    Targets,
    Texture,
    scalar,
)
from isa.program import Program
from isa.table import ROWS, TABLE, machine_row
from isa.text.assembler import assemble
from isa.text.printer import show, show_instruction


@pytest.mark.long
@given(strategies.programs())
def test_assembling_the_text_of_a_program_gives_the_program(program):
    """`assemble(show(p)) == p`, for any row, operand, guard, label and resource."""
    assert assemble(show(program)) == program


@pytest.mark.long
@given(strategies.programs())
def test_showing_is_idempotent(program):
    """The text of the assembled text is the same text."""
    text = show(program)
    assert show(assemble(text)) == text


OPERANDS = {
    **{letter: Register(8) for letter in "dDabc"},
    "m": Address(Register(2), 16),
    "M": Address(Register(3), 32),
    "P": Predicate(1),
    "Q": Predicate(2, negated=True),
    "n": Immediate(0, "int"),
    "B": Convergence(3),
    "k": Register(9),
    "l": Label("on"),
    "T": Targets(("on", "on")),
    "y": Dependency(2),
    "s": Special("TID.X"),
    "t": Texture("x"),
}
SCALARS = {letter: scalar(16) for letter in "dabc"} | {"m": Address(scalar(2), 16)}


def of_each_row(row):
    """Return an instruction of a row, without the operands that may be left out."""
    known = OPERANDS | (SCALARS if row.mnemonic.startswith("S_") else {})
    known |= {"a": Label("on")} if row.mnemonic == "LEPC" else {}
    return Instruction(row, tuple(known[letter] for letter in row.form[: len(row.form) - row.optional]))


def test_the_round_trip_covers_every_row():
    """One instruction of each row comes back equal: no row has an operand without a text form."""
    program = Program(tuple(map(of_each_row, ROWS)), {"on": 0})
    assert assemble(show(program)) == program


def test_numbers_are_written_for_people():
    """Integers are signed decimals, floats shortest decimals; odd NaNs, and integers in float rows, are patterns."""
    cases = [
        ("MOV", Immediate(0xFFFFFFFF, "int"), "MOV R0, -1"),
        ("MOV", Immediate(0x3DCCCCCD, "float"), "MOV R0, 0.1"),
        ("MOV", Immediate(0x7FC00000, "float"), "MOV R0, 0f7fc00000"),
        ("MUFU.RCP", Immediate(0x3F800000, "int"), "MUFU.RCP R0, 0x3f800000"),
    ]
    for mnemonic, operand, text in cases:
        assert show_instruction(Instruction(TABLE[mnemonic], (Register(0), operand))) == text


def test_addresses_are_written_by_their_nearest_form():
    """An address without base is written as absolute, one without offset as a register, a high offset as negative."""
    load = TABLE["LDS"]
    for address, text in (
        (Address(RZ, 64), "[0x40]"),
        (Address(Register(2), 0), "[R2]"),
        (Address(Register(2), 2**32 - 4), "[R2-0x4]"),
    ):
        assert show_instruction(Instruction(load, (Register(0), address))) == f"LDS R0, {text}"


def test_numbers_have_the_width_of_their_operand():
    """A comparison of doubles has 64-bit numbers beside predicates: decimals, patterns and the odd NaN."""
    row = machine_row("DSETP.GT.AND")
    rest = Predicate(1), Predicate(7)
    for number, text in (
        (Immediate(0x3FE0000000000000, "double"), "0.5"),
        (Immediate(0x7FF8000000000001, "double"), "0d7ff8000000000001"),
        (Immediate(0x3FE0000000000000, "int"), "0x3fe0000000000000"),
    ):
        one = Instruction(row, (*rest, Register(2), number, Predicate(7)))
        assert show_instruction(one) == f"DSETP.GT.AND P1, PT, R2, {text}, PT"
