"""Pipes as a scan of every cycle (`every_cycle.py`) sees them: when they are free, and what they compute."""

from __future__ import annotations

from typing import Any

from gpusim.sm.pipes.pipe.declaration import initiation_interval
from gpusim.sm.unit.stall import Stall
from isa.dataflow import flow
from isa.row import Unit
from scan.codes import hold
from scan.memory import queued
from scan.registers import intervals, late, reading
from scan.state import Access, Scan, Warp


def pipes_of(sm: Scan, k: int, kind: str) -> list[tuple[str, int]]:
    """The pipes that scheduler k's instructions of this kind may take."""
    costs = {Unit.TEXTURE.value: sm.machine.texture, **sm.machine.unit}
    names = costs[kind].pipe.split() if kind in costs and not queued(sm, kind) else []
    return named(sm, k, " ".join(names))


def named(sm: Scan, k: int, names: str) -> list[tuple[str, int]]:
    """The instances of these pipes that scheduler k uses."""
    return [(name, k // sm.machine.pipe[name].schedulers) for name in names.split()]


def takes(sm: Scan, k: int, kind: str, now: int) -> bool:
    """Whether one of the pipes, and any joint one, takes an instruction of this kind, or it needs none."""
    pipes, joint = pipes_of(sm, k, kind), named(sm, k, sm.machine.joint.get(kind, ""))
    free = [sm.pipes.get(pipe, 0) <= now for pipe in pipes]
    return not pipes or (any(free) and all(sm.pipes.get(pipe, 0) <= now for pipe in joint))


def compute(sm: Scan, k: int, warp: Warp, pc: int, active: Any, now: int, behind: int, there: int | None) -> None:
    """An instruction enters its pipe; its result comes at `there`, or after the latency of its unit class."""
    kind = sm.kernel.program.instructions[pc].row.unit
    pipe = next(pipe for pipe in pipes_of(sm, k, kind) if sm.pipes.get(pipe, 0) <= now)
    texture, instruction = kind == Unit.TEXTURE, sm.kernel.program.instructions[pc]
    own = sm.machine.matrix.get(instruction.row.matrix)
    usual = sm.machine.texture.latency if texture else (own or sm.machine.unit[kind]).latency
    latency = usual if there is None else there - now
    cycles = max(initiation_interval(sm.machine, pipe[0]) * intervals(sm, pc), reading(sm, behind))
    for taken in (pipe, *named(sm, k, sm.machine.joint.get(kind, ""))):
        sm.pipes[taken] = now + cycles
    for blocked in named(sm, k, sm.machine.blocked.get(kind, "")):
        sm.pipes[blocked] = max(sm.pipes.get(blocked, 0), now + 1 + cycles)
    latency += late(sm, behind)
    result = Access(warp, pc, 0, 0, 0, read=now, done=now + latency)
    hold(sm, warp, pc, result, active, Stall.LONG_SCOREBOARD if texture else Stall.SHORT_SCOREBOARD)
    if texture or kind == Unit.SMEM:
        warp.accesses.append(result)
    reason = {Unit.TEXTURE: Stall.LONG_SCOREBOARD, Unit.SMEM: Stall.SHORT_SCOREBOARD}.get(Unit(kind), Stall.WAIT)
    if not (kind == Unit.SMEM and sm.machine.wait_counters):
        warp.results |= dict.fromkeys(flow.writes(instruction), (now + latency, reason))
