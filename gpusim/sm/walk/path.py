"""The path of a block without time: each warp by itself, and only instructions that decide where it goes."""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.lanes import next_path
from gpusim.sm.lanes.values import values
from gpusim.sm.records import Memory, Numbers, Sm
from gpusim.sm.unit.opcodes import BRANCH, EXIT


@rule
def walk(sm: Sm, memory: Memory, runs: Numbers, length: int, limit: int) -> int:
    """Walk through the open block of the first slot, and count what its warps execute; return how much it is.

    It is more than `limit`, and not all, for a block that takes more; `sm.fault` tells of one that can't go on.
    `runs` is room for two more than the instructions: the runs that begin at a pc less those that end before it.
    """
    runs[:] = 0
    visited = 0
    for g in range(sm.launch.warps):
        if visited <= limit and sm.fault.code == 0:
            visited += _of_warp(sm, memory, g, runs, limit - visited)
    return visited if visited > limit else _spread(sm, runs, length)


@rarely
def _of_warp(sm: Sm, memory: Memory, g: int, runs: Numbers, limit: int) -> int:
    """Walk through a warp; return how many instructions it looked at, at most one more than the limit."""
    warp, visited, onward, running = sm.warps[g], 0, 0, True
    while running and visited <= limit:
        pc = sm.program[onward].visit
        runs[onward] += 1
        runs[pc] -= 1
        warp.pc = pc
        instruction = sm.program[pc]
        if not values.execute(sm, memory, g):
            return visited
        visited += 1
        instruction.issued += 1
        running = instruction.action != EXIT or sm.outcome.threads == 0
        onward = pc + 1
        if instruction.action == BRANCH and sm.outcome.threads > 0:
            onward = instruction.target
        if sm.diverges:
            warp.pc = onward
            next_path.follow(sm, g, instruction, pc)
            onward, running = warp.pc, warp.threads > 0 and sm.fault.code == 0
    return visited


@rule
def _spread(sm: Sm, runs: Numbers, length: int) -> int:
    """Count the instructions of runs, too; return how many warp instructions there were."""
    total, open_runs = 0, 0
    for pc in range(length):
        open_runs += runs[pc]
        sm.program[pc].issued += open_runs
        total += sm.program[pc].issued
    return total
