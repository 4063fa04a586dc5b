import re

import pytest

from isa.row import Unit
from isa.table import ROWS, TABLE


def test_each_mnemonic_has_one_row():
    """The table has no mnemonic twice."""
    assert len(TABLE) == len(ROWS)


@pytest.mark.every
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.mnemonic)
def test_a_row_is_consistent(row):
    """A row has known form letters, a width that fits its suffix, and a value function exactly if it computes."""
    assert set(row.form) <= set("dDabcmPQsltnBkTy")
    assert row.width in ((32, 64, 128, 256, 512) if row.unit is Unit.SMEM else (32, 64, 128))
    assert row.words * 32 == row.width
    suffixes = f".{row.width}", f"_B{row.width}", f"DWORDX{row.words}"
    assert row.mnemonic.endswith(suffixes) or row.width == 32 or row.unit is Unit.DP
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
    }


def test_loads_and_stores_are_distinguished():
    """Loads are LDS, LDG, LDL, LDC and TEX; stores STS, STG, STL and RED, at each width; ATOMS and ATOMG are both."""
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_load and not row.is_gcn} == {
        "LDS",
        "LDG",
        "LDL",
        "LDC",
        "TEX",
        "ATOMS",
        "ATOMG",
    }
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_store and not row.is_gcn} == {
        "STS",
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
