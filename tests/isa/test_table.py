import re

import pytest

from isa.dataflow.flow import successors
from isa.reading.source import AssemblyError
from isa.row import Flow, Row, Unit
from isa.table import ROWS, TABLE
from isa.text.assembler import assemble
from isa.text.printer import show


def test_each_mnemonic_has_one_row():
    """The table has no mnemonic twice."""
    assert len(TABLE) == len(ROWS)


@pytest.mark.every
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.mnemonic)
def test_a_row_is_consistent(row):
    """A row has known form letters, a width that fits its suffix, and a value function exactly if it computes."""
    assert set(row.form) <= set("dDabcmMPQsltnBkTy")
    assert row.width in ((32, 64, 128, 256, 512) if row.unit is Unit.SMEM else (32, 64, 128))
    assert row.words * 32 == row.width
    suffixes = f".{row.width}", f"_B{row.width}", f"DWORDX{row.words}"
    matrices = row.matrices == row.words and row.mnemonic.endswith(f".{row.words}")
    assert row.mnemonic.endswith(suffixes) or row.width == 32 or row.unit is Unit.DP or matrices
    operands = row.form[1:] if row.form[:1] in ("d", "D", "P") else row.form if row.compares else ""
    computes = set(operands) & set("abcQ") and not set("mt") & set(row.form)
    assert bool(row.value or row.across or row.result) == bool(computes)
    assert row.value is None or row.across is None
    assert 0 <= row.optional <= len(row.form)


def test_flops_are_counted_as_the_field_does():
    """A fused multiply-add counts two flops, other floating-point arithmetic one; on two halves they count double."""
    counted = {row.mnemonic: row.flops for row in ROWS if row.flops and not row.is_gcn}
    assert counted == {"FFMA": 2, "DFMA": 2, "FADD": 1, "FMUL": 1, "FMNMX": 1, "DADD": 1, "DMUL": 1} | {
        "HFMA2": 4,
        "HFMA2.MMA": 4,
        "HADD2": 2,
        "HMUL2": 2,
        "HMMA.1688.F32": 64,  # of a lane: a 32nd of 2 x 16 x 8 x 8
        "HMMA.16816.F32": 128,
        "HMMA.16816.F16": 128,
        "HMMA.1688.F32.TF32": 64,
        "DMMA.8x8x4": 16,
    }


def test_loads_and_stores_are_distinguished():
    """Loads are LDS, LDSM, LDG, LDGSTS, LDL, LDC and TEX; stores STS, STSM, STG, STL and RED; atomics are both."""
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_load and not row.is_gcn} == {
        "LDS",
        "LDSM",
        "LDG",
        "LDGSTS",
        "LDL",
        "LDC",
        "TEX",
        "ATOMS",
        "ATOMG",
    }
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_store and not row.is_gcn} == {
        "STS",
        "STSM",
        "STG",
        "STL",
        "RED",
        "ATOMS",
        "ATOMG",
    }


def test_float_rows_are_those_of_ieee_sources():
    """Single and double arithmetic, MUFU and F2I take IEEE numbers; no other row does."""
    assert {row.mnemonic for row in ROWS if row.is_float and not row.is_gcn} == {
        m
        for m in TABLE
        if m.startswith(("FFMA", "FADD", "FMUL", "FMNMX", "FSETP", "DFMA", "DADD", "DMUL", "MUFU", "F2I", "F2F"))
    }


def test_gcn_rows_follow_their_names():
    """Rows that end in _F32 or _F64 have IEEE sources; LOAD and READ load, STORE and WRITE store."""
    rows = [row for row in ROWS if row.is_gcn]
    moves = {"V_MOV_B32", "V_CNDMASK_B32", "V_CVT_F32_I32"}
    assert {row.mnemonic for row in rows if row.is_float} == {
        row.mnemonic for row in rows if row.mnemonic.endswith(("_F32", "_F64")) and row.mnemonic not in moves
    }
    assert {row.mnemonic for row in rows if row.is_load} == {
        r.mnemonic for r in rows if re.search("LOAD|READ", r.mnemonic)
    }
    assert {row.mnemonic for row in rows if row.is_store} == {
        row.mnemonic for row in rows if re.search("STORE|WRITE", row.mnemonic)
    }
    assert {row.mnemonic: row.flops for row in rows if row.flops} == {
        **dict.fromkeys(("V_FMA_F32", "V_FMAC_F32", "V_MAD_F32", "V_MAC_F32", "V_FMA_F64"), 2),
        **dict.fromkeys(("V_ADD_F32", "V_MUL_F32"), 1),
    }


TILE = Row("TILE", "dabc", Unit.FP16M, registers="d4a4b2c4")


def test_registers_are_counted_by_letter(monkeypatch):
    """A row with operands of 4, 4, 2 and 4 registers reads and writes each, is printed and read back."""
    monkeypatch.setitem(TABLE, TILE.mnemonic, TILE)
    program = assemble("TILE R4, R8, R14, R20\nTILE R0, RZ, R2, RZ\nEXIT")
    first, second, _ = program.instructions
    assert first.writes() == (4, 5, 6, 7)
    assert first.reads() == (*range(8, 12), 14, 15, *range(20, 24))
    assert (second.writes(), second.reads()) == ((0, 1, 2, 3), (2, 3))
    assert show(program).split("\n")[0].strip() == "TILE R4, R8, R14, R20"
    assert assemble(show(program)) == program


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TILE R6, R8, R14, R20", "R6 can't start a 128-bit operand of TILE; take R4 or another multiple of 4"),
        ("TILE R4, R8, R15, R20", "R15 can't start a 64-bit operand of TILE; take R14 or another multiple of 2"),
        ("TILE R4, R8, R14, 1.0", "TILE takes no immediate; put it into four registers"),
    ],
)
def test_registers_are_aligned_by_letter(monkeypatch, text, said):
    """Each operand begins at a multiple of its own registers."""
    monkeypatch.setitem(TABLE, TILE.mnemonic, TILE)
    with pytest.raises(AssemblyError, match=re.escape(said)):
        assemble(text)


def test_what_a_row_does_to_lanes_needs_no_name(monkeypatch):
    """A branch and an exit of other names than the table's are followed as they are declared."""
    for row in (Row("HOP", "l", Unit.CONTROL, flow=Flow.BRANCH), Row("STOP", "", Unit.CONTROL, flow=Flow.EXIT)):
        monkeypatch.setitem(TABLE, row.mnemonic, row)
    program = assemble("@P0 HOP end\nSTOP\nend:\nHOP end")
    assert successors(program) == [(1, 2), (), (2,)]
