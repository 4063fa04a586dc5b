"""When a scheduler looks again at the warps that wait."""

from __future__ import annotations

from gpusim.sm.unit.capacities import CALENDAR
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import SLOT

UNIT = Declaration(
    "wakeup",
    fields={
        "scheduler": (
            field("due", "issue slot from which each waiting warp is ready", SLOT, role=Role.TIME),
            field(
                "calendar",
                "waiting warps by the number of that slot modulo CALENDAR (sm/front/wakeup/wakeup.py)",
                CALENDAR,
                role=Role.FREE,
            ),
            field("filled", "mask of the entries that are not empty", role=Role.FREE),
            field("later", "waiting warps that are due further ahead", role=Role.FREE),
            field("later_due", "slot of the first of these", role=Role.FREE),
        ),
    },
)
