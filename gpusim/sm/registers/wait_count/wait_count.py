"""Wait counters: how many accesses of a warp are in flight, by kind of memory.

Accesses of the load/store unit on one counter return in the order of issue. Scalar loads return in any order, and count
two if they load more than a word. A count is at most n once all but n have returned; so the return times are kept from
the latest on, and the one after n of them says when. On GCN programs wait for the counts, and nothing else waits for
loaded values. On other machines an access waits only while its warp has as many in flight as allowed.

Two units may serve the accesses of one counter, each in its own order. So an access that is served before an earlier
one is kept, in order of issue, until the earlier one has been served too.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rule
from gpusim.sm.records import Numbers, Row, Warp
from gpusim.sm.unit.capacities import COUNTED, COUNTERS
from gpusim.sm.unit.stall import Stall

SHORT, LONG, MIO = int(Stall.SHORT_SCOREBOARD), int(Stall.LONG_SCOREBOARD), int(Stall.MIO_THROTTLE)
VECTOR = 0  # the other counts accesses to shared memory


@on_demand
def earliest(warp: Warp, instruction: Row) -> None:
    """Raise the warp's reasons to the time when the counts are low enough for `instruction` to issue."""
    for counter in range(COUNTERS):
        most, reason = instruction.most[counter], LONG if counter == VECTOR else SHORT
        if counter == instruction.counter and instruction.tracked:
            warp.release_at[MIO] = warp.returned[counter, most]
        elif most >= 0:
            warp.release_at[reason] = max(warp.release_at[reason], warp.returned[counter, most])


@on_demand
def commit(warp: Warp, instruction: Row, number: int) -> None:
    """Count access `number`, which is now in flight and returns at a time not yet known."""
    counter, step = instruction.counter, instruction.counted
    for n in range(COUNTED - 1, step - 1, -1):
        warp.returned[counter, n] = warp.returned[counter, n - step]
    for n in range(step):
        warp.returned[counter, n] = NEVER
    if instruction.queued:
        warp.asked[counter, warp.unserved[counter]] = number
        warp.served[counter, warp.unserved[counter]] = NEVER
    warp.unserved[counter] += step


@on_demand
def load(warp: Warp, instruction: Row, back: int) -> None:
    """Set when the scalar load just committed returns, independent of the other accesses."""
    _returns(warp, instruction.counter, instruction.counted, back)


@on_demand
def serve(warp: Warp, counter: int, number: int, done: int) -> int:
    """Access `number`, which waits, is done at `done`; return when it is back, as far as is known."""
    n = 0
    while warp.asked[counter, n] != number:
        n += 1
    warp.served[counter, n] = done
    return max(done, warp.latest[counter])


@rule
def settles(warp: Warp, counter: int) -> bool:
    """Tell whether the oldest waiting access has been served."""
    return bool(warp.unserved[counter] > 0 and warp.served[counter, 0] < NEVER)


@on_demand
def settle(warp: Warp, counter: int) -> int:
    """The oldest waiting access has been served: return when it is back, no earlier than the access before it."""
    back = max(warp.served[counter, 0], warp.latest[counter])
    warp.latest[counter] = back
    _returns(warp, counter, 1, back)
    last = warp.unserved[counter]
    for n in range(last):
        warp.asked[counter, n], warp.served[counter, n] = warp.asked[counter, n + 1], warp.served[counter, n + 1]
    warp.asked[counter, last] = warp.served[counter, last] = 0
    return int(back)


@rule
def _returns(warp: Warp, counter: int, step: int, back: int) -> None:
    """So many of the accesses in flight return at that time."""
    for _ in range(step):
        warp.unserved[counter] -= 1
        _insert(warp.returned[counter], int(warp.unserved[counter]), back)


@rule
def _insert(times: Numbers, n: int, back: int) -> None:
    """Insert a time at place n, or after later times that follow."""
    while n + 1 < COUNTED and times[n + 1] > back:
        times[n] = times[n + 1]
        n += 1
    times[n] = back


@on_demand
def clear(warp: Warp) -> None:
    """Clear the counts of a new warp."""
    for counter in range(COUNTERS):
        warp.unserved[counter] = warp.latest[counter] = 0
        for n in range(COUNTED):
            warp.returned[counter, n] = warp.asked[counter, n] = warp.served[counter, n] = 0
