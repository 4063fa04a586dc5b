"""The SIMT stack: the paths of a warp whose lanes have diverged. One path runs, the others wait on the stack.

The path that runs is the warp's pc, lanes and reconvergence point. At a branch that only some lanes take, the other
lanes run first, then those that take it, each up to the reconvergence point (`isa.dataflow.lanes.divergence`); then all
run together. That the other lanes run first is a guess.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import count_bits, rule
from gpusim.sm.records import Numbers, Row, Sm
from gpusim.sm.unit.capacities import GROUPS, LANES
from gpusim.sm.unit.opcodes import BRANCH, EXIT


@rule
def begin(sm: Sm, g: int) -> None:
    """All lanes of warp slot g that are threads of its block run together, to the end of the program."""
    warp, size = sm.warps[g], sm.machine.groups * LANES
    warp.threads = min(size, sm.launch.threads - size * warp.index)
    warp.reconvergence, warp.depth = -1, 0
    for half in range(GROUPS):
        warp.lanes[half] = (1 << max(0, min(LANES, warp.threads - LANES * half))) - 1


@on_demand
def follow(sm: Sm, g: int, instruction: Row, pc: int) -> None:
    """Choose the path to run next: the instruction at pc is done, and the warp's pc is where its active lanes go.

    No threads are left if the warp has exited.
    """
    warp, outcome = sm.warps[g], sm.outcome
    if instruction.action == EXIT and outcome.threads:
        _exit(sm, g, outcome.active)
    elif instruction.action == BRANCH and 0 != outcome.threads != warp.threads:
        _diverge(sm, g, instruction, outcome.active, pc)
    elif warp.pc != warp.reconvergence:
        return
    warp.threads = _count(warp.lanes)
    while warp.depth and (warp.threads == 0 or warp.pc == warp.reconvergence):
        warp.depth -= 1
        entry = sm.simt_stack[g, warp.depth]
        warp.pc, warp.reconvergence = entry.pc, entry.reconvergence
        _copy(warp.lanes, entry.lanes)
        warp.threads = _count(warp.lanes)


@rule
def _diverge(sm: Sm, g: int, instruction: Row, active: Numbers, pc: int) -> None:
    warp = sm.warps[g]
    if instruction.reconvergence != warp.reconvergence:
        _wait(sm, g, instruction.reconvergence, warp.lanes, warp.reconvergence)
    _wait(sm, g, instruction.target, active, instruction.reconvergence)
    warp.pc, warp.reconvergence = pc + 1, instruction.reconvergence
    _remove(warp.lanes, active)


@rule
def _wait(sm: Sm, g: int, pc: int, lanes: Numbers, reconvergence: int) -> None:
    entry = sm.simt_stack[g, sm.warps[g].depth]
    entry.pc, entry.reconvergence = pc, reconvergence
    _copy(entry.lanes, lanes)
    sm.warps[g].depth += 1


@rule
def _exit(sm: Sm, g: int, active: Numbers) -> None:
    warp = sm.warps[g]
    _remove(warp.lanes, active)
    for i in range(warp.depth):
        _remove(sm.simt_stack[g, i].lanes, active)


@rule
def _copy(to: Numbers, lanes: Numbers) -> None:
    for half in range(GROUPS):
        to[half] = lanes[half]


@rule
def _remove(lanes: Numbers, gone: Numbers) -> None:
    for half in range(GROUPS):
        lanes[half] &= ~gone[half]


@rule
def _count(lanes: Numbers) -> int:
    threads = 0
    for half in range(GROUPS):
        threads += count_bits(lanes[half])
    return threads
