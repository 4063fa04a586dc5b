"""Trace records."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import RECORD
from gpusim.sm.unit.stall import OWN

TRACE_KINDS = ("place", "issue", "refuse", "serve", "release", "retire", "hold", "select", "replay", "write")
PLACE, ISSUE, REFUSE, SERVE, RELEASE, RETIRE, HOLD, SELECT, REPLAY, WRITE = range(len(TRACE_KINDS))
UNKNOWN = -1  # of a number that the record does not have


UNIT = Declaration(
    "record",
    fields={
        "sm": (
            field("tracing", "1: keep trace records", role=Role.FIXED),
            field("traced", "those that wait to be taken away", role=Role.FREE),
            field("records", "trace records that wait to be taken away", RECORD, kind="trace", role=Role.FREE),
        ),
        "trace": (
            field("cycle", "when"),
            field("kind", "one of TRACE_KINDS"),
            field("agent", "the agent that acts"),
            field("warp", "slot"),
            field("block", "id in the grid"),
            field("pc", "the instruction"),
            field(
                "detail",
                "issue, refuse: slot at which it was ready; serve: cycles of the unit; release, select, replay: until "
                "when; hold: the shared reason; block: its slot",
            ),
            field(
                "unit",
                "issue: the pipe it takes, or its barrier; release: the barrier; serve: the queue it comes from; hold: "
                "the unit class; else -1",
            ),
            field("lanes", "issue: threads whose guard holds"),
            field("end", "issue, serve: when the pipe, or the load/store unit, has done with it"),
            field("read", "serve: when its source registers may be overwritten"),
            field(
                "done",
                "issue, serve: when its result is there, or its store has left; serve: -1 if that depends on a write; "
                "write: when its result is there",
            ),
            field("back", "serve: when what counts the warp's accesses under way has it back"),
            field("access", "serve, write: its number"),
            field("release_at", "issue, refuse: release time of each own reason", OWN),
        ),
    },
)
