"""The register bank of each register, as each generation numbers them."""

from __future__ import annotations

BANK_PERIOD = 8  # registers this far apart are in one bank in every numbering
MODULO, KEPLER = MAPPINGS = ("modulo", "kepler")


def bank_of(register: int, mapping: str, banks: int) -> int:
    """Return the bank of a register: its number modulo the banks, or one of Kepler's four.

    Kepler's are {0, 2}, {1, 3}, {4, 6} and {5, 7}, by register number modulo 8 (Zhang et al., PPoPP 2017, table 3).
    """
    number = register % 2 + register % BANK_PERIOD // 4 * 2 if mapping == KEPLER else register
    return number % banks
