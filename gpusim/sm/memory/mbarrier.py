"""Barriers in shared memory: what instructions do to them, and which phases warps wait for.

The instructions are in gpusim.sm.lanes.signals, their bits in gpusim.sm.effects.mbarrier, the waits beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import AWAITED
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import AWAITED_PHASE, WARP
from gpusim.sm.unit.ranges import Count, Positive
from gpusim.sm.unit.stall import Stall
from isa.instruction import Instruction
from isa.nvidia.rows.copies.mbarrier import COME
from isa.row import Signal
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class Mbarrier(msgspec.Struct, frozen=True):
    """Barriers in shared memory; without this section the machine has none."""

    arrive: Positive  # cycles of the load/store unit for arrivals at one
    look: Positive  # and for a look at one, or for bytes that have come; warps that wait together learn so far apart
    port: Positive  # least cycles of a scheduler's port for an arrival
    by_lane: Count  # cycles by which a look answers later whose address is in a register of each lane
    poll: Positive  # cycles between two looks for a warp that waits for a phase while other lanes of it wait elsewhere
    war: Count  # cycles from service until the sources of such an instruction may be overwritten


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """What the instruction does to a barrier."""
    form = instruction.row
    signal = form.signal
    if signal:
        row["signal"], row["number"] = int(signal), form.code
        if row["queued"] and machine.mbarrier:
            row["reason"], row["war"] = Stall.LONG_SCOREBOARD, machine.mbarrier.war
            looks = signal in (Signal.LOOK, Signal.AWAIT) or bool(form.code & COME and signal is Signal.ARRIVE)
            row["service"] = machine.mbarrier.look if looks else machine.mbarrier.arrive
            row["port"] = 0 if looks else machine.mbarrier.port
            if signal in (Signal.LOOK, Signal.AWAIT) and row["pointer"] >= 0:
                row["latency"] += machine.mbarrier.by_lane


UNIT = Declaration(
    "mbarrier",
    fields={
        "machine": (packed_key("mbarrier.poll"),),
        "row": (
            field("signal", "what it does to a barrier in shared memory (isa.row.Signal)", kind="i1"),
            field("awaited", "warp-cycles waited for phases that arrivals end, and copies", 2, role=Role.TOTAL),
            field("stages", "mask of the barriers of a block at whose phases it waits, by place", role=Role.FREE),
        ),
        "sm": (
            field("signals", "1: the program has barriers in shared memory", role=Role.FREE),
            field("answers", "when the next answer about a phase is known to come, or before", role=Role.FREE),
            field("awaited", "phases that warps wait for", WARP, AWAITED_PHASE, kind="awaited", role=Role.FREE),
        ),
        "awaited": (
            field("number", "of its access in the load/store queue; 0: none"),
            field("pc", "the instruction that waits"),
            field("place", "of the barrier, in the memory array"),
            field("apart", "1: it is looked at only now and then"),
            field("since", "when the first look answers; NEVER: the instruction has not been served"),
            field("lag", "cycles from a look until it answers"),
            field("ended", "when the phase ended; NEVER: not yet"),
            field("answer", "when the answer is there; NEVER: not known yet"),
        ),
        "warp": (field("awaits", f"phases that it waits for, {AWAITED} at most", role=Role.FREE),),
        "outcome": (field("missed", "place of a barrier whose phase was looked at and is not over; -1: none"),),
    },
    decode=decode,
    conditions=(
        Condition(
            "mbarrier.*",
            "poll",
            lambda g: UnitClass.SYNC in g.units,
            "{kernel} has no barriers in shared memory",
        ),
    ),
    limits={
        "barriers in shared memory": {
            "mbarrier.arrive": 1,
            "mbarrier.look": 1,
            "mbarrier.port": 1,
            "mbarrier.poll": 1,
            "mbarrier.by_lane": 0,
            "mbarrier.war": 0,
        },
    },
)
