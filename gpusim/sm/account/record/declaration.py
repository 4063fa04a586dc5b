"""Trace records."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import RECORD
from gpusim.sm.unit.stall import OWN

TRACE_KINDS = (
    *("place", "issue", "refuse", "serve", "release", "retire", "hold", "select", "replay", "write"),
    *("copy", "await", "phase", "product"),
)
PLACE, ISSUE, REFUSE, SERVE, RELEASE, RETIRE, HOLD, SELECT, REPLAY, WRITE, *_ = range(len(TRACE_KINDS))
COPY, AWAIT, PHASE, PRODUCT = range(WRITE + 1, len(TRACE_KINDS))
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
                "when; hold: the shared reason; block: its slot; copy: its bytes; phase: arrivals that the next one "
                "waits for; product: when the tensor cores begin",
            ),
            field(
                "unit",
                "issue: the pipe it takes, or its barrier; release: the barrier; serve: the queue it comes from; hold: "
                "the unit class; copy, await, phase: the word of the SM's shared memory in which a barrier is; else -1",
            ),
            field("lanes", "issue: threads whose guard holds"),
            field(
                "end",
                "issue, serve, product: when the pipe, or the load/store unit, has done with it; copy: when the engine "
                "has asked for all of it",
            ),
            field(
                "read",
                "serve: when its source registers may be overwritten; copy: when the engine began to ask",
            ),
            field(
                "done",
                "issue, serve: when its result is there, or its store has left; serve: -1 if that depends on a write; "
                "write, product: when its result is there; copy: when its last byte came",
            ),
            field("back", "serve: when what counts the warp's accesses under way has it back"),
            field("access", "serve, write, copy, await: its number"),
            field("level", "serve: the furthest level that served it (gpusim.sm.memory.account.declaration); else -1"),
            field("release_at", "issue, refuse: release time of each own reason", OWN),
        ),
    },
)
