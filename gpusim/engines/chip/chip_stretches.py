"""The compiled engine for all SMs of a chip: each acts alone up to its next act that others may feel, then in turn.

The result is that of gpusim/engines/chip/chip.py. An SM's record stays in the host's caches for a whole stretch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gpusim.engines.compiled import BLOCKS, NOTHING, REQUESTS, SCALARS, advance
from gpusim.launch.in_turn import InTurnError
from gpusim.launch.launch import ChipLaunch
from gpusim.sm.chip.chip import answers, chip
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry
from gpusim.sm.records import Chip, Memory, Numbers, Records, Sm


@entry
def run(sms: Records[Sm], chips: Records[Chip], times: Numbers, memory: Memory, scalars: bool, until: int) -> int:
    """Advance all SMs to the first time at or after `until` (NEVER: nothing left) and return it.

    `times` holds each SM's next time; `scalars`: there are scalar loads, which ask a cache when they issue. Stops early
    at a fault; another SM may have an earlier one that has not come up yet.
    """
    sms, chips, times, memory = borrow(sms), borrow(chips), borrow(times), borrow(memory)
    stops = BLOCKS | REQUESTS | (SCALARS if scalars else NOTHING)
    for s in range(times.size):
        times[s] = advance(sms[s], memory, until, stops)
    s = answers.first(times)
    while times[s] < until and sms[s].fault.code == 0:
        now = times[s]
        chip.lend(sms, s, chips, now)
        advance(sms[s], memory, now + 1, NOTHING)
        chip.take_back(sms, s, chips, now)
        times[s] = advance(sms[s], memory, until, stops)
        s = answers.first(times)
    return int(times[s])


def start(prepared: ChipLaunch, *, scalars: bool) -> Callable[[int], int]:
    """Return a function that advances all SMs to a cycle and returns the first time after it; raises InTurnError."""
    times, memory = np.zeros(len(prepared.each), np.int64), prepared.each[0].memory
    whole = uninterrupted(partial(run, prepared.sms, prepared.chips, times, memory, scalars))

    def advance(until: int) -> int:
        now = int(whole(until))
        if prepared.sms["fault"]["code"].any():
            raise InTurnError
        return now

    return advance
