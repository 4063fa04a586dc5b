"""Rows of clusters: a warp arrives at the barrier of its cluster, and waits for it."""

from __future__ import annotations

from isa.row import Row, Unit

CLUSTER_ARRIVE, CLUSTER_WAIT = 5, 6  # codes of rows, behind those of a block's barriers (isa.nvidia.rows.control)

ROWS = (
    Row("UCGABAR_ARV", "", Unit.BARRIER, code=CLUSTER_ARRIVE),
    Row("UCGABAR_WAIT", "", Unit.BARRIER, code=CLUSTER_WAIT),
)
