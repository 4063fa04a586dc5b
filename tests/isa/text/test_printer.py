import pytest
from hypothesis import given
from strategies import launches as strategies

from isa.instruction import Instruction
from isa.operand import RZ, Address, Convergence, Immediate, Predicate, Register, scalar
from isa.program import Program
from isa.table import ROWS, TABLE
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


def test_the_round_trip_covers_every_row():
    """One instruction of each row comes back equal: no row has an operand without a text form."""
    registers = {letter: Register(8) for letter in "dDabc"}
    others = {
        "m": Address(Register(2), 16),
        "P": Predicate(1),
        "Q": Predicate(2, negated=True),
        "n": Immediate(0, "int"),
        "B": Convergence(3),
    }
    scalars = {letter: scalar(16) for letter in "dabc"} | {"m": Address(scalar(2), 16)}
    plain = [row for row in ROWS if not set(row.form) & set("slt")]
    program = Program(
        tuple(
            Instruction(
                row,
                tuple(
                    ({**registers, **others} | (scalars if row.mnemonic.startswith("S_") else {}))[x]
                    for x in row.form[: len(row.form) - row.optional]
                ),
            )
            for row in plain
        )
    )
    assert assemble(show(program)) == program
    assert (
        len(plain) == len(ROWS) - 14
    )  # S2R, BRA, BSSY, S_BRANCH, four S_CBRANCH and six TEX have operands of their own


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
