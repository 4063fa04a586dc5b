"""Listings of warpgroups, the copy engine and barriers in shared memory: their texts, and what they mean."""

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.instruction import Instruction
from isa.nvidia.families import FAMILIES
from isa.nvidia.lowering.lower import lowered
from isa.operands.operand import FIRST_SCALAR, PT, RZ, Address, Predicate, Register
from isa.program import Program
from isa.row import Unit
from isa.table import listing_row
from isa.text.assembler import AssemblyError, assemble
from isa.text.printer import show

NAMES = sorted(
    {one.base for one in FAMILIES if one.unit is Unit.SYNC}
    | {
        f"{base}.64x{n}x16.F32{end}"
        for base in ("HGMMA",)
        for n in (8, 64, 256)
        for end in ("", ".gsb0", ".tnspB.gsb0")
    }
    | {"QGMMA.64x32x32.F16.E4M3.E5M2", "IGMMA.64x16x32.U8.S8", "HGMMA.64x64x16.F32.REG", "UMOV"}
)


@st.composite
def instructions(draw):
    """Draw an instruction of one of these rows, as a text may say it."""
    row = listing_row(draw(st.sampled_from(NAMES)))
    uniform = st.integers(0, 25).map(lambda n: Register(FIRST_SCALAR + 2 * n))

    def operand(letter):
        if letter in "PQ":
            return st.builds(Predicate, st.integers(0, 6), st.booleans() if letter == "Q" else st.just(False))
        if letter == "m" and row.words_of("m") == 1:
            placed = st.builds(lambda base, offset: Address(RZ, offset, uniform=base), uniform, st.integers(0, 99))
            return placed | st.builds(
                Address, st.integers(0, 9).map(Register), st.integers(0, 99).map(lambda n: 16 * n)
            )
        if letter == "m":
            return st.builds(Address, st.integers(0, 9).map(lambda n: Register(2 * n)), st.just(16))
        return (uniform if letter in row.shared else st.integers(0, 15).map(lambda n: Register(8 * n))) | st.just(RZ)

    return Instruction(
        row, tuple(draw(operand(letter)) for letter in row.form), draw(st.sampled_from((PT, Predicate(1))))
    )


@settings(max_examples=draws(200))
@given(instructions())
def test_assembling_the_text_gives_the_instruction(instruction):
    """`assemble(show(p)) == p`, for uniform registers, addresses in them, and matrices of many registers."""
    program = Program((instruction,))
    assert assemble(show(program)) == program


@pytest.mark.parametrize(
    ("listing", "machine"),
    [
        ("HGMMA.64x64x16.F32.gsb0 R24, gdesc[UR8], RZ", "HGMMA.64x64x16.F32 R24, gdesc[UR8], RZ, gsb0"),
        ("HGMMA.64x64x16.F32 R24, UR8, R24, !PT", "HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, !UPT"),
        ("UTMALDG.2D [UR12], [UR8]", "UTMALDG.2D [UR12], [UR8]"),
        ("SYNCS.ARRIVE.TRANS64 RZ, [UR2+8], R2", "SYNCS.ARRIVE.TRANS64 RZ, [UR2+0x8], R2"),
        ("UMOV UR4, 12", "UMOV UR4, 0xc"),
        ("S2UR UR4, CTAID.X", "S2UR UR4, SR_CTAID.X"),
        ("WARPGROUP.DEPBAR.LE 0", "WARPGROUP.DEPBAR.LE gsb0, 0x0"),
    ],
)
def test_a_listing_says_what_machine_code_says(listing, machine):
    """The operands are those that the text of machine code gives."""
    (found,), expected = assemble(listing).instructions, lowered(machine)
    assert (found.row.mnemonic, found.operands) == (expected.row.mnemonic, expected.operands)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HGMMA.64x64x16.F32 R24, R8, R24", "'R8' is no uniform register; write UR0 to UR62, or URZ"),
        ("HGMMA.64x64x16.F32 R20, UR8, R24", "R20 can't start a 1024-bit operand .* take R16 or another multiple of 8"),
        ("HGMMA.64x65x16.F32 R24, UR8, R24", r"unknown instruction HGMMA\.64x65x16"),
        ("UTMALDG.2D UR61, UR4", "UR61 can't be that operand of UTMALDG.2D; take an even one, and 4 up to UR62"),
        ("UTMALDG.2D UR8", "UTMALDG.2D takes 3 operands, not 1; write UTMALDG.2D URa, URb, URc"),
        ("FFMA R1, UR4, R2, R3", "'UR4' is not an operand that FFMA takes here"),
        ("UMOV R4, 3", "'R4' is no uniform register"),
    ],
)
def test_what_takes_no_such_register_is_refused(text, message):
    """The message has the cause and a fix."""
    with pytest.raises(AssemblyError, match=message):
        assemble(text)
