"""One block of a walk: it runs to its end, fails, or waits for others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gpusim.engines.walks.told_faults import deadlock_of, fault_of
from gpusim.engines.walks.waits import told_waits, waiting
from gpusim.engines.walks.waits.waiting import Outcome
from gpusim.launch.in_turn import InTurnError
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry
from gpusim.sm.records import Memory, Numbers, Records, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.walk import access_log, program_order
from gpusim.sm.walk.access_log import Log
from isa.executing import faults
from isa.kernel import Kernel

if TYPE_CHECKING:
    from gpusim.engines.walks.program_order import Tell, Walker

STEPS = 1 << 20  # warp instructions between two looks at Ctrl-C


@entry
def begin(sms: Records[Sm], memory: Memory, away: Numbers, number: int) -> None:
    """Let a block of the grid begin in the first SM."""
    program_order.begin(sms[0], borrow(memory), borrow(away), number)


@entry
def run(sms: Records[Sm], memory: Memory, away: Numbers, group: Numbers, log: Log, steps: int) -> int:
    """Run the first SM's block for at least so many warp instructions or to its end; return how many it was."""
    rows = access_log.borrowed(log)
    return program_order.proceed(sms[0], borrow(memory), borrow(away), borrow(group), rows, steps)


def alone(one: Walker, block: int, log: Log, limit: int, tell: Tell) -> None:
    """Run a block to its end, and tell of what is in the log now and then. Raises as `walk` does, for one block."""
    asked = started(one, log, limit, tell, block, waited=False).asked
    if asked:
        raise told_waits.alone(one.kernel, block, asked)


def started(one: Walker, log: Log, limit: int, tell: Tell, block: int, waited: bool) -> Outcome:
    """Run a block to its end, or until it waits, as others have `waited`. Raises as `walk` does."""
    held = one.launch
    held.sm.launch.index = block % one.kernel.sms if one.kernel.sms else 0
    begin(held.sms, held.memory, one.away[0], block)
    log.members[:] = log.phases[:] = 0
    advance = _advance(one, log)
    early = 0 if waited else min(limit, waiting.EARLY * one.kernel.warps)
    if waited or not to_end(advance, log, early, tell):
        if early < limit and waiting.may_wait(one.kernel):
            return gone_on(one, log, limit, tell, block, early)
        if early == limit or not to_end(advance, log, limit - early - 1, tell):
            raise faults.endless(one.kernel, block, limit, next_instruction(held.sm, one.kernel))
    _check(one)
    return Outcome(early, None)


def gone_on(one: Walker, log: Log, limit: int, tell: Tell, block: int, done: int) -> Outcome:
    """Run a block that may wait on, after so many warp instructions, as `started` does."""
    found = waiting.watch(one, log, _advance(one, log), limit - done, tell)
    if done + found.done > limit:
        raise faults.endless(one.kernel, block, limit, next_instruction(one.launch.sm, one.kernel))
    if not found.asked:
        _check(one)
    return found._replace(done=done + found.done)


def _advance(one: Walker, log: Log) -> Callable[[int], int]:
    """Return what runs the block for at least so many warp instructions, and returns how many it was."""
    held = one.launch
    return uninterrupted(partial(run, held.sms, held.memory, one.away[0], one.group, log))


def _check(one: Walker) -> None:
    """Raise the error of a block that does not run on, if it has not ended."""
    held, sm = one.launch, one.launch.sm
    if sm.fault.code == Fault.CONTESTED:
        raise InTurnError
    if sm.fault.code:
        raise fault_of(one.kernel, held)
    if sm.blocks[0].live:
        raise deadlock_of(one.kernel, held)


def to_end(advance: Callable[[int], int], log: Log, limit: int, tell: Tell) -> bool:
    """Run to the end, and tell of what is in the log now and then; False: it takes more than `limit` instructions."""
    done, goes_on = 0, True
    while goes_on and done <= limit:
        asked = min(STEPS, limit + 1 - done)
        executed = advance(asked)
        done += executed
        goes_on = executed >= asked or bool(access_log.is_full(log))
        waiting.told(log, tell)
    return done <= limit


def next_instruction(sm: Sm, kernel: Kernel) -> int:
    """Return the instruction that comes next: the smallest pc of the block's warps."""
    pcs = sm.warps["pc"][: kernel.warps][sm.warps["live"][: kernel.warps] != 0]
    return min(int(pcs.min(initial=len(kernel.program) - 1)), len(kernel.program) - 1)
