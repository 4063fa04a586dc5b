"""Scoreboard: the pending results and readers for which an instruction must wait.

RAW and WAW: a register with a pending write can be neither read nor written before the result is there. WAR: the
source registers of a memory instruction can't be written before it has read them. Everything else issues in order and
reads its operands at issue.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Row, Warp
from gpusim.sm.unit.capacities import READ, WRITTEN
from gpusim.sm.unit.stall import Stall
from isa.operands.operand import PT_INDEX

WAIT, SHORT, LONG, WAR = (
    int(Stall.WAIT),
    int(Stall.SHORT_SCOREBOARD),
    int(Stall.LONG_SCOREBOARD),
    int(Stall.WAR_HAZARD),
)


@rule
def earliest(warp: Warp, instruction: Row) -> None:
    """Store in the warp's reasons when each kind of pending result, and pending readers, let `instruction` issue."""
    wait = short = long = war = 0  # local copies: a store into the reasons themselves would delay the next register
    for i in range(instruction.waits):
        register = instruction.read[i]
        wait = max(wait, _pending(warp, register, WAIT))
        short = max(short, _pending(warp, register, SHORT))
        long = max(long, _pending(warp, register, LONG))
    for i in range(instruction.writes):
        war = max(war, warp.read_by[instruction.write[i]])
    if instruction.guard != PT_INDEX:
        wait = max(wait, warp.predicate[instruction.guard])
    if instruction.selector >= 0:
        wait = max(wait, warp.predicate[instruction.selector])
    if instruction.predicate >= 0:
        wait = max(wait, warp.predicate[instruction.predicate])
    if instruction.others:
        wait = max(wait, _others(warp, instruction))
    warp.release_at[WAIT], warp.release_at[SHORT], warp.release_at[LONG], warp.release_at[WAR] = wait, short, long, war


@rarely
def _others(warp: Warp, instruction: Row) -> int:
    """Return when the predicates beside the first one read and the first one written are there."""
    wait = warp.predicate[instruction.second_predicate] if instruction.second_predicate >= 0 else 0
    for place in range(1, READ):
        if instruction.selectors[place] >= 0:
            wait = max(wait, warp.predicate[instruction.selectors[place]])
    for place in range(WRITTEN - 2):
        if instruction.more_predicates[place] >= 0:
            wait = max(wait, warp.predicate[instruction.more_predicates[place]])
    return wait


@rule
def _pending(warp: Warp, register: int, kind: int) -> int:
    """Return when the register's result is there, if it is of that kind."""
    return warp.ready[register] if warp.kind[register] == kind else 0


@rule
def commit(warp: Warp, instruction: Row, ready: int) -> None:
    """Mark the registers that `instruction` writes as pending until `ready` (NEVER: until its service is known)."""
    for i in range(instruction.writes):
        register = instruction.write[i]
        warp.ready[register] = ready
        warp.kind[register] = instruction.reason
    if instruction.predicate >= 0:
        warp.predicate[instruction.predicate] = ready
    if instruction.second_predicate >= 0:
        warp.predicate[instruction.second_predicate] = ready
    if instruction.others:
        for place in range(WRITTEN - 2):
            if instruction.more_predicates[place] >= 0:
                warp.predicate[instruction.more_predicates[place]] = ready


@rule
def hold(warp: Warp, instruction: Row, number: int) -> None:
    """Mark the registers that `instruction` reads as unread, the last reader being number `number` of the queue."""
    for i in range(instruction.reads):
        register = instruction.read[i]
        warp.read_by[register] = NEVER
        warp.reader[register] = number


@rule
def let_go(warp: Warp, instruction: Row, number: int, until: int) -> None:
    """Instruction `number` of the queue is served: keep its sources until then, unless later readers wait."""
    for i in range(instruction.reads):
        register = instruction.read[i]
        warp.read[register] = max(warp.read[register], until)
        if warp.reader[register] == number:
            warp.read_by[register] = warp.read[register]
