"""The compiled engine for all SMs of a chip on several threads: each SM runs ahead by its lookahead.

A round has two parts. First each SM takes the answers to its questions and runs ahead, until a missing answer may
matter to it, until it needs a block, or for a window of cycles; threads take SMs one by one. Then the last thread
answers the questions that come before the next act of any SM (sm/chip/chip/answers.py). The result is that of
gpusim/engines/chip/chip.py, whatever the threads do: conservative parallel simulation (Chandy and Misra, CACM 24(4),
1981).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np

from gpusim.engines.compiled import ANSWERS, ASKS, BLOCKS, NOTHING, advance, goes_on, last, next_time
from gpusim.launch.in_turn import InTurnError
from gpusim.launch.launch import ChipLaunch
from gpusim.sm.chip.chip import answers, chip
from gpusim.sm.jit import atomic
from gpusim.sm.jit.rule import COMPILED, borrow, entry, rarely, rule
from gpusim.sm.memory.cache.declaration import TAGS
from gpusim.sm.records import Chip, Memory, Numbers, Records, Sm
from gpusim.support.interruption import held_back

# A thread that waits looks so often at the round, some tens of microseconds (a pause takes 40 to 140 cycles), then naps
# between looks, some milliseconds in all: whoever the system has stopped gets its core. NAP is in microseconds.
SPINS, NAPS, NAP = 1000, 50, 20

# Places in the array that threads share, each in a line of the host's cache.
ROUND, ARRIVED, TAKEN, OVER, WORDS = 0, 8, 16, 24, 32
BEGIN, WAITS, ENDS = range(3)  # what a thread does next


@rule
def lookahead(sms: Records[Sm], s: int, chips: Records[Chip], memory: Memory, until: int) -> int:
    """Let SM s run ahead to `until` at most; return the first cycle in which it may act next."""
    sm = sms[s]
    chip.show_channels(sm, chips[0])
    answers.settle(sm, memory)
    now = advance(sm, memory, until, ANSWERS | BLOCKS)
    while now < last(sm, until) and goes_on(sm) and answers.may_place(sm, chips, now):
        sm.ahead.granted = 0
        advance(sm, memory, now + 1, ANSWERS)
        now = advance(sm, memory, until, ANSWERS | BLOCKS)
    return min(now, int(sm.ahead.until))


@rule
def lookahead_with_tags(sm: Sm, memory: Memory, until: int) -> int:
    """Do the same where SMs share the tags of an L2; whatever needs the L2 or a block at once stops the SM."""
    answers.settle(sm, memory)
    sm.ahead.postpones, stops = 1, ANSWERS | ASKS
    now = next_time(sm)
    if now == 0:
        now = advance(sm, memory, 1, stops)  # the first blocks are in their places
    if now > 0 and goes_on(sm):
        now = advance(sm, memory, until, stops | BLOCKS)
    sm.ahead.postpones, sm.ahead.stopped = 0, now < last(sm, until)
    return min(now, int(sm.ahead.until))


@rule
def meet(
    sms: Records[Sm], chips: Records[Chip], memory: Memory, times: Numbers, room: Numbers, end: int, until: int
) -> bool:
    """Do what SMs share, when all have run ahead to `end`; tell whether nothing is left to do before `until`."""
    for s in range(times.size):
        room[s] = answers.next_question(sms[s])
    answers.give(sms, chips, memory, times, room)
    tagged = sms[0].machine.hits == TAGS
    if tagged:
        _in_turn(sms, chips, memory, times, room, end)
    over = times[answers.first(times)] >= until
    for s in range(times.size):
        over = over and sms[s].ahead.settled == sms[s].ahead.asked
    for s in range(times.size):
        over = over or sms[s].fault.code != 0
    if not over and not tagged:
        answers.grant(sms, chips, times, room)
    return bool(over)


@rarely
def _in_turn(sms: Records[Sm], chips: Records[Chip], memory: Memory, times: Numbers, asked: Numbers, end: int) -> None:
    """Let SMs that are stopped act, as long as the next act of all is that of one of these."""
    s = answers.first(times)
    while times[s] < end and sms[s].ahead.stopped and goes_on(sms[s]):
        sm, now = sms[s], times[s]
        answers.settle(sm, memory)
        chip.lend(sms, s, chips, now)
        advance(sm, memory, now + 1, NOTHING)
        chip.take_back(sms, s, chips, now)
        sm.ahead.stopped = 0
        times[s] = next_time(sm)
        answers.give(sms, chips, memory, times, asked)
        s = answers.first(times)


@rarely
def _round_is_over(shared: Numbers, number: int) -> bool:
    """Wait for the other threads of a round; tell whether it is over, False: they take long."""
    for look in range(SPINS + NAPS):
        if atomic.load(shared, ROUND) != number:
            return True
        if look < SPINS:
            atomic.pause()
        else:
            atomic.nap(NAP)
    return False


@entry
def take_part(
    sms: Records[Sm],
    chips: Records[Chip],
    times: Numbers,
    room: Numbers,
    memory: Memory,
    shared: Numbers,
    own: Numbers,
    threads: int,
    until: int,
    window: int,
) -> int:
    """Take part in rounds as one of so many threads, until all is done up to `until` or an SM faults; return ENDS.

    Returns WAITS when others keep it waiting: the caller calls again. `times` holds each SM's next time, 0 at first,
    `room` as many numbers; `shared` is what threads share, `own` is this thread's: the round, and what it does next.
    """
    sms, chips, times, memory = borrow(sms), borrow(chips), borrow(times), borrow(memory)
    tagged = sms[0].machine.hits == TAGS
    while True:
        if own[1] == BEGIN:
            end = min(until, times[answers.first(times)] + window)
            s = atomic.add(shared, TAKEN, 1)
            while s < times.size:
                if tagged:
                    room[s] = lookahead_with_tags(sms[s], memory, end)
                else:
                    room[s] = lookahead(sms, s, chips, memory, end)
                s = atomic.add(shared, TAKEN, 1)
            own[1] = WAITS
            if atomic.add(shared, ARRIVED, 1) == threads - 1:
                for s in range(times.size):
                    times[s] = room[s]
                shared[OVER] = meet(sms, chips, memory, times, room, end, until)
                shared[ARRIVED] = shared[TAKEN] = 0
                atomic.add(shared, ROUND, 1)
        if not _round_is_over(shared, own[0]):
            return WAITS
        own[0], own[1] = own[0] + 1, BEGIN
        if shared[OVER]:
            return ENDS


def start(prepared: ChipLaunch, threads: int, window: int) -> Callable[[int], int]:
    """Return a function that advances all SMs to a cycle, on so many threads, and returns the first time after it.

    It raises InTurnError.
    """
    times, room = (np.zeros(len(prepared.each), np.int64) for _ in range(2))
    shared, own = np.zeros(WORDS, np.int64), np.zeros((threads, 8), np.int64)
    memory = prepared.each[0].memory

    failed = Event()  # a thread has an error, so others need not wait for it

    def take_turns(thread: int, until: int, of: int) -> None:
        given = prepared.sms, prepared.chips, times, room, memory, shared, own[thread], of, until, window
        try:
            while take_part(*given) == WAITS and not failed.is_set():
                pass
        except BaseException:
            failed.set()
            raise

    def together(until: int) -> None:
        with held_back(), ThreadPoolExecutor(threads) as pool:  # a thread that ended early would keep others waiting
            for done in [pool.submit(take_turns, thread, until, threads) for thread in range(threads)]:
                done.result()

    def advance(until: int) -> int:
        if COMPILED:
            together(until)
        else:
            take_turns(0, until, 1)  # which Ctrl-C may end
        if prepared.sms["fault"]["code"].any():
            raise InTurnError
        return int(times.min())

    take_turns(0, 0, 1)  # compiles the code, which Ctrl-C may end
    own[:] = shared[ROUND], BEGIN, *[0] * 6
    return advance
