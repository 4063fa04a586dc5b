"""Groups of a warp's work under way, for which a program waits together.

There are three kinds (isa.row.Groups), each with groups of its own:

| kind | joins | closes | waits |
|---|---|---|---|
| COPIES | LDGSTS | LDGDEPBAR | DEPBAR.LE SB0, n |
| BULK | copies by the copy engine | UTMACMDFLUSH | DEPBAR.LE SB0, n |
| MATRIX | HGMMA and its like | `gsb0` on one of them | WARPGROUP.DEPBAR.LE gsb0, n |

Work joins the open group of its warp and kind when it issues (`commit`). An instruction closes the group, and a later
one waits until no more than n closed groups are under way (`earliest`). COPIES and BULK are counted by one dependency
barrier of the hardware, SB0: a wait for n lets n of both together be under way.

Groups of a kind are done in the order in which they were closed: a later one no sooner than an earlier one. Who does
the work says so once for each piece, in the order of issue (`done`); so it is enough to count, for each of the last
groups, the work up to its end that is not done. More than GROUPED - 2 groups of a kind under way are not told apart:
who lets more of them be waits for the oldest.

In program order, where nothing has a time, `effects.in_program_order` lands what a wait covers; there a wait for n lets
n groups of each kind be under way.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Row, Warp
from gpusim.sm.unit.capacities import GROUP_KINDS, GROUPED
from gpusim.sm.unit.stall import Stall
from isa.row import CLOSES, DRAINS, JOINS, WAITS, Groups

BARRIER, LONG = int(Stall.BARRIER), int(Stall.LONG_SCOREBOARD)
COPIES, BULK, MATRIX = int(Groups.COPIES), int(Groups.BULK), int(Groups.MATRIX)


@on_demand
def earliest(warp: Warp, instruction: Row) -> None:
    """Raise the warp's reason to the time when few enough groups are under way for `instruction` to issue.

    It waits whatever its guard, as it does by its wait mask. A wait for matrix instructions counts as one at a barrier,
    as in NVIDIA's profiler (docs/units/warpgroup.md).
    """
    if instruction.grouping & DRAINS:
        warp.release_at[LONG] = max(warp.release_at[LONG], _together(warp, 0))
    if instruction.grouping & WAITS:
        most, kind = instruction.open_groups, instruction.groups
        until = _together(warp, most) if kind == COPIES else _few(warp, kind, most)
        reason = BARRIER if kind == MATRIX else LONG
        warp.release_at[reason] = max(warp.release_at[reason], until)


@rule
def counted_with(kind: int) -> int:
    """Return the kind whose waits cover groups of this one."""
    return COPIES if kind == BULK else kind


@rule
def _few(warp: Warp, kind: int, most: int) -> int:
    """Return from when on so many groups of a kind at most are under way; NEVER: not known yet."""
    last = min(most + 1, GROUPED - 1)
    return NEVER if warp.ahead_of[kind, last] else int(warp.done_by[kind, last])


@rule
def _together(warp: Warp, most: int) -> int:
    """Return from when on so many groups of copies and bulk copies together are."""
    most = min(most, GROUPED - 2)
    until = NEVER
    for copies in range(most + 1):
        until = min(until, max(_few(warp, COPIES, copies), _few(warp, BULK, most - copies)))
    return until


@on_demand
def commit(warp: Warp, instruction: Row) -> None:
    """The instruction issues: it joins its warp's open group of its kind, closes it, or does both."""
    kind = instruction.groups
    if instruction.grouping & JOINS:
        warp.ahead_of[kind, 0] += 1
    if instruction.grouping & CLOSES:
        for n in range(GROUPED - 1, 0, -1):
            warp.ahead_of[kind, n], warp.done_by[kind, n] = warp.ahead_of[kind, n - 1], warp.done_by[kind, n - 1]


@on_demand
def done(warp: Warp, kind: int, when: int) -> None:
    """The oldest work of a kind that is in a group and not done is done at `when`, or with a later one before it."""
    warp.ahead_of[kind, 0] -= 1
    warp.done_by[kind, 0] = max(warp.done_by[kind, 0], when)
    for n in range(1, GROUPED):
        if warp.ahead_of[kind, n]:
            warp.ahead_of[kind, n] -= 1
            warp.done_by[kind, n] = warp.done_by[kind, 0]


@rarely
def clear(warp: Warp) -> None:
    """Let a new warp have no groups."""
    for kind in range(GROUP_KINDS):
        warp.closed[kind] = 0
        for n in range(GROUPED):
            warp.ahead_of[kind, n] = warp.done_by[kind, n] = 0
