"""Stall accounting: each cycle of a warp, and each lost issue slot, has one reason."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import OWN_REASON, REASON, SHARED_REASON, UNIT_CLASS

UNIT = Declaration(
    "stall_accounting",
    fields={
        "scheduler": (
            field("holding", "the shared reason for which each unit class's warps wait", UNIT_CLASS, role=Role.SAME),
            field("since", "up to when that has been charged", UNIT_CLASS, role=Role.MOMENT),
            field(
                "refused",
                "running sums of cycles by unit class and shared reason, up to then",
                UNIT_CLASS,
                SHARED_REASON,
                role=Role.TOTAL,
            ),
            field(
                "idle_since",
                "first empty slot at which warps of the class were ready, since one was used",
                UNIT_CLASS,
                role=Role.MOMENT,
            ),
            field(
                "refused_before",
                "the sums at `idle_since`",
                UNIT_CLASS,
                SHARED_REASON,
                role=Role.NUMBER,
                of="schedulers.refused",
                renewed="schedulers.idle_since",
            ),
            field("lost", "cycles of unused issue slots by reason", REASON, role=Role.TOTAL),
        ),
        "warp": (
            field("since", "stalls are settled up to this cycle", role=Role.MOMENT),
            field(
                "release_at",
                "release time of each own reason of the order of stall reasons",
                OWN_REASON,
                role=Role.SPECIAL,
            ),
            field("refused", "its unit's running sums when it became ready", SHARED_REASON, role=Role.SPECIAL),
        ),
        "row": (
            field("stall", "warp-cycles by reason while it was the warp's next instruction", REASON, role=Role.TOTAL),
        ),
    },
)
