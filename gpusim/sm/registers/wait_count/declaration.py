"""Counts of a warp's accesses in flight: GCN's counters, and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.capacities import COUNTED, COUNTERS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import COUNT, COUNTER
from gpusim.sm.unit.opcodes import MEMORY_KINDS, NEARBY, QUEUED
from isa.instruction import Instruction
from isa.operands.operand import Immediate
from isa.row import Flow
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class WaitCounters(msgspec.Struct, frozen=True):
    """GCN's counts of a warp's accesses in flight, for which programs wait; no scoreboard holds what these load.

    An access that would raise a count above its largest waits.
    """

    vector: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest vmcnt: global and local memory
    shared: Annotated[int, msgspec.Meta(ge=1, le=63)]  # largest lgkmcnt: shared memory


class Outstanding(msgspec.Struct, frozen=True):
    """Accesses of one warp in flight, at most; a further one waits until enough of those before it are back."""

    vector: Annotated[int, msgspec.Meta(ge=1, le=63)]  # accesses to global and local memory
    shared: Annotated[int, msgspec.Meta(ge=1, le=63)]  # accesses to shared memory


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Tell whether accesses are counted."""
    packed.counts = machine.wait_counters is not None or machine.outstanding is not None


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """What counts the access, and for which counts the instruction waits; none where nothing is counted."""
    limits = machine.wait_counters or machine.outstanding
    counted = MEMORY_KINDS if machine.wait_counters else QUEUED  # scalar loads are counted by GCN's counters alone
    memory = instruction.row.unit in counted
    row["counter"], row["most"], row["tracked"] = -1, [-1, -1], not (memory and machine.wait_counters)
    if limits is None:
        return
    largest = limits.vector, limits.shared
    if memory:
        row["counter"] = counter = int(instruction.row.unit in NEARBY)
        row["counted"] = min(instruction.row.words, 2) if instruction.row.unit is UnitClass.SMEM else 1
        row["most"][counter] = max(0, largest[counter] - int(row["counted"]))
    elif instruction.row.flow is Flow.AWAIT and machine.wait_counters:
        row["most"] = [o.bits for o in instruction.operands if isinstance(o, Immediate)]


UNIT = Declaration(
    "wait_count",
    fields={
        "machine": (field("counts", "1: accesses of a warp under way are counted"),),
        "row": (
            field("counter", "that counts it while it is under way, -1: none", kind="i1"),
            field("counted", "what it adds to that count: the words of a scalar load, 2 at most; else 1", kind="i1"),
            field("tracked", "1: registers that it writes are pending until it is back", kind="i1"),
            field(
                "most", "accesses under way with which it may issue, by counter, -1: any number", COUNTERS, kind="i1"
            ),
        ),
        "warp": (
            field("unserved", "accesses issued and not known to be back, by counter", COUNTER, role=Role.SAME),
            field("returned", "when those of each are back, the latest first", COUNTER, COUNT, role=Role.TIME),
            field(
                "asked",
                "numbers of the queued ones that are not known to be back, in order of issue",
                COUNTER,
                COUNT,
                role=Role.NUMBER,
                of="load_store.entered",
                awaited="warps.served",
            ),
            field("served", "when each of these is done", COUNTER, COUNT, role=Role.TIME),
            field("latest", "when the last one that is known to be back is", COUNTER, role=Role.TIME),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "wait_counters.* outstanding.*",
            "counts",
            lambda g: bool((g.rows["counter"] >= 0).any() or (g.rows["most"] >= 0).any()),
            "{kernel} has no access that is counted",
        ),
        Condition("outstanding.*", "", lambda g: g.machine.wait_counters is None, "[wait_counters] count in its place"),
    ),
    limits={"load/store queue": {"outstanding.*": COUNTED - 1, "wait_counters.*": COUNTED - 1}},
)
