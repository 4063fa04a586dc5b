"""The ways of a warp whose lanes have parted: one goes on, the others wait, the last to part on top of them.

The way that goes on is the warp's pc, lanes and meeting. At a branch that some lanes take, the others go first;
then those that do, up to where they meet (`isa.divergence`); then all. Which of the two goes first is a guess.
"""

from __future__ import annotations

from typing import Any

from gpusim.decode import BRANCH, EXIT
from gpusim.rule import rarely, rule
from gpusim.rules import values


@rule
def begin(warp: Any, lanes: int, threads: int) -> None:
    """All lanes go together, to the end of the program."""
    warp.lanes, warp.threads = lanes, threads
    warp.meeting, warp.depth = -1, 0


@rarely
def follow(sm: Any, g: int, instruction: Any, pc: int) -> None:
    """The instruction at pc is done, and the warp's pc is where its active lanes go: choose the way to go on with.

    No threads are left if the warp has exited.
    """
    warp, active = sm.warps[g], sm.outcome.active
    if instruction.action == EXIT and active:
        _exit(sm, g, active)
    elif instruction.action == BRANCH and 0 != active != warp.lanes:
        _part(sm, g, instruction, active, pc)
    elif warp.pc != warp.meeting:
        return
    while warp.depth and (warp.lanes == 0 or warp.pc == warp.meeting):
        warp.depth -= 1
        path = sm.paths[g, warp.depth]
        warp.pc, warp.lanes, warp.meeting = path.pc, path.lanes, path.meeting
    warp.threads = values.count(warp.lanes)


@rule
def _part(sm: Any, g: int, instruction: Any, active: int, pc: int) -> None:
    warp = sm.warps[g]
    if instruction.meeting != warp.meeting:
        _wait(sm, g, instruction.meeting, warp.lanes, warp.meeting)
    _wait(sm, g, instruction.target, active, instruction.meeting)
    warp.pc, warp.lanes, warp.meeting = pc + 1, warp.lanes & ~active, instruction.meeting


@rule
def _wait(sm: Any, g: int, pc: int, lanes: int, meeting: int) -> None:
    path = sm.paths[g, sm.warps[g].depth]
    path.pc, path.lanes, path.meeting = pc, lanes, meeting
    sm.warps[g].depth += 1


@rule
def _exit(sm: Any, g: int, active: int) -> None:
    warp = sm.warps[g]
    warp.lanes &= ~active
    for i in range(warp.depth):
        sm.paths[g, i].lanes &= ~active
