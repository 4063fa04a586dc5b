"""Accesses to the DRAM: short ones, places that are late, and queues where the DRAM is busy."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gpusim.sm.memory.cache.declaration import FAR, NO_ASKER, NO_TAGS, tagged, untagged
from gpusim.sm.memory.global_memory.declaration import line_cost, written_cost
from gpusim.sm.records import MachineNumbers
from gpusim.sm.unit.asks import looks, updates
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.opcodes import FETCH, LOAD, STORE
from gpusim.sm.unit.ranges import Count, Positive
from isa.memory import SECTOR_BYTES

USED_PARTS = 64  # of the bandwidth
Used = Annotated[int, msgspec.Meta(ge=0, le=USED_PARTS - 1)]


class Dram(msgspec.Struct, frozen=True):
    """What accesses to the DRAM take beyond its mean latency and bandwidth."""

    least_bytes: Count  # bytes for whose time a read of a line takes the DRAM at least
    varies: Count  # cycles by which the latency of places varies, exponentially; the mean is global_memory.latency
    together_bytes: Positive  # bytes that have one latency
    queue: Count  # cycles of service in a queue of one server, random arrivals and constant service
    window: Positive  # cycles over which its use counts, and within which a read turns it from writes
    most_used: Used  # 64ths of the bandwidth that count as used, at most
    written_alone: Count = 0  # thousandths of a read's time that a write takes without reads; 0: as memory.written


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The same in parts of a cycle and in lines; without this section the latency is the same for all."""
    dram = machine.dram
    packed.dram_together = packed.dram_sms = packed.dram_span = 1
    packed.written_alone_cost = written_alone_cost(machine)
    if dram and tagged(machine):
        packed.dram_least = round(line_cost(machine) * dram.least_bytes / SECTOR_BYTES)
        packed.dram_varies, packed.dram_queue, packed.dram_sms = dram.varies, dram.queue, machine.chip.sms
        packed.dram_together = max(1, dram.together_bytes // machine.global_memory.line_bytes)
        packed.dram_span, packed.dram_most_used = dram.window, dram.most_used


def written_alone_cost(machine: Machine) -> int:
    """Parts of a cycle that a sector occupies the channel which is written to a DRAM that is not read, rounded."""
    alone = machine.dram.written_alone if machine.dram else 0
    return round(line_cost(machine) * alone / 1000) if alone else written_cost(machine)


def _loads(given: Any) -> bool:
    return bool(given.does(LOAD, FETCH)) and looks(FAR)(given)


def _stores(given: Any) -> bool:
    return bool(given.does(STORE)) or updates(given)


OF_READS = "dram_least dram_varies dram_together dram_queue dram_most_used"
ALL = f"{OF_READS} dram_sms dram_span written_alone_cost"

UNIT = Declaration(
    "dram",
    fields={
        "machine": (
            field("dram_least", "parts of a cycle that a read of a line occupies the channel, at least"),
            field("dram_varies", "cycles by which its latency varies with its place"),
            field("dram_together", "lines side by side that have one latency"),
            field("dram_sms", "SMs of the chip, of whose bandwidth those with blocks have equal shares"),
            field("dram_queue", "cycles of service of the queue in front of the DRAM"),
            field("dram_span", "cycles over which the use of the DRAM counts"),
            field("dram_most_used", "of 64 parts of its bandwidth, as which a busier DRAM counts"),
            field("written_alone_cost", "parts of a cycle that a sector occupies it which is written, without reads"),
        ),
        "load_store": (
            field("dram_window", "number of the last window of time in which the DRAM was asked", role=Role.UNCOMPARED),
            field("dram_asked", "parts of a cycle of the channel asked for in that window", role=Role.UNCOMPARED),
            field("dram_before", "and in the window before", role=Role.UNCOMPARED),
            field("dram_turns", "the number of the first window whose writes no read turns", role=Role.UNCOMPARED),
        ),
        "chip": (
            field("dram_window", "number of the last window of time in which the DRAM was asked"),
            field("dram_asked", "parts of a cycle of the channel asked for in that window"),
            field("dram_before", "and in the window before"),
            field("dram_turns", "the number of the first window whose writes no read turns"),
        ),
    },
    pack=pack,
    conditions=(
        Condition("dram.*", "", lambda g: tagged(g.machine), NO_TAGS),
        Condition("dram.*", ALL, lambda g: g.cached, NO_ASKER),
        Condition(
            "dram.l* dram.v* dram.t* dram.q* dram.most_used dram.window",
            OF_READS,
            _loads,
            "no load of {kernel} reaches the DRAM",
        ),
        Condition("dram.written_alone", "written_alone_cost", _stores, "{kernel} stores nothing"),
    ),
    limits={
        "bandwidth": {"dram.least_bytes": 0, "dram.queue": 0, "dram.written_alone": 1000},
        "latency": {"dram.varies": 0},
    },
    compared=untagged,
)
