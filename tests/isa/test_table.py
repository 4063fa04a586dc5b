import pytest

from isa.table import ROWS, TABLE, Unit


def test_each_mnemonic_has_one_row():
    """No mnemonic stands twice in the table."""
    assert len(TABLE) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.mnemonic)
def test_a_row_is_consistent(row):
    """Known form letters, a width that fits its suffix, and a value function exactly for rows that compute."""
    assert set(row.form) <= set("dabcmPQsltn")
    assert row.width in (32, 64, 128)
    assert row.words * 32 == row.width
    assert row.mnemonic.endswith(f".{row.width}") or row.width == 32 or row.unit is Unit.DP
    assert bool(row.value or row.across) == (row.form[:1] in ("d", "P") and row.form[1:2] in ("a", "Q"))
    assert row.value is None or row.across is None
    assert 0 <= row.optional <= len(row.form)


def test_flops_are_counted_as_the_field_does():
    """A fused multiply-add counts two, other floating-point arithmetic one, of two halves twice that."""
    counted = {row.mnemonic: row.flops for row in ROWS if row.flops}
    assert counted == {"FFMA": 2, "DFMA": 2, "FADD": 1, "FMUL": 1, "FMNMX": 1, "DADD": 1, "DMUL": 1} | {
        "HFMA2": 4,
        "HFMA2.MMA": 4,
        "HADD2": 2,
        "HMUL2": 2,
    }


def test_loads_and_stores_are_told_apart():
    """Loads are LDS, LDG, LDL and TEX; stores STS, STG and STL, at each of their widths; ATOMS is both."""
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_load} == {"LDS", "LDG", "LDL", "TEX", "ATOMS"}
    assert {row.mnemonic.split(".")[0] for row in ROWS if row.is_store} == {"STS", "STG", "STL", "ATOMS"}


def test_float_rows_are_those_of_ieee_sources():
    """Single and double arithmetic, MUFU and F2I take IEEE numbers; no other row does."""
    assert {row.mnemonic for row in ROWS if row.is_float} == {
        m
        for m in TABLE
        if m.startswith(("FFMA", "FADD", "FMUL", "FMNMX", "FSETP", "DFMA", "DADD", "DMUL", "MUFU", "F2I"))
    }
