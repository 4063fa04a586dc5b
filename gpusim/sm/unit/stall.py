"""Stall reasons: why a warp does not issue. The order of the enum is the order of stall reasons.

A cycle of a warp belongs to the first reason of this order that holds. Names are those of NVIDIA's profiler where it
has one for the reason. A reason that never holds has no cycles, and no reason is computed as a remainder.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto


class Blocker(Enum):
    """The instruction that a warp with a stall reason waits for (gpusim/simulation/timeline/blockers.py)."""

    NOTHING = auto()  # no instruction
    PREVIOUS = auto()  # the warp's own previous one
    RELEASE = auto()  # the one whose result, source read or return occurs at the release time
    LAST_TO_ARRIVE = auto()  # the barrier's last
    LAST_ACCESS = auto()  # the warp's memory access that is done last
    UNIT = auto()  # the one that occupies the pipe, or that is at the head of the queue
    REPLAYED = auto()  # the access that issues again
    SELECTED = auto()  # the one that the scheduler has selected, or that reads operands
    DOUBLE = auto()  # the one in double precision
    CHOSEN = auto()  # the one that issued instead


class Stall(IntEnum):
    """The reasons, in order: a warp's own, those shared by its unit class, and what is no stall of a live warp.

    A row says all of a reason: its letter in a timeline (capital where it is no wait), its colours on light and dark
    ground, after Okabe and Ito (2008), its blocker, and its meaning.
    """

    letter: str
    light: str
    dark: str
    blocker: Blocker
    meaning: str

    def __new__(cls, number: int, letter: str, light: str, dark: str, blocker: Blocker, meaning: str) -> Stall:
        """Make the reason of this number."""
        reason = int.__new__(cls, number)
        reason._value_ = number
        reason.letter, reason.light, reason.dark, reason.blocker, reason.meaning = letter, light, dark, blocker, meaning
        return reason

    # A table: two lines a reason.
    # fmt: off
    LAUNCH_DELAY = (0, "l", "#e6decd", "#4d4438", Blocker.NOTHING,
        "the block or warp has been placed but may not start yet")
    BARRIER = (1, "b", "#009c71", "#16b182", Blocker.LAST_TO_ARRIVE,
        "waits at a barrier for other warps")
    BRANCH_RESOLVING = (2, "r", "#73c7a2", "#7fd1b5", Blocker.PREVIOUS,
        "waits for its branch to be resolved")
    NO_INSTRUCTION = (3, "f", "#00584a", "#0b6b5b", Blocker.PREVIOUS,
        "waits until its next instruction has been fetched")
    IMC_MISS = (4, "c", "#a224fc", "#8f0ef6", Blocker.PREVIOUS,
        "waits until the constants among its operands are in the constant cache")
    ISSUE_INTERVAL = (5, "i", "#a1e2e3", "#a8c6de", Blocker.PREVIOUS,
        "has just issued; one warp may issue only every so many cycles")
    WAIT = (6, "w", "#e69f00", "#e69f00", Blocker.RELEASE,
        "waits for the result of a fixed-latency instruction")
    SHORT_SCOREBOARD = (7, "s", "#f2d94e", "#f0e06a", Blocker.RELEASE,
        "waits for a load from shared memory, or what shares its way")
    LONG_SCOREBOARD = (8, "g", "#d86205", "#d55e00", Blocker.RELEASE,
        "waits for global, local or texture memory, copies or tensor cores")
    WAR_HAZARD = (9, "a", "#8c5b16", "#8a5d1c", Blocker.RELEASE,
        "would overwrite a register that an earlier memory instruction has not read yet")
    DRAIN = (10, "d", "#c8ab7e", "#a0855c", Blocker.LAST_ACCESS,
        "may not exit before its memory instructions are done")
    MIO_THROTTLE = (11, "m", "#bc71a8", "#d98bb6", Blocker.UNIT,
        "the load/store queue is full, or the warp has as many accesses under way as it may")
    INSTRUCTION_REPLAY = (12, "y", "#93103f", "#b02657", Blocker.REPLAYED,
        "its scheduler issues an earlier memory access again")
    DISPATCH_STALL = (13, "o", "#c1adea", "#c0aae9", Blocker.SELECTED,
        "its scheduler waits until a chosen warp has its operands or pipe, or a result is written")
    MATH_PIPE_THROTTLE = (14, "p", "#8963d7", "#8468dc", Blocker.UNIT,
        "its arithmetic pipe is busy")
    TEX_THROTTLE = (15, "t", "#7d3c7a", "#96579f", Blocker.UNIT,
        "the texture pipe is busy")
    LG_THROTTLE = (16, "u", "#3e0a46", "#5c07b4", Blocker.UNIT,
        "the queue of accesses to global and local memory is full")
    DP_ISSUE_CONFLICT = (17, "x", "#3d2f86", "#5a48b4", Blocker.DOUBLE,
        "a double-precision instruction holds the other scheduler's issue slot")
    NOT_SELECTED = (18, "n", "#989ea0", "#777f82", Blocker.CHOSEN,
        "eligible, but the scheduler chose another warp")
    SELECTED = (19, "I", "#16191c", "#f4f6f8", Blocker.NOTHING,
        "issues")
    WARP_EXITED = (20, ".", "#e9ebee", "#262b30", Blocker.NOTHING,
        "has exited while its block still runs")
    NO_WARP = (21, "_", "#f3f4f6", "#1e2226", Blocker.NOTHING,
        "no block in this warp slot")
    # fmt: on


OWN = 12  # reasons 0 to 11 are times stored with the warp (the last one after a refusal by the load/store queue)
SHARED = 5  # why a ready warp's unit class is refused, kept as running sums:
# an access issues again, operands are late, its pipe or queue is busy, double precision issues, or another warp does
REPLAY, DISPATCH, BUSY, EXCLUSIVE, UNCHOSEN = range(SHARED)
BY_NUMBER = tuple(Stall)
REASONS = len(Stall)


def label(reason: int) -> str:
    """The reason's name as reports print it."""
    return BY_NUMBER[reason].name.lower()
