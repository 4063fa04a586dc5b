"""Operands of GCN's instructions, and numbers of its machines, for the strategies of programs and machines."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st

from isa.operands.operand import FIRST_SCALAR, SCALARS, Address, Register
from isa.row import Row, Unit

MEMORY_PATHS: dict[str, Sequence[int | str]] = {
    "memory_paths.schedulers": (1, 2, 4),
    "memory_paths.shared_load": (1, 2, 5),
    **{
        f"memory_paths.{key}": (1, 4, 16) for key in ("shared_store_32", "shared_store_64", "shared_store_128", "store")
    },
    **{f"memory_paths.load_{width}": (1, 4, 16) for width in (32, 64, 128)},
}
WAIT_COUNTERS: dict[str, Sequence[int | str]] = {"wait_counters.vector": (1, 2, 63), "wait_counters.shared": (1, 3, 15)}


def gcn_registers(row: Row, letter: str) -> st.SearchStrategy[Register]:
    """Registers that a row of GCN takes at a letter: scalar ones only where there can be no second one."""
    signs = st.booleans() if letter in "abc" and row.is_float else st.just(False)
    vectors = st.builds(Register, st.integers(0, 255 - row.words), signs)
    step = min(row.words, 4)
    scalars = st.builds(
        Register, st.integers(0, (SCALARS - row.words) // step).map(lambda i: FIRST_SCALAR + step * i), signs
    )
    if row.mnemonic.startswith("S_"):
        return scalars
    return vectors | scalars if row.mnemonic.startswith("V_") and letter == "a" else vectors


def gcn_addresses(row: Row) -> st.SearchStrategy[Address]:
    """Addresses of a row of GCN: a register and an offset."""
    base = st.integers(FIRST_SCALAR, FIRST_SCALAR + SCALARS - 1) if row.unit is Unit.SMEM else st.integers(0, 254)
    return st.builds(Address, base.map(Register), st.integers(0, 2**32 - 1))
