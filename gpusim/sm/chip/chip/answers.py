"""Answers of the chip to SMs that run ahead of each other: those of the memory channel, and blocks of the grid.

The channel answers questions in the order of SMs that take turns in each cycle: by time, then by SM. It waits until
nobody can ask an earlier question. Blocks likewise go to the block schedulers in the order in which these have a free
slot.
"""

from __future__ import annotations

from gpusim.sm.chip.chip import chip
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.block_scheduler.declaration import DONE, FREE
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import cache, tags
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.lookahead import late_lines
from gpusim.sm.pipes.load_store import load_store, returns
from gpusim.sm.records import Chip, Memory, Numbers, Question, Records, Sm
from gpusim.sm.registers import completion, questions
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.opcodes import FETCH
from gpusim.sm.unit.sm import LAUNCHER
from gpusim.sm.walk.prepare import wake


@rule
def settle(sm: Sm, memory: Memory) -> None:
    """Let the SM take the answers that there are, as if each access had been served now."""
    sm.ahead.until = questions.first_felt(sm)
    while sm.ahead.settled < sm.ahead.answered:
        question = questions.numbered(sm, sm.ahead.settled)
        sm.ahead.settled += 1
        instruction = sm.program[question.pc]
        ready = question.gone
        if question.lines:
            late_lines.take(sm, memory, question)
        else:
            ready = load_store.done_at(instruction, question, question.gone, question.now)
        if question.lines and question.waits:
            returns.wait(sm, question, instruction, ready)
            sm.agenda[sm.load_store_agent] = min(sm.agenda[sm.load_store_agent], returns.first(sm))
        elif question.results:
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
def give(sms: Records[Sm], chips: Records[Chip], memory: Memory, times: Numbers, asked: Numbers) -> None:
    """Answer the questions that belong before the next act of any SM; `asked` has when each SM asked its first one."""
    last, s = first(times), first(asked)
    while asked[s] < min(times[last], NEVER) or (asked[s] == times[last] < NEVER and s <= last):
        _answer(sms, s, chips, memory)
        asked[s] = next_question(sms[s])
        s = first(asked)


@rule
def _answer(sms: Records[Sm], s: int, chips: Records[Chip], memory: Memory) -> None:
    """Answer the first question of SM s that has no answer."""
    sm = sms[s]
    question = questions.numbered(sm, sm.ahead.answered)
    chip.lend_channels(sms, s, chips)
    if question.lines:
        question.gone = _bring(sm, memory, question)
    else:
        instruction = sm.program[question.pc]
        fetches = instruction.action == FETCH
        cost = sm.machine.fetch_cost if fetches else global_memory.each_cost(sm.machine, instruction)
        question.gone = global_memory.commit_each(sm, question, cost, question.now)
    chip.take_back_channels(sms, s, chips)
    sm.ahead.answered += 1


@rarely
def _bring(sm: Sm, memory: Memory, question: Question) -> int:
    """Ask the L2 for the lines of an access; return when all are there."""
    words, instruction, gone = tags.words(sm, memory), sm.program[question.pc], question.known
    account.begin(sm, instruction)
    l2_share.ask(sm, instruction, sm.warps[question.warp].block)
    sm.load_store.later = question.later
    for number in range(question.first, question.first + question.lines):
        late = late_lines.numbered(sm, number)
        came = cache.far_load(sm, words, 0, late.latency, late.line, late.units, late.start) if late.units else 0
        gone = max(gone, late_lines.answer(sm, number, came))
    l2_share.end(sm)
    return int(gone)


@rule
def next_question(sm: Sm) -> int:
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
