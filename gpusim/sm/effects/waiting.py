"""Warps that wait for a phase of a barrier in shared memory, and when each learns that it is over.

An instruction that waits, SYNCS.PHASECHK.TRYWAIT, is served as others are. If the phase is over then, its answer comes
with its latency; else it looks again when the phase ends, one warp after the other. Where other lanes of the warp wait
elsewhere, as at the end of a branch that one thread has taken, it looks `mbarrier.poll` cycles apart
(docs/units/mbarrier.md). Nothing is simulated between: who ends the phase works out when the answer comes.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import mbarrier
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Memory, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import AWAITED, TOLD

CROWDED = int(Fault.CROWDED)
BITS = 62  # of a mask


@rule
def room(sm: Sm, g: int) -> int:
    """Return a free place among what warp slot g waits for; -1 if there is none."""
    for i in range(AWAITED):
        if sm.awaited[g, i].number == 0:
            return i
    return -1


@rule
def numbered(sm: Sm, g: int, number: int) -> int:
    """Return the place of what warp slot g waits for in its access of that number; -1: it does not wait."""
    for i in range(AWAITED):
        if sm.awaited[g, i].number == number:
            return i
    return -1


@rule
def begin(sm: Sm, g: int, at: int, place: int) -> None:
    """Let the instruction that warp slot g issues wait for the present phase of the barrier at `place`."""
    one = sm.awaited[g, at]
    one.number, one.pc, one.place = sm.load_store.entered + 1, sm.warps[g].pc, place
    one.apart = 1 if sm.independent and sm.warps[g].parted else 0
    one.since, one.ended, one.answer = NEVER, NEVER, NEVER
    sm.warps[g].awaits += 1
    if sm.tracing:
        record.awaits(sm, g, place)


@rule
def note(sm: Sm, pc: int, place: int) -> None:
    """Note at which barrier of its block the instruction at `pc` waits: neighbours have bits of their own."""
    behind = (place - sm.launch.shared_word) % max(1, sm.launch.shared_words)
    sm.program[pc].stages |= 1 << behind // 2 % BITS


@on_demand
def ended(sm: Sm, memory: Memory, g: int, pc: int, place: int) -> None:
    """Warp slot g's instruction at `pc` ends the phase of the barrier at `place` now.

    If it is another block's of the cluster, that block's SM will be told (gpusim/sm/front/cluster/cluster_barrier.py).
    """
    if sm.launch.cluster > 1 and not 0 <= place - sm.launch.shared_word < sm.launch.resident * sm.launch.shared_words:
        if sm.tells < TOLD:
            sm.told[sm.tells] = place
            sm.tells += 1
        else:
            stop(sm, CROWDED, g, pc)
        sm.cluster_news = 1
    else:
        over(sm, g, pc, place, mbarrier.arrivals_to_come(mbarrier.word_at(memory, place)))


@rarely
def over(sm: Sm, g: int, pc: int, place: int, arrivals: int) -> None:
    """The phase of the SM's own barrier at `place` is over: who waits for it learns when, one after the other.

    What ended it, and how many arrivals the next phase waits for, are -1 where another block of the cluster did.
    """
    if sm.tracing:
        record.phase(sm, place, g, pc, arrivals)
    learns, by_copy = sm.now, 1 if pc >= 0 and sm.program[pc].bulk else 0
    for waiting in range(sm.warp_slots):
        for i in range(AWAITED if sm.warps[waiting].awaits else 0):
            one = sm.awaited[waiting, i]
            if one.number and one.place == place and one.ended == NEVER:
                one.ended = learns
                _settle(sm, waiting, i)
                if one.since < NEVER:
                    sm.program[one.pc].awaited[by_copy] += max(0, learns - one.since)
                    learns += sm.program[one.pc].service


@on_demand
def served(sm: Sm, g: int, i: int, first: int) -> None:
    """The wait is served now: if its phase is over, the answer is there in cycle `first`; else it looks again."""
    sm.awaited[g, i].since, sm.awaited[g, i].lag = first, first - sm.now
    if sm.awaited[g, i].ended < NEVER:
        _settle(sm, g, i)


@rule
def _settle(sm: Sm, g: int, i: int) -> None:
    """Work out when the answer comes, if both is known."""
    one = sm.awaited[g, i]
    if one.since < NEVER:
        looked, step = one.since - one.lag, sm.machine.poll if one.apart else 1
        later = max(0, one.ended + 1 - looked)
        one.answer = one.since + (later + step - 1) // step * step
        sm.answers = min(sm.answers, max(sm.now + 1, one.ended + 1))
        sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], sm.answers)


@rule
def forget(sm: Sm, g: int, i: int) -> None:
    """Warp slot g no longer waits for that."""
    sm.awaited[g, i].number = 0
    sm.warps[g].awaits -= 1
