"""From the text of machine code to instructions of the table."""

import pytest

from isa.architecture import nvidia
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.lowering.lower import LoweringError, lowered, program
from isa.nvidia.lowering.system import meets
from isa.operands.operand import (
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT,
    RZ,
    Address,
    BankConstant,
    Immediate,
    Label,
    Predicate,
    Register,
    Special,
)
from isa.row import Unit


def section(*texts: str) -> Section:
    """A section of instructions with control codes that wait for nothing."""
    return Section([Encoded(16 * i, text, 0, 0x000FE20000000000) for i, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("text", "mnemonic", "operands"),
    [
        ("MOV R1, c[0x0][0x28]", "MOV", (Register(1), BankConstant(0, 0x28))),
        ("UMOV UR4, 0x400", "UMOV", (Register(FIRST_SCALAR + 4), Immediate(0x400, "int"))),
        ("ULDC.64 UR6, c[0x0][0x208]", "ULDC.64", (Register(FIRST_SCALAR + 6), BankConstant(0, 0x208))),
        ("S2R R0, SR_TID.X", "S2R", (Register(0), Special("TID.X"))),
        ("CS2R R4, SRZ", "CS2R", (Register(4), Special("ZERO"))),
        ("FADD R0, |R2|, -R3.reuse", "FADD", (Register(0), Register(2, absolute=True), Register(3, True, True))),
        ("FMUL R0, R2, 4", "FMUL", (Register(0), Register(2), Immediate(0x40800000, "float"))),
        ("FMUL R0, R2, -1.5", "FMUL", (Register(0), Register(2), Immediate(0xBFC00000, "float"))),
        ("DADD R2, R4, 1.5", "DADD", (Register(2), Register(4), Immediate(0x3FF8000000000000, "double"))),
        ("MOV R3, UR5", "MOV", (Register(3), Register(FIRST_SCALAR + 5))),
        ("BRA 0x690", "BRA", (Label("0x690"),)),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC", (Immediate(0, "int"),)),
    ],
)
def test_operands_are_those_of_the_table(text, mnemonic, operands):
    """Each operand becomes the table's; modifiers that change nothing leave the listing's row."""
    form = lowered(text)
    assert (form.row.mnemonic, form.operands) == (mnemonic, operands)


@pytest.mark.parametrize(
    ("text", "guard"),
    [("@P0 EXIT", Predicate(0)), ("@!P3 EXIT", Predicate(3, True)), ("@UP1 EXIT", Predicate(FIRST_UNIFORM + 1))],
)
def test_guards_are_predicates_of_the_thread_or_the_warp(text, guard):
    """@UP1 is the second predicate that all lanes share."""
    assert lowered(text).guard == guard


def test_halves_that_are_numbers_are_one_immediate():
    """HFMA2's `1.875, 0` is 0x3f800000: the first number lies in the upper half."""
    assert lowered("HFMA2.MMA R5, -RZ, RZ, 1.875, 0").operands[3] == Immediate(0x3F800000, "int")


def test_labels_are_targets_by_address():
    """A target 0x10 is the second instruction."""
    code = program(section("NOP", "BRA 0x10"), {}, registers=40, shared=1024, local=16)
    assert (code.labels["0x10"], code.registers, code.shared_bytes, code.local_bytes) == (1, 40, 1024, 16)


def test_what_the_table_lacks_is_refused_at_once():
    """The message names every unknown instruction, how often it occurs and where first."""
    code = section("NOP", "HMMA.SP.884.F32 R4, R4, R8, R12", "HMMA.SP.884.F32 R4, R4, R8, R12", "FADD R1, B0, R2")
    with pytest.raises(LoweringError) as error:
        program(code, {}, function="gemm", registers=40, shared=0, local=0)
    assert "HMMA.SP.884.F32 (2 times, first gemm+0x10 HMMA.SP.884.F32 R4, R4, R8, R12)" in str(error.value)
    assert "FADD with B0 as an operand" in str(error.value)


def test_an_indexed_uldc_is_a_load_into_a_register_of_the_warp():
    """What a ULDC reads at a computed place depends on a register: it is an LDC, in a unit that reads memory."""
    form = lowered("ULDC.64 UR4, c[0x0][UR6+0x210]")
    assert (form.row.mnemonic, form.row.unit) == ("LDC.64", Unit.CONSTANT)
    assert form.operands[0] == Register(FIRST_SCALAR + 4)
    assert form.operands[1].registers == (FIRST_SCALAR + 6,)


@pytest.mark.parametrize(
    ("architecture", "text"),
    [(80, "MOV R5, c[0x0][0x8c]"), (90, "ULDC UR7, c[0x0][0x44]"), (120, "LDCU UR7, c[0x0][UR5+0x254]")],
)
def test_a_synchronisation_of_the_grid_is_known_by_its_place(architecture, text):
    """Code that takes the address at which blocks of a cooperative launch meet is found, and other code is not."""
    place = nvidia(architecture).meeting
    assert meets(["EXIT", text], place)
    assert not meets(["BPT.TRAP 0x1", "ULDC UR7, c[0x0][0x440]"], place)


def test_control_codes_are_those_of_the_encoding():
    """The stall count of the encoding is the instruction's."""
    code = program(section("NOP"), {}, registers=1, shared=0, local=0)
    assert code.instructions[0].control.stall == 1
    assert code.instructions[0].guard == PT


def test_an_address_without_registers_is_absolute():
    """[0x10] is RZ and an offset."""
    assert lowered("LDS R2, [0x10]").operands[1] == Address(RZ, 0x10)
