"""Answers of the chip to SMs that run ahead of each other: those of the memory channel, and blocks of the grid.

The channel answers questions in the order of SMs that take turns in each cycle: by time, then by SM. It waits until
nobody can ask an earlier question. Blocks likewise go to the block schedulers in the order in which these have a free
slot.
"""

from __future__ import annotations

from gpusim.sm.chip.chip import chip
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.block_scheduler.declaration import DONE, FREE
from gpusim.sm.jit.rule import NEVER, rule
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.records import Chip, Numbers, Records, Sm
from gpusim.sm.registers import completion, questions
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.opcodes import FETCH
from gpusim.sm.unit.sm import LAUNCHER
from gpusim.sm.walk.prepare import wake


@rule
def settle(sm: Sm) -> None:
    """Let the SM take the answers that there are, as if each access had been served now."""
    sm.ahead.until = questions.first_felt(sm)
    while sm.ahead.settled < sm.ahead.answered:
        question = questions.numbered(sm, sm.ahead.settled)
        sm.ahead.settled += 1
        instruction = sm.program[question.pc]
        ready = load_store.done_at(instruction, question, question.gone, question.now)
        if question.results:
            write_back.come_back(sm, instruction, question, ready, question.now)
        else:
            completion.commit(sm, question.warp, question.pc, question.number, ready)
        wake(sm, question.warp)


@rule
def first(times: Numbers) -> int:
    """Return the SM that acts next: of those with the earliest time the one of the lowest index."""
    when, s = NEVER + 1, 0
    for each in range(times.size):
        when = min(when, times[each])  # which several are compared at once for
    while times[s] != when:
        s += 1
    return s


@rule
def give(sms: Records[Sm], chips: Records[Chip], times: Numbers, asked: Numbers) -> None:
    """Answer the questions that belong before the next act of any SM; `asked` is room for a time of each SM."""
    last = first(times)
    for s in range(times.size):
        asked[s] = _next_question(sms[s])
    s = first(asked)
    while asked[s] < times[last] or (asked[s] == times[last] and s < last):
        sm = sms[s]
        question = questions.numbered(sm, sm.ahead.answered)
        chip.lend_channels(sms, s, chips)
        fetches = sm.program[question.pc].action == FETCH
        cost = sm.machine.fetch_cost if fetches else sm.machine.line_cost
        question.gone = global_memory.commit_each(sm, question, cost, question.now)
        chip.take_back_channels(sms, s, chips)
        sm.ahead.answered += 1
        asked[s] = _next_question(sm)
        s = first(asked)


@rule
def _next_question(sm: Sm) -> int:
    """Return when the SM asked the first question that has no answer; NEVER if all have."""
    return questions.numbered(sm, sm.ahead.answered).now if sm.ahead.answered < sm.ahead.asked else NEVER


@rule
def may_place(sm: Sm, chips: Records[Chip], now: int) -> bool:
    """Tell whether the SM's block scheduler may act without regard to other SMs: it has its blocks, or none is left."""
    return bool(now == 0 or sm.ahead.granted or chips[0].next >= chips[0].end)


@rule
def grant(sms: Records[Sm], chips: Records[Chip], times: Numbers, soonest: Numbers) -> None:
    """Give blocks to the block schedulers that wait for them, as far as nobody can come before.

    `soonest` is room for the first time at which each SM's block scheduler may act.
    """
    chip = chips[0]
    for s in range(times.size):
        next_finish = times[s] + sms[s].machine.interval
        soonest[s] = next_finish if sms[s].ahead.granted else min(sms[s].agenda[LAUNCHER], next_finish)
    s = first(soonest)
    while chip.next < chip.end and sms[s].agenda[LAUNCHER] == times[s] and soonest[s] == times[s]:
        launch = sms[s].launch
        launch.next, launch.stride = chip.next, launch.apart
        launch.handed_until, launch.handed_parts = chip.handed_until, chip.handed_parts
        launch.end = chip.next = min(chip.end, chip.next + _free_slots(sms[s], times[s]) * launch.stride)
        for _ in range(launch.next, launch.end, launch.stride):
            block_scheduler.hand_out(chip, sms[s].machine.refill_parts, times[s])
        sms[s].ahead.granted = 1
        soonest[s] = times[s] + sms[s].machine.interval
        s = first(soonest)


@rule
def _free_slots(sm: Sm, now: int) -> int:
    """Return how many blocks the SM has room for at `now`."""
    count = 0
    for slot in range(sm.launch.resident):
        block = sm.blocks[slot]
        if block.state == FREE or (block.state == DONE and block.finished <= now):
            count += 1
    return count
