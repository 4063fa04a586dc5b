"""Control codes: the compiler says when an instruction may issue, and the hardware checks nothing else.

The warp waits for the stall count after an instruction, and before it for the dependency barriers of its wait mask. A
barrier counts the instructions that hold it, from their issue until their result is written (write barrier) or their
sources have been read (read barrier). There is one count for each stall reason that a wait for them may have.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import NEVER, lowest_bit, rarely, rule
from gpusim.sm.records import MachineNumbers, Row, Sm, Warp
from gpusim.sm.unit.stall import Stall

WAIT, SHORT, LONG, WAR = (
    int(Stall.WAIT),
    int(Stall.SHORT_SCOREBOARD),
    int(Stall.LONG_SCOREBOARD),
    int(Stall.WAR_HAZARD),
)
REASONS_OF_BARRIERS = WAR - SHORT + 1  # stall reasons that a wait for a dependency barrier may have


@rule
def earliest(warp: Warp, instruction: Row) -> None:
    """Store in the warp's reasons when the barriers of the wait mask allow `instruction` to issue."""
    warp.release_at[SHORT] = warp.release_at[LONG] = warp.release_at[WAR] = 0
    if instruction.wait_mask:
        _wait(warp, instruction)


@rarely
def _wait(warp: Warp, instruction: Row) -> None:
    barriers, release_at = int(instruction.wait_mask), warp.release_at
    while barriers:
        first = lowest_bit(barriers) * REASONS_OF_BARRIERS
        barriers &= barriers - 1
        for reason in range(REASONS_OF_BARRIERS):
            until = NEVER if warp.holders[first + reason] > 0 else warp.let_go[first + reason]
            release_at[SHORT + reason] = max(release_at[SHORT + reason], until)


@rarely
def commit(sm: Sm, k: int, warp: Warp, instruction: Row, now: int) -> None:
    """The warp issues: its next instruction may issue after the stall count; a yield lets other warps issue first.

    After a stall count of 0 the next one may take a further port of this turn; `schedulers.issue_interval` always
    holds.
    """
    warp.release_at[WAIT] = now + stall_of(sm.machine, instruction)
    sm.schedulers[k].yielded = warp.yield_ends = 0
    if instruction.yields:
        give_way(sm, k, warp, now)


@rule
def give_way(sm: Sm, k: int, warp: Warp, now: int) -> None:
    """The warp yields: it moves to the back of the order, and a greedy policy does not keep it at the front."""
    sm.schedulers[k].yielded = 1
    warp.yield_ends = now + sm.machine.yield_lasts
    to_the_back(sm, warp)


@rule
def stall_of(machine: MachineNumbers, instruction: Row) -> int:
    """Return the least number of cycles from the instruction's issue to the warp's next."""
    stall = int(instruction.stall_count)
    return max(stall, int(machine.yield_stall)) if instruction.yields else stall


@rule
def to_the_back(sm: Sm, warp: Warp) -> None:
    """Move a warp, just placed or yielding, to the back of the order by which policies compare ages."""
    warp.order = sm.ordered
    sm.ordered += 1


@rarely
def hold(warp: Warp, instruction: Row) -> None:
    """A memory instruction enters the queue: its barriers are held until it has been served."""
    if instruction.write_barrier >= 0:
        warp.holders[_written(instruction)] += 1
    if instruction.read_barrier >= 0:
        warp.holders[_read(instruction)] += 1


@rarely
def release_read(warp: Warp, instruction: Row, read: int) -> None:
    """A memory instruction is served: its sources are read at that cycle."""
    if instruction.read_barrier >= 0:
        warp.holders[_read(instruction)] -= 1
        _let_go(warp, _read(instruction), read)


@rarely
def release_written(warp: Warp, instruction: Row, written: int) -> None:
    """A memory instruction has been answered: its result is written at that cycle."""
    if instruction.write_barrier >= 0:
        warp.holders[_written(instruction)] -= 1
        _let_go(warp, _written(instruction), written)


@rarely
def let_go(warp: Warp, instruction: Row, read: int, written: int) -> None:
    """The instruction holds its barriers until the given cycles."""
    if instruction.write_barrier >= 0:
        _let_go(warp, _written(instruction), written)
    if instruction.read_barrier >= 0:
        _let_go(warp, _read(instruction), read)


@rule
def _let_go(warp: Warp, place: int, when: int) -> None:
    warp.let_go[place] = max(warp.let_go[place], when)


@rule
def _written(instruction: Row) -> int:
    """Return where its write barrier is counted; NVIDIA counts all but loads from far memories as short scoreboard."""
    reason = int(instruction.reason)
    return int(instruction.write_barrier) * REASONS_OF_BARRIERS + max(SHORT, reason) - SHORT


@rule
def _read(instruction: Row) -> int:
    return int(instruction.read_barrier) * REASONS_OF_BARRIERS + WAR - SHORT
