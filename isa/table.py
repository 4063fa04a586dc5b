"""The instruction table: every mnemonic of the simulator. One that no row and no family has does not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from isa.amd import rows as gcn
from isa.family import Family, of_base
from isa.nvidia.families import FAMILIES
from isa.nvidia.rows import listing as nvidia
from isa.nvidia.rows.copies import bulk
from isa.row import ASYNCHRONOUS, Row, Unit

ROWS = (*nvidia.ROWS, *gcn.ROWS)
TABLE = {row.mnemonic: row for row in ROWS}
LISTED_TOO = frozenset(
    {"WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR.LE", "UTMACMDFLUSH", "FENCE.VIEW.ASYNC.S", "UMOV", "S2UR"}
)
BY_BASE = {family.base: family for family in FAMILIES}
FIELDS = "result", "truth", "across", "across_truth", "update"  # of functions


def _of_families() -> dict[str, dict[Callable[..., Any], None]]:
    """Return the functions that rows of families have in each of those fields, in order."""
    found: dict[str, dict[Callable[..., Any], None]] = {name: {} for name in FIELDS}
    for family in FAMILIES:
        for name, one in family.functions(FIELDS):
            found[name][one] = None
    return found


OF_FAMILIES = _of_families()
RESULTS, TRUTHS = tuple(OF_FAMILIES["result"]), tuple(OF_FAMILIES["truth"])


def _of_rows_and_families(name: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions that any row has in the field of that name."""
    of_rows = (getattr(row, name) for row in ROWS)
    return tuple(dict.fromkeys((*(one for one in of_rows if one is not None), *OF_FAMILIES[name])))


ACROSS, ACROSS_TRUTHS = _of_rows_and_families("across"), _of_rows_and_families("across_truth")
UPDATES = tuple(dict.fromkeys((*_of_rows_and_families("update"), *bulk.UPDATES.values())))


@cache
def machine_row(mnemonic: str, parts: tuple[str, ...] = ()) -> Row | None:
    """Return the row of a mnemonic of machine code and of parts of its operands, such as B1; None if there is none.

    Of equal mnemonics and parts it is the same object.
    """
    family = machine_family(mnemonic)
    return family.row(mnemonic, parts) if family else None


@cache
def listing_row(mnemonic: str) -> Row | None:
    """Return the row of a mnemonic of listings; None if there is none.

    Those of warpgroups, copies and barriers in shared memory are rows of machine code, and may have optional operands.
    """
    family = BY_BASE.get(mnemonic) or machine_family(mnemonic)
    if mnemonic in TABLE or family is None:
        return TABLE.get(mnemonic)
    row = family.row(mnemonic, ())
    if row is None or not (row.unit in ASYNCHRONOUS or mnemonic in LISTED_TOO):
        return None
    return replace(row, optional=len(row.form) - len(row.form.rstrip(family.optional)))


def takes_uniform(row: Row) -> bool:
    """Tell whether operands of a row of NVIDIA's may be registers that all lanes of a warp share."""
    return not row.is_gcn and (bool(row.shared) or row.unit in {*ASYNCHRONOUS, Unit.UNIFORM})


@cache
def machine_family(mnemonic: str) -> Family | None:
    """Return the family of a mnemonic of machine code, None if there is none."""
    return of_base(BY_BASE, mnemonic)
