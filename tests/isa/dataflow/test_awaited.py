"""The results that an instruction waits for: by its barriers, or by what it reads and writes."""

import pytest

from isa.dataflow.waits.awaited import awaited, overwritten, result_of
from isa.table import TABLE
from isa.text.listing import read

CODED = """
.shared 4
    [B------:R-:W0:-:S01] S2R R0, TID.X
    [B------:R0:W1:-:S01] LDS R1, [R0]
    [B0-----:R-:W-:-:S04] IADD R2, R0, 1
    [B-1----:R-:W-:-:S04] IADD R3, R1, R1
    [B------:R-:W-:-:S01] EXIT
"""
PLAIN = """
.buffer a f32 32
.shared 128
    S2R R0, TID.X
    ISETP.GE P0, R0, 16
    MOV R1, 0
    @P0 LDS R1, [R0]
    LDG R2, [R1]
loop:
    IADD R3, R2, R0
    LDS R2, [R3]
    @P0 BRA loop
    EXIT
"""


def test_barriers_say_what_is_awaited():
    """Of what is under way on a barrier, results count and sources don't: at 2 the S2R, though the LDS reads there."""
    found = awaited(read(CODED).program, range(5))
    assert found == {0: (), 1: (), 2: (0,), 3: (1,), 4: ()}


def test_registers_say_it_without_codes():
    """The last writers on each path of what it reads and writes: under a guard the one before too, and a loop's end."""
    found = awaited(read(PLAIN).program, (1, 4, 5))
    assert found == {1: (0,), 4: (2, 3), 5: (0, 4, 5, 6)}


@pytest.mark.parametrize(
    ("mnemonic", "text", "one"),
    [
        ("LDS", "LDS R2, [R3]", "a load from shared memory"),
        ("LDS", "[B------:R-:W0:-:S01] @!P0 LDS.64 R2, [R3]", "a load from shared memory"),
        ("ATOMS.ADD", "ATOMS.ADD R2, [R3], R4", "an atomic in shared memory"),
        ("RED.ADD", "@P0 RED.E.ADD [R2.64], R4", "an atomic in global memory"),
        ("LDG", "LDG.E R2, desc[UR6][R2.64]", "a load from global memory"),
        ("LDL", "LDL R2, [R1]", "a load from local memory"),
        ("LDC", "LDC.64 R2, c[0x0][0x210]", "a load of a constant"),
        ("S2R", "S2R R5, SR_CTAID.X", "a read of a special register"),
        ("B2R.RESULT", "B2R.RESULT RZ, P1", "a result of B2R"),
        ("MUFU.RCP", "MUFU.RCP R2, R3", "a result of MUFU"),
        ("S_LOAD_DWORD", "S_LOAD_DWORD S0, [S2:S3], 0", "a scalar load"),
    ],
)
def test_results_have_names(mnemonic, text, one):
    """Unit class and text of an instruction say what its result is; guards, codes and modifiers don't matter."""
    assert result_of(TABLE[mnemonic].unit.value, text).one == one


@pytest.mark.parametrize("codes", [True, False])
def test_reads_say_what_is_overwritten(codes):
    """What may still read R2 when it is overwritten is the store, by its barrier or by register; not the addition."""
    lines = ["STG [R1], R2", "IADD R3, R2, 1", "MOV R2, R3"]
    signs = ["[B------:R0:W-:-:S01] ", "[B------:R-:W-:-:S01] ", "[B0-----:R-:W-:-:S01] "]
    text = "".join(f"    {sign if codes else ''}{line}\n" for sign, line in zip(signs, lines, strict=True))
    assert overwritten(
        read(text + ("    [B------:R-:W-:-:S01] EXIT\n" if codes else "    EXIT\n")).program, (1, 2)
    ) == {
        1: (),
        2: (0,),
    }
