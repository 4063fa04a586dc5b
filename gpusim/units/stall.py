"""Stall reasons: why a warp does not issue. The order of the enum is the order of stall reasons.

A cycle of a warp belongs to the first reason of this order that holds. Names are those of NVIDIA's profiler where it
has one for the reason. A reason that never holds has no cycles, and no reason is computed as a remainder.
"""

from __future__ import annotations

from enum import IntEnum


class Stall(IntEnum):
    """The reasons, in order: a warp's own, those shared by its unit class, and what is no stall of a live warp."""

    LAUNCH_DELAY = 0
    BARRIER = 1
    BRANCH_RESOLVING = 2
    NO_INSTRUCTION = 3
    IMC_MISS = 4
    ISSUE_INTERVAL = 5
    WAIT = 6
    SHORT_SCOREBOARD = 7
    LONG_SCOREBOARD = 8
    WAR_HAZARD = 9
    DRAIN = 10
    MIO_THROTTLE = 11
    INSTRUCTION_REPLAY = 12
    DISPATCH_STALL = 13
    MATH_PIPE_THROTTLE = 14
    TEX_THROTTLE = 15
    DP_ISSUE_CONFLICT = 16
    NOT_SELECTED = 17
    SELECTED = 18
    WARP_EXITED = 19
    NO_WARP = 20


MEANING = {
    Stall.LAUNCH_DELAY: "the block or warp has been placed but may not start yet",
    Stall.BARRIER: "waits at a barrier for other warps",
    Stall.BRANCH_RESOLVING: "waits for its branch to be resolved",
    Stall.NO_INSTRUCTION: "waits until its next instruction has been fetched",
    Stall.IMC_MISS: "waits until the constants among its operands are in the constant cache",
    Stall.ISSUE_INTERVAL: "has just issued; one warp may issue only every so many cycles",
    Stall.WAIT: "waits for the result of a fixed-latency instruction",
    Stall.SHORT_SCOREBOARD: "waits for a load from shared memory, or what shares its way",
    Stall.LONG_SCOREBOARD: "waits for a load from global, local or texture memory",
    Stall.WAR_HAZARD: "would overwrite a register that an earlier memory instruction has not read yet",
    Stall.DRAIN: "may not exit before its memory instructions are done",
    Stall.MIO_THROTTLE: "the load/store queue is full, or the warp has as many accesses under way as it may",
    Stall.INSTRUCTION_REPLAY: "its scheduler issues an earlier memory access again",
    Stall.DISPATCH_STALL: "its scheduler waits until a chosen warp has its operands, or its pipe",
    Stall.MATH_PIPE_THROTTLE: "its arithmetic pipe is busy",
    Stall.TEX_THROTTLE: "the texture pipe is busy",
    Stall.DP_ISSUE_CONFLICT: "a double-precision instruction holds the other scheduler's issue slot",
    Stall.NOT_SELECTED: "eligible, but the scheduler chose another warp",
    Stall.SELECTED: "issues",
    Stall.WARP_EXITED: "has exited while its block still runs",
    Stall.NO_WARP: "no block in this warp slot",
}

LETTER = dict(zip(Stall, "lbrfciwsgadmyoptxnI._", strict=True))  # of each in a timeline, capital where it is no wait

# Reasons for which the warp's own previous instruction is the blocker.
PREVIOUS = Stall.BRANCH_RESOLVING, Stall.NO_INSTRUCTION, Stall.IMC_MISS, Stall.ISSUE_INTERVAL
OWN = 12  # reasons 0 to 11 are times stored with the warp (the last one after a refusal by the load/store queue)
SHARED = 5  # why a ready warp's unit class is refused, kept as running sums:
# an access issues again, operands are late, its pipe or queue is busy, double precision issues, or another warp does
REPLAY, DISPATCH, BUSY, EXCLUSIVE, UNCHOSEN = range(SHARED)
REASONS = len(Stall)


def label(reason: int) -> str:
    """The reason's name as reports print it."""
    return Stall(reason).name.lower()
