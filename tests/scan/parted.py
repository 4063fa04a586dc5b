"""The groups of a warp whose lanes are independent, in a scan of every cycle: by interpreter.lanes.independent."""

from __future__ import annotations

from typing import Any

import numpy as np
from interpreter.frame import group_of
from interpreter.lanes import convergence, independent

from isa.kernel import Kernel
from isa.program import Program
from scan.state import Warp


def steers(program: Program, pc: int) -> bool:
    """Whether the instruction at pc acts on the groups of a warp with independent lanes."""
    if not program.has_independent_lanes:
        return False
    row = program.instructions[pc].row if pc < len(program) else None
    return row is None or row.steers or row.is_branch or row.is_exit


def gives_way(program: Program, pc: int) -> bool:
    """Whether the instruction at pc lets others go first."""
    return pc < len(program) and program.instructions[pc].row.mnemonic in independent.GIVE_WAY


def move(kernel: Kernel, warp: Warp, active: Any) -> Any:
    """Let the warp's groups go on after its next instruction; return the lanes that have executed it."""
    if warp.groups is None:
        warp.groups = convergence.begin(_mask(warp.frame.live[warp.index]))
    groups, pc = warp.groups, warp.pc
    groups.pc, running = pc + 1, groups.lanes
    here = independent.Here(warp.frame, warp.index, groups, _mask(active))
    if pc == len(kernel.program):
        convergence.leave(groups, running)
        held = running
    else:
        held = independent.holds(kernel.program.instructions[pc], here)
        if held:
            independent.step(kernel, pc)(independent.Here(warp.frame, warp.index, groups, held))
    warp.pc, warp.exited = groups.pc, not groups.lanes
    if groups.lanes != running:
        warp.frame.live[warp.index] = independent.lanes_of(groups.lanes)
        warp.group = group_of(warp.frame, (warp.index,))
    return independent.lanes_of(held)


def _mask(lanes: Any) -> int:
    return int(independent.masks(np.asarray(lanes)[None])[0])
