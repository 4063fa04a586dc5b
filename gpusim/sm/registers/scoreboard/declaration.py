"""Scoreboard: pending results and readers of each register."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import PREDICATE, REGISTER

UNIT = Declaration(
    "scoreboard",
    fields={
        "warp": (
            field("ready", "when each register's pending result is there", REGISTER, role=Role.TIME),
            field("read_by", "when each register's last pending reader has read it", REGISTER, role=Role.TIME),
            field("read", "when its readers that have been served have read it", REGISTER, role=Role.TIME),
            field(
                "reader",
                "number of its last reader in the load/store queue",
                REGISTER,
                role=Role.NUMBER,
                of="load_store.entered",
                awaited="warps.read_by",
            ),
            field("kind", "reason that its pending result belongs to", REGISTER, kind="u1", role=Role.SAME),
            field("predicate", "when each predicate is there", PREDICATE, role=Role.TIME),
        ),
    },
)
