"""Fast-forward: whole periods taken at once, exactly."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field

UNIT = Declaration(
    "fast_forward",
    fields={
        "sm": (
            field("forwarding", "1: events are watched for the state to come back, or to be steady", role=Role.FIXED),
            field(
                "comparable",
                "1: all that changes is compared; 0: no state is, but loops may be steady",
                role=Role.FIXED,
            ),
            field("marker", "warp slot whose way round its loop is watched, -1: none yet", role=Role.SPECIAL),
            field("tolerance", "parts in a million that an estimate may be wrong; 0: none", role=Role.FIXED),
            field("doubt", "cycles by which those that are estimated may be wrong", role=Role.TOTAL),
            field("estimated", "cycles that are estimated", role=Role.FREE),
            field("waves_estimated", "1: among them are waves of blocks", role=Role.FREE),
            field("skipped", "cycles taken at once", role=Role.FREE),
        ),
    },
)
