"""Control flow of warps whose lanes are independent: what each instruction does to the groups of its warp.

A branch that some lanes take splits a group, and so does an address in registers that differs between lanes. BSYNC and
WARPSYNC wait, BREAK and EXIT may end the waits of others, YIELD and NANOSLEEP let others go first. NANOSLEEP takes no
time of its own: the groups of its warp, and other warps, go first once.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.sm.lanes import predicates
from gpusim.sm.lanes.convergence import convergence, parted, partners
from gpusim.sm.lanes.convergence.declaration import (
    COLLECT,
    DISPERSE,
    EXPECT,
    GATHER,
    GIVE_WAY,
    GO,
    GO_INDIRECT,
    IF_PARTED,
    LEAVE,
    LOOKS,
    MEET,
    PART,
    TAKE_AWAY,
    WHERE_TRUE,
)
from gpusim.sm.lanes.convergence.parted import IN_COLLECTIVE
from gpusim.sm.records import Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from isa.program import CODE_BYTES

ALL = (1 << LANES) - 1
NO_CODE, TRAPPED = int(Fault.NO_CODE), int(Fault.TRAPPED)
LEFT_OUT, GONE_WITHIN = int(Fault.LEFT_OUT), int(Fault.GONE_WITHIN)


@on_demand
def narrow(sm: Sm, g: int, instruction: Row) -> None:
    """Leave of the active lanes those in which a second predicate holds; of BRA.DIV and BRA.CONV all, or none."""
    active, warp = sm.outcome.active[0], sm.warps[g]
    if instruction.narrows == WHERE_TRUE:
        held = sm.lanes[g].predicates[instruction.selectors[0]]
        active &= ALL & ~held if instruction.selectors_negated & 1 else held
    elif active:
        asked = _word(sm, g, instruction, 0, int(lowest_bit(warp.lanes[0])))
        others = (asked if asked else ALL) & ~warp.gone != active
        active = warp.lanes[0] if others == (instruction.narrows == IF_PARTED) else 0
    sm.outcome.active[0], sm.outcome.threads = active, count_bits(active)


@rule
def guarded(sm: Sm, g: int, instruction: Row) -> int:
    """Return the threads of the running group whose guard holds; of a stream, which has no such guards, all."""
    warp = sm.warps[g]
    if sm.trace_driven:
        return int(warp.threads)
    mask = predicates.mask_of(sm.lanes[g], instruction.guard, instruction.guard_negated)
    return int(count_bits(mask & warp.lanes[0]))


@on_demand
def follow(sm: Sm, g: int, instruction: Row, pc: int) -> None:
    """Split, join or end the groups of the warp after the instruction at pc; no threads: the warp exits."""
    warp = sm.warps[g]
    warp.pc = pc + 1
    if sm.outcome.threads:
        _step(sm, g, instruction, pc, sm.outcome.active[0])
    warp.threads = count_bits(warp.lanes[0])


@rarely
def _step(sm: Sm, g: int, instruction: Row, pc: int, lanes: int) -> None:
    steers, barrier = instruction.steers, instruction.convergence
    if steers == GO:
        convergence.branch(sm, g, lanes, instruction.target)
    elif steers == LEAVE:
        _leave(sm, g, pc, lanes)
    elif steers == EXPECT:
        convergence.expect(sm, g, barrier, lanes)
    elif steers == MEET:
        convergence.meet(sm, g, barrier, lanes)
    elif steers == TAKE_AWAY:
        convergence.take_away(sm, g, barrier, lanes)
    elif steers == GO_INDIRECT:
        if _find_places(sm, g, instruction, pc, lanes):
            convergence.scatter(sm, g, pc)
    elif steers in (GATHER, PART, COLLECT):
        _gather(sm, g, instruction, pc, lanes)
    elif steers == DISPERSE:
        convergence.disperse(sm, g)
    elif steers in (GIVE_WAY, LOOKS):
        _give_way(sm, g, steers)
    else:
        stop(sm, TRAPPED, g, pc, lowest_bit(lanes), 0, lanes)


@rule
def _give_way(sm: Sm, g: int, steers: int) -> None:
    """Let other groups go first; a look at a barrier in shared memory does if it was in vain and others may run."""
    if steers == GIVE_WAY or (sm.outcome.missed >= 0 and parted.may_run(sm, g)):
        convergence.give_way(sm, g)


@rule
def _leave(sm: Sm, g: int, pc: int, lanes: int) -> None:
    """Let lanes exit; within a collective that is a fault."""
    if partners.waiting(sm, g, IN_COLLECTIVE) & sm.warps[g].lanes[0]:
        stop(sm, GONE_WITHIN, g, pc, lowest_bit(lanes))
    else:
        convergence.leave(sm, g, lanes)


@rule
def _gather(sm: Sm, g: int, instruction: Row, pc: int, lanes: int) -> None:
    """Let lanes wait for the lanes that each names; a lane that a plain WARPSYNC's mask lacks is a fault."""
    for lane in range(LANES):
        if lanes >> lane & 1:
            asked = _word(sm, g, instruction, 0, lane)
            sm.warps[g].partners[lane] = asked
            if instruction.steers == GATHER and asked >> lane & 1 == 0:
                stop(sm, LEFT_OUT, g, pc, lane)
                return
    if instruction.steers == PART:
        convergence.part_by_mask(sm, g, lanes)
    else:
        convergence.gather(sm, g, lanes, instruction.target if instruction.steers == COLLECT else -1)


@rarely
def _find_places(sm: Sm, g: int, instruction: Row, pc: int, lanes: int) -> bool:
    """Find where each lane of the running group goes; false: one goes where there is no instruction, a fault."""
    for lane in range(LANES):
        sm.places[lane] = pc + 1
        if lanes >> lane & 1:
            address = _pair(sm, g, instruction, lane) + np.uint64(instruction.target) * np.uint64(CODE_BYTES)
            place = address // np.uint64(CODE_BYTES)
            if address % np.uint64(CODE_BYTES) or place >= np.uint64(instruction.code_end):
                return stop(sm, NO_CODE, g, pc, lane, int(np.int64(address)), lanes)
            sm.places[lane] = np.int64(place)
    return True


@rule
def _word(sm: Sm, g: int, instruction: Row, place: int, lane: int) -> int:
    """Return a number, or a register in a lane, perhaps inverted."""
    constant = np.int64(instruction.constant[place])
    if instruction.source[place] < 0:
        return int(constant)
    return int(np.int64(sm.lanes[g].registers[instruction.source[place], lane]) ^ constant)


@rule
def _pair(sm: Sm, g: int, instruction: Row, lane: int) -> np.uint64:
    """Return a number, or a pair of registers in a lane."""
    source = instruction.source[0]
    if source < 0:
        return np.uint64(instruction.constant[0])
    registers = sm.lanes[g].registers
    return np.uint64(registers[source, lane]) | np.uint64(registers[source + 1, lane]) << np.uint64(32)
