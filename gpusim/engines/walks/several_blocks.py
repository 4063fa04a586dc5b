"""Many blocks in program order by one call of compiled code, where nobody looks at what each of them does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Walker, nothing
from gpusim.engines.walks.told_faults import deadlock_of, fault_of
from gpusim.engines.walks.waits import one_block, waiting
from gpusim.engines.walks.waits import resident as among_resident
from gpusim.engines.walks.waits.one_block import STEPS, next_instruction
from gpusim.engines.walks.waits.waiting import Outcome
from gpusim.launch.in_turn import InTurnError
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry
from gpusim.sm.records import Memory, Numbers, Records, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.walk import access_log, program_order
from gpusim.sm.walk.access_log import Log
from isa.executing import faults
from isa.executing.faults import LIMIT

NEXT, BEGUN, EXECUTED, MOST = range(4)  # of the blocks: which comes, whether it has begun, its instructions, its limit


@entry
def run_several(
    sms: Records[Sm], memory: Memory, away: Numbers, group: Numbers, log: Log, blocks: Numbers, at: Numbers, steps: int
) -> int:
    """Run blocks in the first SM, one after the other, for at least so many warp instructions; return how many it was.

    `at` says where they are, and is where they have come to: behind the last one, or at one that can't go on.
    """
    sm, words, logged = sms[0], borrow(memory), access_log.borrowed(log)
    waiting, members = borrow(away), borrow(group)
    done = 0
    while at[NEXT] < blocks.shape[0] and done < steps:
        if at[BEGUN] == 0:
            number = blocks[at[NEXT]]
            sm.launch.index = number % sm.launch.sms if sm.launch.sms else 0
            program_order.begin(sm, words, waiting, number)
            logged.members[:] = 0
            logged.phases[:] = 0
            at[BEGUN], at[EXECUTED] = 1, 0
        asked = min(steps - done, at[MOST] + 1 - at[EXECUTED])
        executed = program_order.proceed(sm, words, waiting, members, logged, asked)
        done += executed
        at[EXECUTED] += executed
        if sm.fault.code or at[EXECUTED] > at[MOST]:
            return done
        if executed < asked:
            if sm.blocks[0].live:
                return done
            at[BEGUN] = 0
            at[NEXT] += 1
    return done


def run_blocks(
    one: Walker, blocks: Sequence[int], stopped: Callable[[], bool] | None = None, resident: int | None = None
) -> bool:
    """Run blocks to their end, in this order; False: `stopped` told in between that nobody needs the rest.

    Raises as gpusim.engines.walks.program_order.walk does, and InTurnError where a block meets words of another thread,
    or waits for what one may store. `resident` blocks have room at once, where some wait for others.
    """
    held, sm = one.launch, one.launch.sm
    numbers, at = np.array(blocks, np.int64), np.array([0, 0, 0, min(LIMIT, waiting.EARLY * one.kernel.warps)])
    log = access_log.room(0, 0, None, 1)
    advance = uninterrupted(partial(run_several, held.sms, held.memory, one.away[0], one.group, log, numbers, at))
    while at[NEXT] < len(numbers):
        if stopped and stopped():
            return False
        executed = advance(STEPS)
        if sm.fault.code == Fault.CONTESTED:
            raise InTurnError
        if sm.fault.code:
            raise fault_of(one.kernel, held)
        if at[EXECUTED] > at[MOST]:
            if at[MOST] == LIMIT:
                raise faults.endless(one.kernel, int(numbers[at[NEXT]]), LIMIT, next_instruction(sm, one.kernel))
            if waiting.may_wait(one.kernel):
                return _as_they_wait(one, numbers, at, log, resident, stopped)
            at[MOST] = LIMIT
        elif executed < STEPS and at[NEXT] < len(numbers):
            raise deadlock_of(one.kernel, held)
    return True


def _as_they_wait(
    one: Walker,
    numbers: NDArray[np.int64],
    at: NDArray[np.int64],
    log: Log,
    many: int | None,
    stopped: Callable[[], bool] | None,
) -> bool:
    """Run the block that has begun, and those behind it, which may wait for others; otherwise as `run_blocks`."""
    begun, done = int(numbers[at[NEXT]]), int(at[EXECUTED])

    def first(block: int, waited: bool) -> Outcome:
        if stopped and stopped():
            raise InTurnError
        if block == begun:
            found = one_block.gone_on(one, log, LIMIT, nothing, block, done)
        else:
            found = one_block.started(one, log, LIMIT, nothing, block, waited)
        if stopped and found.asked:
            raise InTurnError
        return found

    then = partial(one_block.gone_on, one, log, LIMIT, nothing)
    among_resident.walk(one, numbers[at[NEXT] :].tolist(), first, then, log, many, LIMIT)
    return True
