"""Effects: what each warp's instructions will still do, and groups of work that one wait covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import GROUPS, LANES
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import EFFECT, GROUP, GROUP_KIND, WARP
from isa.dataflow.waits.counted_groups import awaits_all
from isa.instruction import Instruction
from isa.operands.operand import Dependency, Immediate
from isa.row import CLOSES, DRAINS, JOINS, WAITS, Groups

if TYPE_CHECKING:
    from isa.kernel import Kernel


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """What the instruction has to do with groups, and with how many under way it goes on if it waits.

    DEPBAR waits for groups by dependency barrier 0, and by any for other results: it has one row for both. Where
    LDGDEPBAR takes time it is work of the group that it closes.
    """
    form = instruction.row
    if form.grouping:
        row["grouping"], row["groups"] = form.grouping, int(form.groups)
        if machine.async_copy and form.grouping & CLOSES and form.groups is Groups.COPIES:
            row["grouping"] |= JOINS
    if form.grouping & WAITS:
        counts = [o.bits for o in instruction.operands if isinstance(o, Immediate)]
        row["open_groups"] = counts[0]
        if any(isinstance(o, Dependency) and o.index for o in instruction.operands):
            row["grouping"] = 0
    if awaits_all(kernel.program, instruction):
        row["grouping"] |= DRAINS
    if machine.what_if and machine.what_if.copies == "there":
        row["grouping"] &= ~(DRAINS if form.groups is Groups.MATRIX else DRAINS | WAITS)


UNIT = Declaration(
    "effects",
    fields={
        "sm": (
            field("grouped", "1: the program has work in groups", role=Role.FIXED),
            field("posted", "effects posted so far", role=Role.FIXED),
            field("landing", "when each warp's next effect on memory lands", WARP, role=Role.FIXED),
            field("effects", "each warp's, in no order", WARP, EFFECT, kind="effect", role=Role.FIXED),
        ),
        "effect": (
            field("pc", "the instruction"),
            field("order", "of posting"),
            field("mask", "active lanes, by lane group", GROUPS),
            field("lands", "when it does; NEVER: not known yet"),
            field("read", "when its instruction's sources are read"),
            field("access", "number of its access in the load/store queue; 0: none"),
            field("groups", "kind of the groups that its work is in, -1: in none"),
            field("group", "its group of that kind"),
            field("landed", "1: it has landed"),
            field("stale", "1: a source was overwritten before it was read"),
            field("words", "words of memory that each lane writes; 0: it writes registers"),
            field("barrier", "place of a barrier in shared memory that it signals, -1: none"),
            field("arrivals", "that the barrier counts"),
            field("tx_bytes", "that the barrier counts"),
            field("leaving", "of the arrivals, those that later phases do not wait for"),
            field("truth", "its predicate, as masks of lanes", GROUPS),
            field("second_truth", "its other predicate", GROUPS),
            field("values", "its words", GROUPS, 4, LANES, kind="u4"),
            field("places", "where each lane's words begin in memory", GROUPS, LANES),
        ),
        "warp": (
            field("effects", "how many it has", role=Role.FIXED),
            field("closed", "groups closed so far, in program order, by kind", GROUP_KIND, role=Role.FIXED),
            field(
                "ahead_of",
                "of each kind, what is not done of the work before the end of the n-th last group",
                GROUP_KIND,
                GROUP,
                role=Role.SAME,
            ),
            field("done_by", "when all of that is done, if it is known to be", GROUP_KIND, GROUP, role=Role.TIME),
        ),
        "row": (
            field(
                "grouping",
                "bits: 1: it joins its warp's open group; 2: it closes it; 4: it waits for groups, 8: for all copies",
                kind="i1",
            ),
            field("groups", "kind of these groups (isa.row.Groups)", kind="i1"),
            field("open_groups", "groups that may be under way when it goes on", kind="i1"),
        ),
    },
    decode=decode,
    conditions=(
        Condition("what_if.copies", "", lambda g: bool(g.rows["copies"].any()), "{kernel} has no asynchronous copies"),
    ),
)
