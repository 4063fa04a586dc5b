"""The register banks are those that the sources name."""

from isa.operands.register_bank import BANK_PERIOD, KEPLER, MODULO, bank_of


def test_kepler() -> None:
    """Kepler's banks are {0, 2}, {1, 3}, {4, 6} and {5, 7} by register number modulo 8 (Zhang PPoPP'17, table 3)."""
    banks = [{r for r in range(16) if bank_of(r, KEPLER, 4) == bank} for bank in range(4)]
    assert banks == [{0, 2, 8, 10}, {1, 3, 9, 11}, {4, 6, 12, 14}, {5, 7, 13, 15}]


def test_modulo() -> None:
    """Elsewhere a register's bank is its number modulo the banks: Maxwell's four, Volta's two."""
    assert [bank_of(r, MODULO, 4) for r in range(6)] == [0, 1, 2, 3, 0, 1]
    assert [bank_of(r, MODULO, 2) for r in range(4)] == [0, 1, 0, 1]


def test_period() -> None:
    """Registers a period apart share a bank in every mapping."""
    places = [(m, n, r) for m in (MODULO, KEPLER) for n in (1, 2, 4) for r in range(64)]
    assert all(bank_of(r, m, n) == bank_of(r + BANK_PERIOD, m, n) for m, n, r in places)
