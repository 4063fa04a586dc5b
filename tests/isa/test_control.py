"""Control codes: text, fields, and programs that have them on all instructions or on none."""

import pytest
from hypothesis import given
from strategies.launches import controls

from isa.nvidia.control import Control, show
from isa.operands.operand import Register
from isa.program import Program
from isa.reading.source import AssemblyError
from isa.text.assembler import assemble


def code(text):
    """Return the control code of the only instruction of a text."""
    (instruction,) = assemble(text).instructions
    return instruction.control


def test_the_fields_are_those_of_the_text():
    """Waits are a mask with barrier 0 the lowest; R and W name the barriers of the reads and of the write."""
    assert code("[B--2--5:R0:W1:Y:S04] NOP") == Control(4, True, 0, 1, 0b100100)
    assert code("[B------:R-:W-:-:S15] @P0 FADD R1, R2, R3;") == Control(15)
    assert code("NOP") is None


@given(controls())
def test_a_code_comes_back_from_its_text(control):
    """The assembler reads what `show` writes, which is 21 characters long."""
    assert code(f"{show(control)} NOP") == control
    assert len(show(control)) == 21


def test_sources_may_be_reused():
    """`.reuse` is part of a source operand, a negated one too, and changes no register index."""
    operands = assemble("FFMA R1, -R2.reuse, R3, RZ.reuse").instructions[0].operands
    assert operands == (Register(1), Register(2, negated=True, reuse=True), Register(3), Register(255, reuse=True))


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("[B------:R-:W-:-] NOP", 1, 1, "is no control code; write five fields"),
        ("x: [B------:R-:W-:-:S1", 1, 4, "does not end; close it with ]"),
        ("[B-----:R-:W-:-:S01] NOP", 1, 2, "write B and six digits"),
        ("[B0---2-:R-:W-:-:S01] NOP", 1, 2, "each - or its own place"),
        ("[B------:R6:W-:-:S01] NOP", 1, 10, "write R and a barrier 0 to 5"),
        ("[B------:R-:Wx:-:S01] NOP", 1, 13, "write W and a barrier 0 to 5"),
        ("[B------:R-:W-:N:S01] NOP", 1, 16, "write Y or -"),
        ("[B------:R-:W-:-:S16] NOP", 1, 18, "write S and a count 00 to 15"),
        ("[B------:R-:W-:-:S01]", 1, 22, "no instruction after the guard or code"),
        (
            "NOP\nl:\n[B------:R-:W-:-:S01] NOP",
            3,
            1,
            "it has a control code, and those before it have none; give every",
        ),
        ("[B------:R-:W-:-:S01] NOP\n  NOP", 2, 3, "it has no control code, and those before it do; give every"),
        ("FADD R1.reuse, R2, R3", 1, 6, "only a source is reused; leave out .reuse"),
        ("LDS R1, [R2.reuse]", 1, 9, "is not an address"),
    ],
)
def test_a_bad_code_is_reported_with_its_place(text, line, column, message):
    """The error has the line and column of the wrong field or operand, or of the instruction unlike those before it."""
    with pytest.raises(AssemblyError, match=message.replace("[", r"\[")) as caught:
        assemble(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_program_built_by_hand_has_codes_on_all_or_none():
    """A program built without text from one instruction with a control code and one without is refused."""
    with_code, without = (assemble(text).instructions[0] for text in ("[B------:R-:W-:-:S01] NOP", "NOP"))
    with pytest.raises(ValueError, match="instruction 1: it has no control code"):
        Program((with_code, without))
