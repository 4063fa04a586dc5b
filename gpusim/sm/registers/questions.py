"""Questions of an SM that runs ahead: when the memory channel, which it shares, has moved an access's transactions.

The SM goes on without the answer, as while an access waits in the queue, and stops before the first cycle in which it
might feel the answer. That cycle follows from a least time of each access, by the channel as the SM saw it last and its
own accesses since: others can only delay it further.

A load may be felt from the first cycle in which its result may be there, or may be written. A store that has left is
felt only by a warp that would exit, by counts of accesses, and by waits for a barrier of the store.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Entry, Outcome, Question, Sm, Warp
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.capacities import QUESTIONS, SERVED
from gpusim.sm.unit.opcodes import STORE


@rule
def numbered(sm: Sm, number: int) -> Question:
    """Return the question of that number."""
    return sm.ahead.questions[number & (QUESTIONS - 1)]


@rule
def has_room(sm: Sm) -> bool:
    """Tell whether the SM may ask what comes up in a further cycle."""
    return bool(sm.ahead.asked - sm.ahead.settled <= QUESTIONS - SERVED)


@rarely
def ask(sm: Sm, g: int, pc: int, access: Entry | Outcome, results: int, soonest: int, now: int) -> None:
    """Ask when warp slot g's access at `pc`, which takes the channel now, is done: at `soonest` or later.

    `access` is its entry of a queue, or the outcome of a texture fetch; `results` of it take writes of register banks.
    """
    question, warp, instruction = numbered(sm, sm.ahead.asked), sm.warps[g], sm.program[pc]
    sm.ahead.asked += 1
    question.now, question.warp, question.pc, question.number = now, g, pc, -1  # that of an access follows
    question.cycles, question.extra, question.near = access.cycles, access.extra, access.near
    question.transactions, question.results, question.lines = access.transactions, results, 0
    for c in range(sm.machine.channels if sm.machine.channels > 1 else 0):
        question.moves[c] = access.moves[c]
    waited_for = instruction.action != STORE or instruction.counter >= 0 or instruction.write_barrier >= 0
    question.felt = soonest if waited_for or sm.ahead.alert else NEVER
    if results:
        question.felt = write_back.first_at(sm.machine, instruction, soonest, now)
    sm.ahead.until = min(sm.ahead.until, question.felt)
    warp.answer = max(warp.answer, soonest)


@rarely
def drain(sm: Sm, warp: Warp) -> None:
    """The warp would exit: it feels when its last access is done."""
    g, felt = warp.place * sm.machine.schedulers + warp.scheduler, max(warp.answer, sm.now + 1)
    for number in range(sm.ahead.answered, sm.ahead.asked):
        question = numbered(sm, number)
        if question.warp == g:
            question.felt = min(question.felt, felt)
            sm.ahead.until = min(sm.ahead.until, felt)


@rule
def first_felt(sm: Sm) -> int:
    """Return the first cycle in which an answer that is still to come may be felt; NEVER if there is none."""
    when = NEVER
    for number in range(sm.ahead.answered, sm.ahead.asked):
        when = min(when, numbered(sm, number).felt)
    return when
