"""The names of what instructions do in memory, as Nsight Compute has them."""

from __future__ import annotations

from isa.row import Bulk, Row, Unit

LOAD, STORE, ATOMIC, REDUCTION = "Load", "Store", "Atomic", "Reduction"
BULK = {
    Bulk.LOAD: "Bulk Load",
    Bulk.STORE: "Bulk Store",
    Bulk.REDUCE: "Bulk Reduction",
    Bulk.NEARBY: "Bulk Copy To Shared",
    Bulk.PREFETCH: "Bulk Prefetch",
    Bulk.MAP: "Tensor Map",
}
SPACES = {
    Unit.GLOBAL: "Global",
    Unit.LOCAL: "Local",
    Unit.SHARED: "Shared",
    Unit.TEXTURE: "Texture",
    Unit.CONSTANT: "Constant",
    Unit.SMEM: "Scalar",
}


def operation(row: Row) -> str:
    """Return what an instruction does: `Global Load`."""
    if row.bulk:
        return BULK[row.bulk]
    space = SPACES.get(row.unit, "Other")
    if row.copies:
        return f"{space} Load To Shared Store"
    return f"{space} {_kind(row)}"


def at_l2(row: Row) -> str:
    """Return what the L2 is asked to do by an instruction: Load, Store, Atomic or Reduction."""
    if row.bulk:
        return REDUCTION if row.bulk is Bulk.REDUCE else STORE if row.bulk is Bulk.STORE else LOAD
    return _kind(row)


def _kind(row: Row) -> str:
    if row.update is not None:
        return ATOMIC if row.is_load else REDUCTION
    return LOAD if row.is_load or row.unit is Unit.TEXTURE else STORE
