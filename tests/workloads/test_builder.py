from __future__ import annotations

import pytest

from isa.errors import UserError
from isa.operands.operand import PT, RZ, Address, Constant, Immediate, Label, Predicate, Register, Special, Texture
from workloads.builder import Builder, RegisterMap, at, double_bits, float_bits, instruction


def test_registers_follow_one_another_from_r0():
    """A map gives consecutive registers in the order of asking, and counts them."""
    registers = RegisterMap("test")
    assert registers.one("a") == Register(0)
    assert registers.block("b", 2) == (Register(1), Register(2))
    assert registers.count == 3
    assert registers.blocks["b"] == (Register(1), Register(2))


def test_a_block_starts_at_a_multiple_of_its_alignment():
    """A quad asked for after one register starts at R4."""
    registers = RegisterMap("test")
    registers.one("a")
    assert registers.block("quad", 4, 4)[0] == Register(4)


def test_a_register_name_is_given_once():
    """Asking for a name again is an error, not a second register."""
    registers = RegisterMap("test")
    registers.one("a")
    with pytest.raises(ValueError, match="'a' is taken"):
        registers.one("a")


def test_a_map_ends_at_r254():
    """255 registers can be named; the next is refused with the kernel's name, for R255 is RZ."""
    registers = RegisterMap("big")
    assert registers.block("all", 255)[-1] == Register(254)
    with pytest.raises(UserError, match="big: needs 256 registers"):
        registers.one("more")


def test_plain_values_become_the_operands_that_the_form_asks_for():
    """Numbers become immediates, strings constants, specials, labels or textures by the letter of the form."""
    assert instruction("FADD", Register(0), Register(1), 1.5).operands[2] == Immediate(0x3FC00000, "float")
    assert instruction("DADD", Register(0), Register(2), 1.5).operands[2] == Immediate(double_bits(1.5), "double")
    assert instruction("IADD", Register(0), Register(1), -1).operands[2] == Immediate(0xFFFFFFFF, "int")
    assert instruction("MOV", Register(0), "n").operands[1] == Constant("n")
    assert instruction("S2R", Register(0), "TID.X").operands[1] == Special("TID.X")
    assert instruction("BRA", "loop").operands == (Label("loop"),)
    assert instruction("TEX", Register(0), "A", Register(1)).operands[1] == Texture("A")
    assert instruction("LDS", Register(0), at(Register(1), 8)).operands[1] == Address(Register(1), 8)


def test_a_guard_is_kept():
    """The guard predicate of an instruction is PT unless one is given."""
    assert instruction("EXIT").guard == PT
    assert instruction("EXIT", guard=Predicate(1, negated=True)).guard == Predicate(1, negated=True)


@pytest.mark.parametrize(
    ("mnemonic", "operands", "message"),
    [
        ("FOO", (), "no instruction 'FOO'"),
        ("FADD", (Register(0), Register(1)), "takes 3 operands, not 2"),
        ("BAR.SYNC", (0, 32, 1), "takes 2 operands, not 3"),
        ("MOV", (1, Register(0)), "can't stand for 'd'"),
        ("S2R", (Register(0), "TID.W"), "no special register"),
        ("FFMA", (Register(0), Register(1), 1.0, 2.0), "one number or constant"),
        ("LDS.64", (Register(1), at(Register(0))), "multiples of 2, not R1"),
        ("STS.128", (at(Register(0)), Register(2)), "multiples of 4, not R2"),
    ],
)
def test_operands_that_do_not_suit_the_form_are_refused(mnemonic, operands, message):
    """Unknown mnemonics, wrong counts and kinds, two immediates and misaligned registers raise ValueError."""
    with pytest.raises(ValueError, match=message):
        instruction(mnemonic, *operands)


def test_rz_suits_every_width():
    """RZ may stand for a pair or quad, although 255 is odd."""
    assert instruction("STS.64", at(Register(0)), RZ).operands[1] == RZ


def test_a_program_has_its_labels_where_they_were_set():
    """A label names the place before the next instruction; the one at the end is the program's length."""
    b = Builder(shared_bytes=64)
    b.label("start")
    b.emit("NOP")
    b.extend([instruction("BRA", "end", guard=Predicate(0)), instruction("EXIT")])
    b.label("end")
    program = b.build()
    assert dict(program.labels) == {"start": 0, "end": 3}
    assert program.shared_bytes == 64


def test_a_label_is_set_once_and_a_branch_needs_its_label():
    """Setting a label twice, or branching to a label that is never set, raises ValueError."""
    b = Builder()
    b.label("a")
    with pytest.raises(ValueError, match="'a' is taken"):
        b.label("a")
    b.emit("BRA", "nowhere")
    with pytest.raises(ValueError, match="no such label: nowhere"):
        b.build()


def test_float_bits_rounds_to_single():
    """The pattern is that of the nearest single."""
    assert float_bits(0.1) == 0x3DCCCCCD
