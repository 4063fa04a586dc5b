"""Groups of a warp's accesses, for which a program waits together.

An access joins the open group of its warp. An instruction closes the group, and a later one waits until no more than so
many closed groups are under way. Groups are done in the order in which they were closed: a later one no sooner than an
earlier one. One queue serves a warp's accesses, so they become known to be done in the order of their issue; so it is
enough to count, for each of the last groups, the accesses up to its end that are not done.

More than GROUPED - 2 groups under way are not told apart: who lets more of them be waits for the oldest.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely
from gpusim.sm.records import Row, Warp
from gpusim.sm.unit.capacities import GROUPED
from gpusim.sm.unit.stall import Stall
from isa.row import CLOSES, JOINS, WAITS

LONG = int(Stall.LONG_SCOREBOARD)


@on_demand
def earliest(warp: Warp, instruction: Row) -> None:
    """Raise the warp's reason to the time when few enough groups are under way for `instruction` to issue."""
    if instruction.grouping == WAITS:
        last = min(instruction.open_groups + 1, GROUPED - 1)
        until = NEVER if warp.ahead_of[last] else warp.done_by[last]
        warp.release_at[LONG] = max(warp.release_at[LONG], until)


@on_demand
def commit(warp: Warp, instruction: Row) -> None:
    """The instruction issues: it joins its warp's open group, or closes it."""
    if instruction.grouping == JOINS:
        warp.ahead_of[0] += 1
    elif instruction.grouping == CLOSES:
        for n in range(GROUPED - 1, 0, -1):
            warp.ahead_of[n], warp.done_by[n] = warp.ahead_of[n - 1], warp.done_by[n - 1]


@on_demand
def done(warp: Warp, when: int) -> None:
    """The oldest access that is in a group and not done is done at `when`, or with a later one before it."""
    warp.ahead_of[0] -= 1
    warp.done_by[0] = max(warp.done_by[0], when)
    for n in range(1, GROUPED):
        if warp.ahead_of[n]:
            warp.ahead_of[n] -= 1
            warp.done_by[n] = warp.done_by[0]


@rarely
def clear(warp: Warp) -> None:
    """Let a new warp have no groups."""
    for n in range(GROUPED):
        warp.ahead_of[n] = warp.done_by[n] = 0
