"""Program order of a block that may wait for others: it runs until its warps are where they were before.

Between these two moments it may have changed memory that others see. If it has not, and its state is the same, it does
the same for ever, or until another block stores. Shared and local memory are part of that state.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.records import Memory, Numbers, Row, Sm
from gpusim.sm.unit.capacities import LANES, WARPS
from gpusim.sm.unit.opcodes import COMMAND, GLOBAL_MEMORY, STORE
from gpusim.sm.walk import access_log, program_order
from gpusim.sm.walk.access_log import Log

CHANGES, KEPT, LOOKS, PLACES = 0, 1, 2, 3  # of `watch`; then the warps' places, and whether each has run
KEEP = 2  # in KEPT: the places are kept when the block next runs
RAN = PLACES + WARPS
SIZE = RAN + WARPS
GONE = -1  # the place of a warp that has exited
MOST_LOOKS = 3  # at the state there: that of a loop that counts is another one each time


@rule
def proceed(sm: Sm, memory: Memory, away: Numbers, group: Numbers, log: Log, watch: Numbers, steps: int) -> int:
    """Run the block as program_order.proceed does; it ends before if all warps are where `watch` has them.

    `watch` counts changes of memory that other blocks see, and has whether places are kept, how often all warps were
    there, the place of each, and which have run since. A change makes it forget the places.
    """
    done, returned = 0, False
    if watch[KEPT] == KEEP and steps > 0:
        _keep(sm, watch)
    count = program_order.gather(sm, away, group)
    while count > 0 and done < steps and not returned and not access_log.is_full(log):
        log.size[1] += 1
        for i in range(count):
            if sm.fault.code == 0:
                _execute(sm, memory, away, log, watch, group[i])
        done += count
        count = program_order.gather(sm, away, group) if sm.fault.code == 0 else 0
        returned = watch[KEPT] == 1 and _returned(sm, watch)
    return done


@rule
def _keep(sm: Sm, watch: Numbers) -> None:
    """Keep the places where the warps are now."""
    watch[KEPT], watch[LOOKS] = 1, 0
    for g in range(sm.launch.warps):
        watch[PLACES + g], watch[RAN + g] = _place(sm, g), 0


@rule
def _execute(sm: Sm, memory: Memory, away: Numbers, log: Log, watch: Numbers, g: int) -> None:
    pc = sm.warps[g].pc
    program_order.execute(sm, memory, away, log, g)
    watch[RAN + g] = 1
    if sm.outcome.threads > 0 and sm.fault.code == 0 and _changes(sm, sm.program[pc], g):
        watch[CHANGES] += 1
        watch[KEPT] = 0


@rule
def _changes(sm: Sm, instruction: Row, g: int) -> bool:
    """Tell whether the instruction, which was just executed, may have changed memory that other blocks see."""
    if instruction.action == COMMAND:
        return True
    if not memory_access.accesses(instruction) or instruction.memory_kind != GLOBAL_MEMORY or not instruction.evaluate:
        return False
    if instruction.update < 0:
        return bool(instruction.action == STORE)
    return instruction.words > 2 or _updated(sm, instruction, sm.outcome.active[0] & sm.warps[g].lanes[0])


@rule
def _updated(sm: Sm, instruction: Row, active: int) -> bool:
    """Tell whether an atomic of one or two words has changed them in any lane: both are left where it was computed."""
    if sm.machine.groups > 1:
        return True
    changed = False
    for word in range(instruction.words):
        for lane in range(LANES):
            if (active >> lane) & 1 and sm.scratch.c[word, lane] != sm.scratch.d[word, lane]:
                changed = True
    return changed


@rule
def _returned(sm: Sm, watch: Numbers) -> bool:
    """Tell whether all warps are where they were, if that has not been said too often."""
    for g in range(sm.launch.warps):
        if watch[PLACES + g] != _place(sm, g):
            return False
    watch[LOOKS] += 1
    return bool(watch[LOOKS] <= MOST_LOOKS)


@rule
def _place(sm: Sm, g: int) -> int:
    return int(sm.warps[g].pc) if sm.warps[g].live else GONE
