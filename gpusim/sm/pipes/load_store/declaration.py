"""Load/store unit: queues of memory instructions, their ports, and the units that serve them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gpusim.sm.pipes import match
from gpusim.sm.pipes.pipe.declaration import choices, initiation_interval
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import NO_QUEUE, NO_SHARED, WIDTHS, accesses, free_passes, through_port, updates
from gpusim.sm.unit.capacities import QUEUE
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import EACH_QUEUE, MEMORY_UNIT, PLACE
from gpusim.sm.unit.opcodes import LOAD, MEMORY_KINDS, QUEUED, UNIT_CODE
from gpusim.sm.unit.ranges import Count, PassCycles, Positive
from gpusim.sm.unit.stall import Stall
from isa.row import Row
from isa.row import Unit as UnitClass


class LoadStore(msgspec.Struct, frozen=True):
    """The load/store units' instruction queue."""

    queue: Annotated[int, msgspec.Meta(ge=1, le=QUEUE)]  # warp instructions; each scheduler's with memory ports
    least_cycles: Positive = 1  # cycles for which an access to memory takes the unit, at least


class MemoryPort(msgspec.Struct, frozen=True):
    """Each scheduler's own queue of memory instructions, and its port to the load/store unit, which takes turns."""

    units: str  # unit classes that go this way too: an instruction takes the unit for its pipe's initiation interval
    cycles: Positive  # cycles of the port, for each cycle of the load/store unit
    store_32: Positive  # least cycles of the port for a store of this width to shared or local memory
    store_64: Positive
    store_128: Positive
    global_store: Positive  # least cycles of the port for a store to global memory
    late_cycles: PassCycles  # cycles that each pass beyond the free ones adds to a load's latency from shared memory
    early_64: Count  # cycles by which the result of a load of fewer than the free passes comes earlier
    early_128: Count
    war_store: Count  # cycles from service until the source registers of a store may be overwritten
    war_global_store: Count  # the same cycles of a store to global memory
    held: Count  # cycles from service for which the instruction keeps its place in the queue
    special: Count = 0  # cycles of the port for a special register; 0: as for other units
    skipped: Count = 0  # cycles of the load/store unit for an access that no lane makes; 0: it is not queued
    skipped_latency: Positive = 1  # cycles from its service until its dependency barrier is free


class MemoryPaths(msgspec.Struct, frozen=True):
    """GCN: shared memory apart from other memory, each with queues and a unit of its own; not beside memory ports.

    The queues' ports let an instruction into its unit so many cycles after the one before. Those to shared memory serve
    neighbouring schedulers together, those to global and local memory one scheduler each.
    """

    schedulers: Positive  # schedulers that share a port to shared memory
    shared_load: Positive  # cycles of the port for each cycle that a load from shared memory takes the unit
    shared_store_32: Positive  # cycles of the port for a store of this width, at least; and as loads
    shared_store_64: Positive
    shared_store_128: Positive
    load_32: Positive  # cycles of the port for a load of this width from global or local memory
    load_64: Positive
    load_128: Positive
    store: Positive  # cycles of the port for a store to global or local memory


def queues(machine: Machine) -> int:
    """Return how many queues lead to the load/store units: one, or one for each scheduler, and further ones."""
    count = machine.schedulers.count
    if machine.memory_paths:
        return int(count + -(-count // machine.memory_paths.schedulers))
    return count if machine.memory_port else 1


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The queues, and which unit classes go through them."""
    packed.queues = queues(machine)
    packed.paths = 1 + bool(machine.memory_paths or machine.constant_path) + bool(machine.match)
    for unit, code in UNIT_CODE.items():
        needs = packed.units[code]
        needs.apart = unit is UnitClass.SHARED and machine.memory_paths is not None
        needs.queued = unit in QUEUED or through_port(machine, unit)
        throttle = Stall.MIO_THROTTLE if needs.queued or unit is UnitClass.WARPGROUP else Stall.MATH_PIPE_THROTTLE
        if machine.memory_port and unit in (UnitClass.GLOBAL, UnitClass.LOCAL):
            throttle = Stall.LG_THROTTLE
        needs.throttle = Stall.TEX_THROTTLE if unit is UnitClass.TEXTURE else throttle


def costs(row: Columns, form: Row, machine: Machine) -> None:
    """How long the instruction keeps its scheduler's port, and the load/store unit if no address says so."""
    if machine.memory_paths and row["queued"]:
        _path(row, form, machine.memory_paths)
    port = machine.memory_port
    if port is None or not row["queued"]:
        return
    waits_for_l2 = form.unit is UnitClass.GLOBAL and machine.cache is not None and machine.cache.hits == "l2"
    row["port_cycles"] = 1 if waits_for_l2 and form.is_load else port.cycles
    if port.skipped and form.unit in QUEUED and "M" not in form.form:
        constants = machine.constant_cache if form.unit is UnitClass.CONSTANT else None
        row["idles"] = constants.request_cycles if constants else port.skipped
    if form.unit not in MEMORY_KINDS:
        row["service"] = initiation_interval(machine, choices(machine, form.unit)[0])
        if form.unit is UnitClass.SPECIAL and port.special:
            row["port"], row["port_cycles"] = port.special, 0
        row["reason"], row["war"] = Stall.SHORT_SCOREBOARD, machine.shared_memory.war_32
        match.costs(row, form, machine)
    elif not form.is_load:
        row["port"] = port.global_store if form.unit is UnitClass.GLOBAL else getattr(port, f"store_{form.width}")


def _path(row: Columns, form: Row, paths: MemoryPaths) -> None:
    """How long the instruction keeps the port of its queue, where shared memory has a path of its own."""
    if form.unit is UnitClass.SHARED:
        row["path"], row["port"] = 1, 0 if form.is_load else getattr(paths, f"shared_store_{form.width}")
        row["port_cycles"] = paths.shared_load
    else:
        row["port"] = getattr(paths, f"load_{form.path_width}") if form.is_load else paths.store


def _accesses(given: Any) -> bool:
    return not given.units.isdisjoint({UnitClass.SHARED, UnitClass.GLOBAL, UnitClass.LOCAL})


UNIT = Declaration(
    "load_store",
    fields={
        "machine": (
            packed_key("load_store.queue"),
            packed_key("load_store.least_cycles"),
            field(
                "queues", "one for each scheduler, or one for the SM; and those to shared memory where it lies apart"
            ),
            packed_key("memory_paths.schedulers", "sharing"),
            field("paths", "units behind the queues: more than one where shared memory, constants or MATCH lie apart"),
            packed_key("memory_port.held"),
            packed_key("memory_port.skipped_latency"),
        ),
        "unit_class": (
            field("throttle", "stall reason while its pipe is busy or its queue full"),
            field("queued", "1: goes through the load/store queue"),
            field("apart", "1: to shared memory, where that has queues and a unit of its own"),
        ),
        "row": (
            field("path", "unit that serves it: 1 shared memory or constants, 2 MATCH, where it lies apart", kind="i1"),
            field("passes", "load/store cycles it took", role=Role.TOTAL),
            field("idles", "load/store cycles it takes where no lane executes it", kind="i4"),
            field("held", "cycles for which it kept its unit, with waits for what is behind", role=Role.TOTAL),
            field("service", "load/store cycles, where its addresses do not say them", kind="i4"),
            field("port", "least cycles from its service to the next one of its scheduler's", kind="i4"),
            field("port_cycles", "or so many for each of its load/store cycles", kind="i4"),
        ),
        "sm": (field("load_store", "the load/store unit", kind="load_store"),),
        "load_store": (
            field(
                "free",
                "when the unit can serve the next, and those of shared memory or constants, and MATCH, that lie apart",
                MEMORY_UNIT,
                role=Role.TIME,
            ),
            field("busy", "cycles it has served", role=Role.TOTAL),
            field("entered", "entries so far", role=Role.TOTAL),
            field("turn", "queue that is asked first at the next service", role=Role.SAME),
            field(
                "queues",
                "one for the SM, or one for each scheduler, and those to shared memory",
                EACH_QUEUE,
                kind="queue",
            ),
        ),
        "queue": (
            field("head", "the place of its first entry", role=Role.SAME),
            field("count", "entries that wait", role=Role.SAME),
            field("free", "when its port lets the unit have the next", role=Role.TIME),
            field("left", "when each place is free that is kept behind a service", PLACE, role=Role.TIME),
            field("kept", "the place that is kept next", role=Role.SAME),
            field("entries", "a ring of entries", PLACE, kind="entry"),
        ),
        "entry": (
            field("number", "counts up", role=Role.NUMBER, of="load_store.entered"),
            field("warp", "its warp slot", role=Role.SAME),
            field("pc", "its instruction", role=Role.SAME),
            field("cycles", "that it occupies the load/store unit", role=Role.SAME),
            field("extra", "cycles on top of the latency (bank conflicts)", role=Role.SAME),
            field("transactions", "lines it moves to or from global memory", role=Role.SAME),
            field("requests", "lines that it asks caches for", role=Role.UNCOMPARED),
            field("near", "cycles to the results of lanes that are not in global memory", role=Role.FIXED),
            field("idle", "1: no lane executes it", role=Role.SAME),
        ),
        "warp": (
            field("pending", "memory instructions issued and not served", role=Role.SAME),
            field("drained", "when the served ones, and texture fetches, are done", role=Role.TIME),
            field("shared_back", "when its loads from shared memory are back, where codes are obeyed", role=Role.TIME),
        ),
    },
    pack=pack,
    conditions=(
        Condition(
            "load_store.* memory_port.* memory_paths.*",
            "queue queues sharing paths held skipped_latency",
            lambda g: g.queued,
            NO_QUEUE,
        ),
        Condition("load_store.least_cycles", "least_cycles", _accesses, "{kernel} accesses no memory"),
        *(
            Condition(
                f"memory_port.early_{width}",
                f"early.{index}",
                free_passes(width),
                f"{{kernel}} has no {width}-bit load from shared memory",
            )
            for index, width in enumerate(WIDTHS)
        ),
        Condition(
            "memory_port.late_cycles",
            "late_cycles",
            lambda g: g.does(LOAD, unit=UnitClass.SHARED) or updates(g),
            "{kernel} loads nothing from shared memory",
        ),
        Condition("memory_paths.shared_*", "", accesses(UnitClass.SHARED), NO_SHARED),
    ),
    limits={
        "load/store queue": {"load_store.queue": QUEUE, "memory_port.held": 0},
        "load/store unit": {
            "load_store.least_cycles": 1,
            "memory_port.cycles": 1,
            "memory_port.store_*": 1,
            "memory_port.global_store": 1,
            "memory_port.special": 1,
            "memory_port.skipped": 0,
            "memory_paths.shared_*": 1,
            "memory_paths.load_*": 1,
            "memory_paths.store": 1,
        },
        "latency": {
            "memory_port.early_*": 0,
            "memory_port.late_cycles": 1,
            "memory_port.war_*": 0,
            "memory_port.skipped_latency": 1,
        },
    },
)
