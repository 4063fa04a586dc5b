"""The ways of a warp whose lanes have diverged, in a scan of every cycle: forks, one inside the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from interpreter.frame import group_of

from isa.dataflow.flow import successors
from isa.operands.operand import PT
from isa.program import Program
from scan.state import Warp


@dataclass(eq=False)
class Fork:
    """A branch at which lanes diverged: where they meet, all its lanes, and the ways that some have still to go."""

    reconvergence: int
    lanes: Any
    ways: list[tuple[int, Any]] = field(default_factory=list)


def move(program: Program, warp: Warp, pc: int, active: Any, target: int | None) -> None:
    """The instruction at pc was executed; its active lanes go to `target` (None: they exit), the others to pc + 1."""
    live = warp.frame.live[warp.index].copy()
    taken, rest = live & active, live & ~active
    warp.pc = pc + 1
    if target is None:
        live = rest
        for fork in warp.forks:
            fork.lanes = fork.lanes & ~taken
            fork.ways = [(at, lanes & ~taken) for at, lanes in fork.ways]
    elif taken.any() and (not rest.any() or program.instructions[pc].row.mnemonic != "BRA"):
        warp.pc = target
    elif taken.any():
        live = rest
        reconvergence = reconvergence_of(program, pc)
        if not warp.forks or warp.forks[-1].reconvergence != reconvergence:
            warp.forks.append(Fork(reconvergence, taken | rest))
        warp.forks[-1].ways.append((target, taken))
    _settle(warp, live)


def _settle(warp: Warp, live: Any) -> None:
    """Go on with the next way of the innermost fork, or past it, while no lane is live or the lanes have met there."""
    while warp.forks and (not live.any() or warp.pc == warp.forks[-1].reconvergence):
        fork = warp.forks[-1]
        warp.pc, live = fork.ways.pop() if fork.ways else (fork.reconvergence, fork.lanes)
        if live is fork.lanes:
            warp.forks.pop()
    warp.exited = not live.any()
    if not np.array_equal(live, warp.frame.live[warp.index]):
        warp.frame.live[warp.index] = live
        warp.group = group_of(warp.frame, (warp.index,))


def reconvergence_of(program: Program, pc: int) -> int:
    """Where lanes of a branch meet: after the BSYNC for which they gather, or at the first pc that no way avoids."""
    gathering = _gathering(program, pc)
    if gathering:
        return gathering[-1]
    way = _way(program, pc, avoiding=None)
    assert way is not None
    return next(at for at in way if at == len(program) or _way(program, pc, avoiding=at) is None)


def _gathering(program: Program, pc: int) -> list[int]:
    """The labels of the BSSYs on a way from the beginning to pc whose BSYNC has not come, the innermost last."""
    ways, seen = [[0]], {0}
    while ways[0][-1] != pc:
        way = ways.pop(0)
        new = set(successors(program)[way[-1]]) - seen
        ways += [[*way, after] for after in new]
        seen |= new
    labels: list[int] = []
    for at in ways[0][:-1]:
        instruction = program.instructions[at]
        if instruction.row.mnemonic == "BSSY":
            labels.append(program.labels[instruction.operands[1].name])
        elif instruction.row.mnemonic == "BSYNC":
            labels.pop()
    return labels


def _way(program: Program, pc: int, avoiding: int | None) -> list[int] | None:
    """A shortest way from after pc to the end that avoids an instruction, if any."""
    waiting, seen = [[pc]], {pc, avoiding}
    for way in waiting:
        if way[-1] == len(program):
            return way[1:]
        for after in _after(program, way[-1]):
            if after not in seen:
                seen.add(after)
                waiting.append([*way, after])
    return None


def _after(program: Program, pc: int) -> list[int]:
    """The places that may follow pc, the end included; if only some lanes exit, those of the others."""
    instruction, end = program.instructions[pc], len(program)
    falls = pc + 1 == end and (not instruction.row.is_branch or instruction.guard != PT)
    return [*successors(program)[pc], *([end] if falls or not successors(program)[pc] else [])]
