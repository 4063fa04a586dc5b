"""The compiled engine for all SMs of a chip on several threads: each SM runs ahead by its lookahead.

A round has two parts. First each SM takes the answers to its questions and runs ahead, until a missing answer may
matter to it, until it needs a block, or for a window of cycles; threads take SMs one by one. Then the last thread
answers the questions that come before the next act of any SM (sm/chip/chip/answers.py). The result is that of
gpusim/engines/chip/chip.py, whatever the threads do: conservative parallel simulation (Chandy and Misra, CACM 24(4),
1981).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np

from gpusim.engines.compiled import ANSWERS, BLOCKS, advance, goes_on, last
from gpusim.launch.in_turn import InTurnError
from gpusim.launch.launch import ChipLaunch
from gpusim.sm.chip.chip import answers, chip
from gpusim.sm.jit import atomic
from gpusim.sm.jit.rule import COMPILED, borrow, entry, rule
from gpusim.sm.records import Chip, Memory, Numbers, Records, Sm
from gpusim.support.interruption import held_back

SPINS = 20000  # looks at the round before a thread lets others have its core: some tens of microseconds

# Places in the array that threads share, each in a line of the host's cache.
ROUND, ARRIVED, TAKEN, OVER, WORDS = 0, 8, 16, 24, 32
BEGIN, WAITS, ENDS = range(3)  # what a thread does next


@rule
def lookahead(sms: Records[Sm], s: int, chips: Records[Chip], memory: Memory, until: int) -> int:
    """Let SM s run ahead to `until` at most; return the first cycle in which it may act next."""
    sm = sms[s]
    chip.show_channels(sm, chips[0])
    answers.settle(sm)
    now = advance(sm, memory, until, ANSWERS | BLOCKS)
    while now < last(sm, until) and goes_on(sm) and answers.may_place(sm, chips, now):
        sm.ahead.granted = 0
        advance(sm, memory, now + 1, ANSWERS)
        now = advance(sm, memory, until, ANSWERS | BLOCKS)
    return min(now, int(sm.ahead.until))


@rule
def meet(sms: Records[Sm], chips: Records[Chip], times: Numbers, room: Numbers, until: int) -> bool:
    """Do what SMs share, when all have run ahead; tell whether nothing is left to do before `until`."""
    answers.give(sms, chips, times, room)
    over = times[answers.first(times)] >= until
    for s in range(times.size):
        over = over and sms[s].ahead.settled == sms[s].ahead.asked
    for s in range(times.size):
        over = over or sms[s].fault.code != 0
    if not over:
        answers.grant(sms, chips, times, room)
    return bool(over)


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
    while True:
        if own[1] == BEGIN:
            end = min(until, times[answers.first(times)] + window)
            s = atomic.add(shared, TAKEN, 1)
            while s < times.size:
                room[s] = lookahead(sms, s, chips, memory, end)
                s = atomic.add(shared, TAKEN, 1)
            own[1] = WAITS
            if atomic.add(shared, ARRIVED, 1) == threads - 1:
                for s in range(times.size):
                    times[s] = room[s]
                shared[OVER] = meet(sms, chips, times, room, until)
                shared[ARRIVED] = shared[TAKEN] = 0
                atomic.add(shared, ROUND, 1)
        spins = 0
        while atomic.load(shared, ROUND) == own[0]:
            spins += 1
            if spins == SPINS:
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
                time.sleep(0)
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
