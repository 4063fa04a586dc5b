"""Texts that the table writes in other words."""

from dataclasses import replace

import numpy as np
import pytest

from isa.dataflow.flow import leaves
from isa.instruction import Instruction
from isa.nvidia.file.dump import Encoded
from isa.nvidia.lowering.lower import UnknownError, instruction, lowered
from isa.operands.operand import (
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT,
    RZ,
    RZ_INDEX,
    BankConstant,
    Immediate,
    Label,
    Predicate,
    Register,
)
from isa.operands.windows import SHARED_WINDOW
from isa.values.general import NUMBER, SECOND_NUMBER


def words(a):
    """Source a, and two that no row here has."""
    return np.array([a], np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.uint64)


def numbers(form):
    """What a row's functions get of its mask and its modifiers."""
    return np.array([form.operands[-1].bits << 32 | form.row.code], np.uint64)


@pytest.mark.parametrize(
    ("text", "predicates"),
    [
        ("R2P PR, R5, 0x3", (Predicate(0), Predicate(1), PT, PT, PT, PT, PT)),
        ("R2P PR, R5, 0x7f", tuple(map(Predicate, range(7)))),
        ("P2R R4, PR, RZ, 0x1", (Predicate(0), PT, PT, PT, PT, PT, PT)),
        ("P2R R4, PR, R5, 0x54", (PT, PT, Predicate(2), PT, Predicate(4), PT, Predicate(6))),
    ],
)
def test_sets_of_predicates_are_named(text, predicates):
    """PR with a mask is all predicates, those outside it as PT."""
    assert tuple(o for o in lowered(text).operands if isinstance(o, Predicate)) == predicates


@pytest.mark.parametrize(
    ("text", "a", "expected"),
    [
        ("R2P PR, R5, 0x3", 0b10, 0b10),
        ("R2P PR, R5, 0x11", 0b10001, 0b10001),
        ("R2P PR, R5.B1, 0x2", 0x200, 0b10),
        ("R2P PR, R5.B1, 0x2", 0x002, 0b00),
    ],
)
def test_predicates_are_bits_of_a_register(text, a, expected):
    """Predicate i is bit i; of B1, from bit 8 on."""
    form = lowered(text)
    assert form.row.truth(*words(a), np.zeros(1, np.uint32), numbers(form)).tolist() == [expected]


@pytest.mark.parametrize(
    ("text", "a", "p", "expected"),
    [
        ("P2R R4, PR, R5, 0x54", 0xFFFFFFFF, 0b1000100, 0xFFFFFFEF),
        ("P2R R4, PR, RZ, 0x1", 0, 0b001, 1),
        ("P2R.B1 R4, PR, R5, 0x3", 0x80, 0b1111110, 0x280),
    ],
)
def test_a_register_gets_predicates(text, a, p, expected):
    """Bits of the mask become the predicates in their order, the others stay."""
    form = lowered(text)
    assert form.row.result(*words(a), np.array([p], np.uint32), numbers(form)).tolist() == [expected]


def test_a_uniform_load_of_a_constant_is_a_load():
    """ULDC with a register in its place is an LDC to a uniform register."""
    form = lowered("ULDC UR5, c[0x3][UR4]")
    assert (form.row.mnemonic, form.operands[0]) == ("LDC", Register(FIRST_SCALAR + 5))


def test_operations_on_caches_have_no_operands():
    """A prefetch names an address, and changes no value."""
    assert lowered("CCTL.E.PF2 [R2]").operands == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ULDC.U8 UR4, c[0x0][0x20]", 0xF2),
        ("ULDC.S8 UR4, c[0x0][0x20]", 0xFFFFFFF2),
        ("ULDC.U16 UR4, c[0x0][0x20]", 0x01F2),
        ("ULDC.S16 UR4, c[0x0][0x20]", 0x000001F2),
    ],
)
def test_parts_of_constants_are_extended(text, expected):
    """A byte or half of a constant gets zeros, or its sign, above it."""
    row = lowered(text).row
    found = row.result(*words(0x9ABC01F2), np.zeros(1, np.uint32), np.array([row.code], np.uint64))
    assert (found & np.uint64(0xFFFFFFFF)).tolist() == [expected]


def test_a_branch_of_diverged_lanes_may_name_no_mask():
    """On sm_75 BRA.DIV without a mask asks for all lanes."""
    assert lowered("BRA.DIV 0x10").operands == (Register(255), Label("0x10"))


@pytest.mark.parametrize(
    ("text", "mnemonic", "operands"),
    [
        ("TEX.LL RZ, R9, R8, R0, UR4, 0x0, 2D, 0x1", "TEX.LL.2D.V1", "R9 RZ UR4 R8 R9"),
        ("TEX.LL R22, R24, R8, R11, UR4, 0x0, 3D", "TEX.LL.3D.V4", "R24 R22 UR4 R8 R9 R10"),
        ("TLD.LZ RZ, R8, R2, UR4, 0x0, 1D, 0x3", "TLD.LZ.1D.V2", "R8 RZ UR4 R2"),
        ("TLD4.G R10, R8, R2, UR4, 0x0, 2D", "TLD4.G.2D.V4", "R8 R10 UR4 R2 R3"),
        ("TXQ RZ, R5, R5, TEX_HEADER_DIMENSION, UR4, 0x0, 0x2", "TXQ.DIMENSION.V1", "R5 RZ UR4"),
        ("TEX RZ, R4, R4, UR4, 3D, 0x3", "TEX.3D.V2", "R4 RZ UR4 R4 R5 R6"),
        ("TEX.LL RZ, R5, R4, R0, UR4, 2D, 0x1", "TEX.LL.2D.V1", "R5 RZ UR4 R4 R5"),
        ("TLD4.B R6, R4, R4, UR4, 2D", "TLD4.B.2D.V4", "R4 R6 UR4 R4 R5"),
        ("TEX.SCR.LL R10, R8, R6, R8, 0x0, 0x58, 2D", "TEX.LL.2D.V4", "R8 R10 c[0x0][0x160] R6 R7"),
        ("TEX.SCR.LL RZ, R7, R6, R8, 0x0, 0x58, 3D, 0x1", "TEX.LL.3D.V1", "R7 RZ c[0x0][0x160] R6 R7 R8"),
        ("TLD.SCR.LZ R6, R4, R2, R0, 0x0, 0x58, 3D", "TLD.LZ.3D.V4", "R4 R6 c[0x0][0x160] R2 R3 R0"),
        ("TLD4.SCR.B R6, R4, R2, R3, 0x0, 0x58, 2D", "TLD4.B.2D.V4", "R4 R6 c[0x0][0x160] R2 R3"),
        ("TLD4.SCR.B.B R10, R8, R8, R2, 2D", "TLD4.B.2D.V4", "R8 R10 R2 R8 R9"),
        ("TEX.SCR.B.LL R10, R8, R10, R6, 2D", "TEX.LL.2D.V4", "R8 R10 R6 R10 R11"),
        ("TEX.B.LL R14, R12, R12, R8, 3D", "TEX.LL.3D.V4", "R12 R14 R8 R12 R13 R14"),
        ("TXQ.B RZ, R7, R6, TEX_HEADER_DIMENSION, 0x1", "TXQ.DIMENSION.V1", "R7 RZ R6"),
    ],
)
def test_vectors_of_a_texture_fetch_are_taken_apart(text, mnemonic, operands):
    """Targets, handle and coordinates each have an operand, whichever way an architecture packs them."""
    form = lowered(text)
    assert (form.row.mnemonic, " ".join(map(shown, form.operands[:-1]))) == (mnemonic, operands)


def shown(operand):
    """Return a register or constant as NVIDIA's tools print it."""
    if isinstance(operand, BankConstant):
        return f"c[{operand.bank:#x}][{operand.offset:#x}]"
    if operand.index == RZ_INDEX:
        return "RZ"
    return f"UR{operand.index - FIRST_SCALAR}" if operand.index >= FIRST_SCALAR else f"R{operand.index}"


@pytest.mark.parametrize(
    "text", ["TEX.LL RZ, R9, R8, R11, UR4, 0x0, ARRAY_2D, 0x1", "TEX.LL RZ, R7, R12, R7, UR4, 0x0, CUBE, 0x1"]
)
def test_layers_and_cubes_are_refused_by_name(text):
    """The message has the shape that no row has."""
    with pytest.raises(UnknownError, match=r"TEX\.LL\.(ARRAY_2D|CUBE)"):
        lowered(text)


@pytest.mark.parametrize(
    ("text", "base", "offset"),
    [
        ("QSPC.E.S P0, RZ, [R2+0x8]", 2, 8),
        ("QSPC.E.S P0, RZ, [UR4]", FIRST_SCALAR + 4, 0),
        ("QSPC.E.S P0, RZ, [RZ.U32+UR4]", FIRST_SCALAR + 4, 0),
    ],
)
def test_an_address_that_is_asked_about_is_a_register_and_a_number(text, base, offset):
    """QSPC takes the pair of registers of its address, uniform or not, and the offset."""
    *_, pair, number, more = lowered(text).operands
    assert (pair, number.bits, more) == (Register(base), offset, RZ)


def test_an_address_of_two_pairs_is_their_sum():
    """QSPC adds a uniform pair to the pair of threads; a base of 32 bits beside one is refused."""
    form = lowered("QSPC.E.S P0, RZ, [R2.64+UR4+0x8]")
    assert form.operands[2:] == (Register(2), Immediate(8, "int"), Register(FIRST_SCALAR + 4))
    inside = [np.uint64(SHARED_WINDOW - 16), np.uint64(8), np.uint64(8), np.uint32(0), np.uint64(form.row.code)]
    assert [int(form.row.truth(a, *inside[1:])) for a in (inside[0], inside[0] - np.uint64(1))] == [1, 0]
    with pytest.raises(UnknownError, match="QSPC"):
        lowered("QSPC.E.S P0, RZ, [R2.U32+UR4]")


def test_sets_of_uniform_predicates_are_named():
    """UPR is the predicates of the warp; UR2UP without a mask writes all of them."""
    uniform = tuple(Predicate(FIRST_UNIFORM + i) for i in range(7))
    for text in ("UP2UR.B3 UR62, UPR, UR62, 0xff", "UR2UP UPR, UR62.B3"):
        assert tuple(o for o in lowered(text).operands if isinstance(o, Predicate)) == uniform
    form = lowered("UP2UR.B3 UR62, UPR, UR62, 0xff")
    packed = form.row.result(*words(0x00345678), np.array([0b101], np.uint32), numbers(form))
    assert packed.tolist() == [0x05345678]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("DEPBAR.LE SB0, 0x0, {1}", 0b11),
        ("DEPBAR.LE SB2, 0x1, {0,5}", 0b100001),
        ("@P0 DEPBAR.LE SB3, 0x0", 0b1000),
        ("DEPBAR.LE SB3, 0x2", 0),
        ("NOP", 0),
    ],
)
def test_depbar_waits_for_the_barriers_of_its_set(text, waits):
    """Barriers in braces are waited for as a whole, and the first one if its count is 0; the rest is its code's."""
    code = instruction(Encoded(0, text, 0, 0x000FE20000000000), {}).control
    assert code.waits == waits


def test_a_line_that_is_discarded_is_no_access():
    """CCTL.E.DML2 names a line of the cache, sm_120's for tensor maps one of constants; here they do nothing."""
    for text in ("CCTL.E.DML2 [R16]", "CCTL.E.C.LDCU.IV.DEEP [UR6]"):
        assert lowered(text).operands == ()


@pytest.mark.parametrize("address", ["[UR4+0x10]", "[RZ.U32+UR4+0x10]"])
def test_a_place_is_asked_for_by_a_uniform_register(address):
    """RZ adds nothing to the pair of UR4."""
    assert lowered(f"QSPC.E.S P1, RZ, {address}").operands[2].index == FIRST_SCALAR + 4


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ("R7.reuse.SIGN, UR10.SIGN, R4.reuse.SIGN", (Register(7), Register(FIRST_SCALAR + 10), Register(4))),
        ("R15.SIGN, c[0x3] [0x24].SIGN, R10.SIGN", (Register(15), BankConstant(3, 0x24), Register(10))),
        ("R15.SIGN, R10.SIGN, c[0x0] [0x160].SIGN", (Register(15), Register(10), BankConstant(0, 0x160))),
        ("UR4.SIGN, c[0x3] [0x0].SIGN, RZ.SIGN", (Register(FIRST_SCALAR + 4), BankConstant(3, 0), Register(RZ_INDEX))),
    ],
)
def test_signs_of_all_words_are_signs(sources, expected):
    """PLOP3 of signs, as nvcc makes it of a sum with overflow, may have uniform registers and constants among them."""
    form = lowered(f"PLOP3.LUT P2, PT, {sources}, 0x8, 0x0")
    assert form.row.mnemonic == "PLOP3.LUT.SIGN.SIGN.SIGN"
    assert tuple(replace(o, reuse=False) if isinstance(o, Register) else o for o in form.operands[2:5]) == expected


def test_signs_of_uniform_words_are_signs():
    """UPLOP3 of signs, as nvcc for sm_80 makes it of a sum with overflow, takes those of uniform registers."""
    form = lowered("UPLOP3.LUT UP0, UPT, UR5.SIGN, UR5.SIGN, UR4.SIGN, 0x2, 0x0")
    assert form.row.mnemonic == "UPLOP3.LUT.SIGN.SIGN.SIGN"
    assert form.operands[2:5] == tuple(Register(FIRST_SCALAR + n) for n in (5, 5, 4))
    assert [n for n in range(8) if form.row.truth(*_signs(n), np.zeros(1, np.uint32), _of_two_masks(form)) & 1] == [1]


@pytest.mark.parametrize("place", range(8))
def test_the_first_sign_counts_4_in_the_table_of_plop3(place):
    """Of truth table 1 << place, the result is 1 for the three signs that are the digits of `place`."""
    form = lowered(f"PLOP3.LUT P2, PT, R7.SIGN, c[0x3] [0x24].SIGN, R4.SIGN, {1 << place:#x}, 0x0")
    true = [n for n in range(8) if form.row.truth(*_signs(n), np.zeros(1, np.uint32), _of_two_masks(form)) & 1]
    assert true == [place]


def _of_two_masks(form):
    """What a row's functions get of its two masks."""
    first, second = form.operands[-2:]
    return np.array([first.bits << NUMBER | second.bits << SECOND_NUMBER], np.uint64)


def _signs(number):
    """Three words, whose signs are the digits of a number."""
    return [np.array([0x80000000 * (number >> n & 1) + 5], np.uint64) for n in (2, 1, 0)]


def test_a_return_takes_a_predicate_beside_its_guard():
    """`@!P1 RET.REL.NODEC !P0, R26` (nvcc -Xcicc -O0, sm_80): lanes return where both are false."""
    form = lowered("@!P1 RET.REL.NODEC !P0, R26 `(k)")
    found = Instruction(form.row, form.operands, Predicate(1, negated=True))
    assert found.gates() == (Predicate(0, negated=True),)
    assert not leaves(Instruction(form.row, form.operands))
    assert leaves(Instruction(*_parts(lowered("RET.REL.NODEC R26 `(k)"))))


def _parts(form):
    return form.row, form.operands


def test_the_smaller_of_two_uniform_pairs():
    """UIMNMX.U64 of sm_120 compares 64 bits without a sign; its predicates that say nothing are left out."""
    row = lowered("UIMNMX.U64 UPT, UPT, UR10, UR6, UR10, UPT, !UPT").row
    a, b = np.array([1 << 63, 5], np.uint64), np.array([7, 6], np.uint64)
    found = row.result(a, b, a, np.ones(2, np.uint32), np.uint64(row.code))
    assert (row.words_of("d"), found.tolist()) == (2, [7, 5])


def test_a_broadcast_is_a_move_to_what_all_lanes_share():
    """R2UR.BROADCAST of sm_120 is R2UR."""
    assert lowered("@P1 R2UR.BROADCAST UR4, R16").row.across is lowered("R2UR UR4, R16").row.across
